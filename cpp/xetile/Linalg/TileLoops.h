//===- LoopNest.h - loops over tiles and slices of operands ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic that folds: static sizes that divide leave constants and no min.
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_LINALG_TILELOOPS_H
#define XETILE_LINALG_TILELOOPS_H

#include "mlir/IR/PatternMatch.h"

namespace xetile {

using Index = mlir::OpFoldResult;

Index addIndex(mlir::OpBuilder &builder, mlir::Location loc, Index a, Index b);
Index subIndex(mlir::OpBuilder &builder, mlir::Location loc, Index a, Index b);
Index minIndex(mlir::OpBuilder &builder, mlir::Location loc, Index a, Index b);
Index maxIndex(mlir::OpBuilder &builder, mlir::Location loc, Index a, Index b);
Index mulIndex(mlir::OpBuilder &builder, mlir::Location loc, Index a, int64_t factor);
Index floorDivIndex(mlir::OpBuilder &builder, mlir::Location loc, Index a, int64_t divisor);
Index ceilDivIndex(mlir::OpBuilder &builder, mlir::Location loc, Index a, int64_t divisor);
mlir::Value asValue(mlir::OpBuilder &builder, mlir::Location loc, Index index);

/// Body of a loop over tiles: offset and size of the tile, the carried value; returns the new one.
using TileBody = llvm::function_ref<mlir::Value(Index offset, Index size, mlir::Value carried)>;

/// `for (offset = 0; offset < extent; offset += step)` with a tile of min(step, extent - offset). A
/// loop that runs once is no loop.
mlir::Value forEachTile(mlir::OpBuilder &builder, mlir::Location loc, Index extent, int64_t step,
                        mlir::Value init, TileBody body);
/// The same with several carried values. `atLeastOnce` gives an empty extent one tile, of size 0.
using TilesBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(Index offset, Index size,
                                                                    mlir::ValueRange carried)>;
llvm::SmallVector<mlir::Value> forEachTile(mlir::OpBuilder &builder, mlir::Location loc,
                                           Index extent, int64_t step, mlir::ValueRange inits,
                                           TilesBody body, bool atLeastOnce = false);

/// The part of `source`, indexed by the dimensions in `map`, at `offsets` of `sizes` (per dimension
/// of the iteration space). Dimensions in `drop` have size 1 and are not part of the result's type.
mlir::Value extractTile(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source,
                        mlir::AffineMap map, llvm::ArrayRef<Index> offsets,
                        llvm::ArrayRef<Index> sizes, llvm::ArrayRef<unsigned> drop = {});
/// Puts `tile` back to where `extractTile` takes it from.
mlir::Value insertTile(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile,
                       mlir::Value destination, mlir::AffineMap map, llvm::ArrayRef<Index> offsets,
                       llvm::ArrayRef<Index> sizes);

} // namespace xetile

#endif // XETILE_LINALG_TILELOOPS_H
