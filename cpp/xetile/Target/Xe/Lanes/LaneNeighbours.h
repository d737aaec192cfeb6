//===- LaneNeighbours.h - elements that lie side by side ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANENEIGHBOURS_H
#define XETILE_TARGET_XE_LANES_LANENEIGHBOURS_H

#include "xetile/Target/Xe/Lanes/LaneContext.h"

namespace xetile {

/// Lowers a load, and those behind it that read its elements' neighbours, to loads of several
/// elements; false where there is nothing to gain, and nothing was done.
bool loadNeighbours(mlir::xegpu::LoadGatherOp op, LaneContext &lanes);

/// Lowers a store to stores of several elements; false as above.
bool storeNeighbours(mlir::xegpu::StoreScatterOp op, LaneContext &lanes);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANENEIGHBOURS_H
