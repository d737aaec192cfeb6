//===- TileProbe.h - the cost of a way to take dimensions --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_TILEPROBE_H
#define XETILE_SCHEDULE_TILES_TILEPROBE_H

#include "xetile/Schedule/Tiles/TilePlan.h"
#include <set>

namespace xetile::transform_ops {

/// The cost of computing the results with a given assignment of roles to their dimensions.
struct Probe {
  /// The longest loop that is reduced along rows and along columns.
  std::array<int64_t, 2> reduced = {0, 0};
  /// Of all reductions: elements one by one, rows where columns were better.
  double cost = 0;
  /// All that is reduced is one length, along both roles.
  int64_t folded = 0;
  bool foldsAll = true, reduces = false;
  /// True if one op reduces along rows and columns.
  bool planes = false;
  /// Sums that the matrix unit makes, steps of other short reductions.
  bool multiplies = false, exact = false;
  int64_t windows = 1;
  /// True if rows of memory are not aligned for block loads; or may not be, as a run tells.
  bool misaligned = false, maybeMisaligned = false;
  /// True if rows of memory are columns of the tile.
  bool transposed = false;
  /// True if elements of rows of memory are read some steps apart.
  bool strided = false;
  /// True if some of these are in the middle of words of 32 bits.
  bool splitsWords = false;
  unsigned inputs = 0;
  /// Of these, one number a row, as statistics of rows are.
  unsigned numbersOfRows = 0;
  /// Bytes of the narrowest elements of memory that is folded.
  int64_t narrowest = 8;
  /// Bytes that all folded rows read.
  int64_t shared = 0;
  std::set<std::pair<void *, std::vector<unsigned>>> seen;
  TileSizes *sizes = nullptr;
};

/// The cost of computing `results` with the roles that `plan` gives to their dimensions.
Probe probeAll(llvm::ArrayRef<mlir::Value> results, TileSizes &sizes, const TilePlan &plan);

/// Of an element of a tensor, one at least.
int64_t bytesOf(mlir::Value tensor);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_TILEPROBE_H
