//===- TilePlan.h - which tiles a workgroup computes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_TILEPLAN_H
#define XETILE_SCHEDULE_TILES_TILEPLAN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Schedule/Tiles/Place.h"

namespace xetile::transform_ops {

/// What a dimension of the results is in the tile of a workgroup.
enum class DimUse { Number, Rows, Columns, Folded, Scanned };

struct TilePlan {
  /// Rows and columns that a workgroup computes at a time, and its grid of subgroups.
  std::array<int64_t, 2> tile = {1, 1}, layout = {1, 1};
  /// For each dimension of the results.
  llvm::SmallVector<DimUse> dims;
  /// Whether a workgroup computes all of the rows (columns), since reductions read all of them.
  std::array<bool, 2> whole = {false, false};
  /// Whether rows of memory may be folded into tiles of rows and columns.
  bool folds = false;
  /// Whether products are the matrix unit's, and what is reduced besides is a block of columns.
  bool blocks = false;
  /// Whether powers need no more digits than the narrow floats that products read.
  bool narrow = false;
};

/// How a reduced loop is computed.
enum class ReducedAs { Loop, Rows, Columns, Folded };

/// How each of the loops `reduced` is computed where rows and columns are in use or not.
llvm::SmallVector<ReducedAs> planReduction(mlir::linalg::LinalgOp op,
                                           llvm::ArrayRef<unsigned> reduced,
                                           std::array<bool, 2> used, const TilePlan &plan);

/// The tile for computing `results`, tensors of one shape. Sides that `tile` and `layout` give
/// stay.
TilePlan planTiles(llvm::ArrayRef<mlir::Value> results, std::array<int64_t, 2> tile,
                   std::array<int64_t, 2> layout);

/// The tile for computing `results`, which are computed element by element of the rows and columns
/// of a product; none where they are not. Sides that `tile` and `layout` give stay.
std::optional<TilePlan> planProducts(llvm::ArrayRef<mlir::Value> results,
                                     std::array<int64_t, 2> tile, std::array<int64_t, 2> layout);

/// The tile for computing results of `shape`, whose dimension `scanned` a workgroup walks over.
/// Sides that `tile` and `layout` give stay.
TilePlan planScan(llvm::ArrayRef<int64_t> shape, unsigned scanned, std::array<int64_t, 2> tile,
                  std::array<int64_t, 2> layout);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_TILEPLAN_H
