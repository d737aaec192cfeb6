//===- LaneLayout.h - XeGPU's lane_layout and lane_data ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LAYOUT_LANELAYOUT_H
#define XETILE_LAYOUT_LANELAYOUT_H

#include "xetile/Layout/DpasLayout.h"

namespace xetile {

/// How XeGPU spreads a tile over the lanes of a subgroup: `lane_layout` arranges the lanes, each
/// takes pieces of `lane_data`, round-robin.
struct LaneLayout {
  std::array<unsigned, 2> laneLayout = {1, 1};
  std::array<unsigned, 2> laneData = {1, 1};

  friend bool operator==(const LaneLayout &left, const LaneLayout &right) {
    return left.laneLayout == right.laneLayout && left.laneData == right.laneData;
  }
  /// "lane_layout = [1, 16], lane_data = [2, 1]".
  std::string str() const;
};

/// The layout that XeGPU demands of an operand ("Rules of sg_map setting for load and store on PVC
/// and ARC" in the XeGPU RFC: subgroups of 16 and of 8 lanes).
Result<LaneLayout> xegpuLaneLayout(DpasOperand operand, unsigned elemBits, unsigned subgroupSize);

/// (register, lane) -> (dim0, dim1) by XeGPU's rule: a lane's piece first, then its pieces row by
/// row; lanes are counted row by row.
Result<LinearLayout> toLinearLayout(const LaneLayout &lanes, Shape2D shape);

/// The lane_layout and lane_data of a linear layout, if XeGPU can express it. `packed` elements
/// share one register of a lane (`dpasRegisterBits` over the element's bits): they are lane_data.
Result<LaneLayout> toLaneLayout(const LinearLayout &layout, unsigned packed);

} // namespace xetile

#endif // XETILE_LAYOUT_LANELAYOUT_H
