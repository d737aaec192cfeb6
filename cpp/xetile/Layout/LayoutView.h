//===- LayoutView.h - layouts as tables --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LAYOUT_LAYOUTVIEW_H
#define XETILE_LAYOUT_LAYOUTVIEW_H

#include "xetile/Layout/LinearLayout.h"

namespace xetile {

/// For each subgroup of a layout from register, lane and subgroup to two dimensions: "Warp0:", then
/// a row per register and a column per lane, each the place that it holds. Only `subgroup`, if
/// given.
Result<std::string> hardwareView(const LinearLayout &layout,
                                 std::optional<unsigned> subgroup = std::nullopt);

/// A row per row of the tensor: for each element who holds it, "S0:L3:R7", subgroups that share it
/// as a range "S0-3:L3:R7" or by '|'.
Result<std::string> tensorView(const LinearLayout &layout);

} // namespace xetile

#endif // XETILE_LAYOUT_LAYOUTVIEW_H
