//===- SlmRings.h - rings of buffers in shared local memory --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_SLMRINGS_H
#define XETILE_SCHEDULE_SLMRINGS_H

#include "xetile/Facts/Result.h"
#include <cstdint>

namespace xetile {

/// One buffer is read while the next one is filled.
constexpr int64_t kFewestRingBuffers = 2, kMostRingBuffers = 8;

/// Why a ring cannot have so many buffers; 0 are none.
inline Problem checkRingBuffers(int64_t buffers) {
  if (buffers == 0 || (buffers >= kFewestRingBuffers && buffers <= kMostRingBuffers))
    return {};
  int64_t nearest = buffers < kFewestRingBuffers ? kFewestRingBuffers : kMostRingBuffers;
  return ("expected 0 to stage nothing, or " + llvm::Twine(kFewestRingBuffers) + " to " +
          llvm::Twine(kMostRingBuffers) +
          ", one of which is read while the next one is filled: the nearest is " +
          llvm::Twine(nearest))
      .str();
}

/// True if subgroups in `rows` x `columns` copy a grid of blocks in pieces of one size.
inline bool sharesBlocks(int64_t gridRows, int64_t gridColumns, int64_t rows, int64_t columns) {
  return (gridRows % rows == 0 || rows % gridRows == 0) &&
         (gridColumns % columns == 0 || columns % gridColumns == 0);
}

/// True if `subgroups` can in some arrangement.
inline bool canShareBlocks(int64_t gridRows, int64_t gridColumns, int64_t subgroups) {
  for (int64_t rows = 1; rows <= subgroups; ++rows)
    if (subgroups % rows == 0 && sharesBlocks(gridRows, gridColumns, rows, subgroups / rows))
      return true;
  return false;
}

} // namespace xetile

#endif // XETILE_SCHEDULE_SLMRINGS_H
