//===- TilePlan.h - which tiles a workgroup computes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_TILEPLAN_H
#define XETILE_SCHEDULE_TILES_TILEPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Schedule/Tiles/Place.h"

namespace xetile {
struct Target;
}

namespace xetile::transform_ops {

class TileSizes;

/// The use of a result dimension in a workgroup's tile.
enum class DimUse { Number, Rows, Columns, Folded, Scanned };

struct TilePlan {
  /// Rows and columns that a workgroup computes at a time, and its grid of subgroups.
  std::array<int64_t, 2> tile = {1, 1}, layout = {1, 1};
  /// For each dimension of the results.
  llvm::SmallVector<DimUse> dims;
  /// True if a workgroup computes all rows (columns), since reductions read all of them.
  std::array<bool, 2> whole = {false, false};
  /// True if rows of memory may be folded into tiles of rows and columns.
  bool folds = false;
  /// True if the matrix unit multiplies and other reduction dimensions are blocks of columns.
  bool blocks = false;
  /// The narrow floats that products read, which are all the digits that powers need; null for
  /// others.
  mlir::Type narrow;
  /// True if the last tiles along a dimension end where it does rather than hang over its end:
  /// elements of two tiles are computed twice.
  bool movesInside = false;
  /// True if results are stored element by element: lanes have neighbours of a row, as those have
  /// that read elements some steps apart.
  bool scatters = false;
  /// True if results of 16 bits are, too, as pairs of neighbours.
  bool scattersPairs = false;
  /// How many folded rows a workgroup computes one after the other, along the last dimension that
  /// is none of the tile's: what all rows read stays in registers.
  int64_t rowsInTurn = 1;
  /// How many tiles beside each other a workgroup computes one after the other: what its rows read
  /// stays in registers.
  int64_t columnsInTurn = 1;
  /// True if these are written one by one, as they are computed differently: the halves of turned
  /// heads.
  bool partsDiffer = false;
  /// True if sums of products may be computed by the matrix unit.
  bool multiplies = true;
  /// How often an element of a product's operand is computed, at most, where one of them is; 0
  /// where there is none.
  int64_t timesOfFactors = 0;
  /// True if a scan goes over tiles, along their columns: all of a workgroup scan them together.
  bool scansTiles = false;
  /// True if whole rows of one product are reduced behind it: it is computed once, of operands in
  /// memory.
  bool rowsOfProduct = false;
};

/// How a reduced loop is computed.
enum class ReducedAs { Loop, Rows, Columns, Folded, Product };

/// Operands of a sum of products, and the loop of it along which both go on: of the first, rows and
/// then this loop are the last dimensions, of the second this loop and columns. `exact`: of f32,
/// which the matrix unit would round.
struct ProductLoops {
  unsigned left = 0, right = 0, k = 0;
  bool exact = false;
};

/// Dimensions that may come last in the second operand: columns alone, or the loop of k, too.
enum class RightOperand { OfRows, OfRowsOrColumns };

/// The operands as the matrix unit takes them where `roles` has bit 0 for the loops that are rows,
/// bit 1 for those that are columns, and 0 for others. Nothing for other reductions.
std::optional<ProductLoops> matchProductSum(mlir::linalg::LinalgOp op,
                                            llvm::ArrayRef<int64_t> ranges,
                                            llvm::ArrayRef<unsigned> roles,
                                            RightOperand right = RightOperand::OfRows);

/// How each of the loops `reduced` is computed where rows and columns are in use or not.
llvm::SmallVector<ReducedAs> planReduction(mlir::linalg::LinalgOp op,
                                           llvm::ArrayRef<int64_t> ranges,
                                           llvm::ArrayRef<unsigned> reduced,
                                           std::array<bool, 2> used, const TilePlan &plan);

/// The tile for computing `results`, tensors of one shape. Sides that `tile` and `layout` give
/// stay; others of what is computed element by element are those that `target` has for that, if it
/// is not null.
TilePlan planTiles(llvm::ArrayRef<mlir::Value> results, TileSizes &sizes,
                   std::array<int64_t, 2> tile, std::array<int64_t, 2> layout,
                   const Target *target = nullptr);

/// The tile for results that are a convolution's, element by element, where `target` has tiles of
/// filters and a row of the image for it; none for others.
std::optional<TilePlan> planConvolution(llvm::ArrayRef<mlir::Value> results, TileSizes &sizes,
                                        const Target *target);

/// The tile and the subgroups for a product of powers, of `rows` and `columns`; nothing else of the
/// plan. True for `computes`: queries or keys are computed in the kernel, which takes registers.
TilePlan planAttention(int64_t rows, int64_t columns, bool computes = false);

/// The tile for computing `results`, which are computed element by element of the rows and columns
/// of a product; none where they are not. Sides that `tile` and `layout` give stay; others are
/// those that `target` has for attentions, if it is not null.
std::optional<TilePlan> planProducts(llvm::ArrayRef<mlir::Value> results, TileSizes &sizes,
                                     std::array<int64_t, 2> tile, std::array<int64_t, 2> layout,
                                     const Target *target = nullptr);

/// The same for results of one product, of operands that are computed element by element: whole
/// rows of the first, and some columns of the second at a time, are in registers. None for others.
std::optional<TilePlan> planComputedFactors(llvm::ArrayRef<mlir::Value> results, TileSizes &sizes,
                                            std::array<int64_t, 2> tile,
                                            std::array<int64_t, 2> layout);

/// The same for results that are computed of whole rows of one product, which some subgroups have
/// in their registers. None for others, among them wider rows.
std::optional<TilePlan> planRowsOfProduct(llvm::ArrayRef<mlir::Value> results, TileSizes &sizes);

/// True if `func`, of which nothing is left to use then, becomes a kernel that computes one
/// product, once, and reduces whole rows of it.
bool computesRowsOfProduct(mlir::RewriterBase &rewriter, mlir::func::FuncOp func);

/// How often a kernel of `func`, of which nothing is left to use then, would compute an element of
/// a product's operand, at most; 0 where that is no kernel, or none of the operands is computed.
int64_t timesOfFactors(mlir::RewriterBase &rewriter, mlir::func::FuncOp func);

/// The tile for computing results of `shape`, whose dimension `scanned` a workgroup walks over.
/// Sides that `tile` and `layout` give stay; others are those that `target` has for scans, if it is
/// not null and that dimension is the last one.
TilePlan planScan(llvm::ArrayRef<int64_t> shape, unsigned scanned, std::array<int64_t, 2> tile,
                  std::array<int64_t, 2> layout, const Target *target = nullptr);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_TILEPLAN_H
