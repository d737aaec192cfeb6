//===- MessageModel.h - what 2D block messages do ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of a message, element by element and in integer arithmetic: nothing here comes from
// the planner or from linear layouts, so that plans can be proven against it.
//
// Source: the OpenCL extension cl_intel_subgroup_2d_block_io and SPV_INTEL_2d_block_io, "Mapping
// Block Data to Invocations", for subgroups of 16:
// - 16 columns: lane l holds column l, one value per row.
// - fewer, C columns: 16 / C rows at once; lane l holds column l % C of row l / C, then of row
//   l / C + 16 / C, and so on.
// - more, 16 G columns: lane l holds the neighbours l G to l G + G - 1 of each row.
// - several blocks lie side by side in memory and one after the other in a lane's array.
// - transform: 32 / bits rows of a column make one value, the first row in its lowest bits.
// - transpose: the value of row r and column c is number c * height + r; lane = number % 16. With
// 32
//   rows a lane holds rows l and l + 16 by turns.
// - what lies outside the surface reads 0 and is not written.
#ifndef XETILE_LAYOUT_MESSAGEMODEL_H
#define XETILE_LAYOUT_MESSAGEMODEL_H

#include "xetile/Facts/Result.h"
#include "xetile/Layout/BlockMessage.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace xetile {

/// Lanes of a subgroup that 2D block messages work with.
constexpr unsigned modelLanes = 16;

/// Reads the surface at memory row y and element x, in bounds only; elements are the operand's, not
/// the message's.
using ReadCell = llvm::function_ref<uint32_t(int64_t y, int64_t x)>;
using WriteCell = llvm::function_ref<void(int64_t y, int64_t x, uint32_t value)>;

/// A surface in elements of `elemBits` bits.
struct ModelSurface {
  unsigned elemBits;
  int64_t height, width;
};

/// Elements that each lane holds after (before) the message: its array, cut into elements of the
/// surface, lowest bits first. The message's top left is at memory row y and element x.
struct LaneArrays {
  unsigned perLane = 0;
  std::vector<uint32_t> values; // values[lane * perLane + register]

  uint32_t at(unsigned lane, unsigned reg) const { return values[lane * perLane + reg]; }
  uint32_t &at(unsigned lane, unsigned reg) { return values[lane * perLane + reg]; }
};

/// Refused: what the model does not define (blocks that do not fill all lanes, elements smaller
/// than the surface's). Whether a device takes the message is TargetInfo's business.
Result<LaneArrays> modelLoad(const BlockShape &message, const ModelSurface &surface, int64_t y,
                             int64_t x, ReadCell read);
std::optional<Error> modelStore(const BlockShape &message, const ModelSurface &surface, int64_t y,
                                int64_t x, const LaneArrays &arrays, WriteCell write);

} // namespace xetile

#endif // XETILE_LAYOUT_MESSAGEMODEL_H
