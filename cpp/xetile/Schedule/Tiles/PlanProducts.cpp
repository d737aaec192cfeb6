//===- PlanProducts.cpp - tiles for what is computed of a product -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tensors that a kernel computes. Out: the tile of a workgroup, whose rows and columns are
// those of the last product that they are computed of. Refused: nothing; without a product there is
// no plan.
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Schedule/Tiles/TilePlan.h"
#include "xetile/Schedule/Tiles/TileWriter.h"

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// A product, and the dimensions of the results that its loops walk over, -1 for none.
struct Found {
  linalg::LinalgOp op;
  SmallVector<int64_t> loops;
};

std::optional<Found> findProduct(Value tensor, ArrayRef<int64_t> dims, unsigned depth);

std::optional<Found> throughLinalg(linalg::LinalgOp op, unsigned result, ArrayRef<int64_t> dims,
                                   unsigned depth) {
  SmallVector<int64_t> loops(op.getNumLoops(), -1);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, dim] : llvm::zip_equal(map.getResults(), dims))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      loops[loop.getPosition()] = dim;
  if (isContraction(op))
    return Found{op, loops};
  if (op.getNumReductionLoops() != 0)
    return std::nullopt;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    SmallVector<int64_t> inner;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      inner.push_back(loop ? loops[loop.getPosition()] : -1);
    }
    if (auto found = findProduct(operand->get(), inner, depth))
      return found;
  }
  return std::nullopt;
}

std::optional<Found> findProduct(Value tensor, ArrayRef<int64_t> dims, unsigned depth) {
  constexpr unsigned kDeepest = 40;
  Operation *op = tensor.getDefiningOp();
  if (!op || depth > kDeepest || !isa<RankedTensorType>(tensor.getType()))
    return std::nullopt;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return findProduct(
        loop.getBody()->getTerminator()->getOperand(cast<OpResult>(tensor).getResultNumber()), dims,
        depth + 1);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return throughLinalg(linalgOp, cast<OpResult>(tensor).getResultNumber(), dims, depth + 1);
  // Reshapes that neither split nor join what has elements.
  SmallVector<ReassociationIndices> groups;
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  if (!expand && !collapse)
    return std::nullopt;
  groups = expand ? expand.getReassociationIndices() : collapse.getReassociationIndices();
  ArrayRef<int64_t> wide =
      expand ? expand.getResultType().getShape() : collapse.getSrcType().getShape();
  SmallVector<int64_t> inner;
  for (auto [number, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> live;
    for (int64_t dim : group)
      if (wide[dim] != 1)
        live.push_back(dim);
    if (expand)
      inner.push_back(live.size() == 1 ? dims[live.front()] : -1);
    else
      for (int64_t dim : group)
        inner.push_back(live.size() == 1 && live.front() == dim ? dims[number] : -1);
  }
  return findProduct(op->getOperand(0), inner, depth + 1);
}

/// The longest loop that one input has and the other lacks, with a dimension of the results; of
/// several of one element, the last.
int64_t sideOf(const Found &found, TileSizes &sizes, unsigned with, unsigned without) {
  linalg::LinalgOp op = found.op;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> extents = sizes.planned(op);
  int64_t longest = 0, dim = -1;
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (found.loops[loop] >= 0 && maps[with].isFunctionOfDim(loop) &&
        !maps[without].isFunctionOfDim(loop) &&
        (extent > longest || (extent == 1 && longest == 1))) {
      longest = extent;
      dim = found.loops[loop];
    }
  return dim;
}

} // namespace

TilePlan planAttention(int64_t rows, int64_t columns) {
  TilePlan plan;
  // Scores, powers and sums of a row stay in the registers of one subgroup.
  int64_t ofSubgroup = columns > 64 || rows <= 8 ? 8 : 16, most = columns > 64 ? 16 : 8;
  plan.layout = {
      std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(rows, ofSubgroup)), 1, most), 1};
  // Wider rows, and what they are multiplied from, are more than the registers of a subgroup.
  constexpr int64_t kWidestTile = 128;
  int64_t parts = llvm::divideCeil(columns, kWidestTile);
  int64_t width = llvm::alignTo(llvm::divideCeil(columns, parts), 16);
  plan.tile = {ofSubgroup * plan.layout[kRows], width};
  return plan;
}

std::optional<TilePlan> planProducts(ArrayRef<Value> results, TileSizes &sizes,
                                     std::array<int64_t, 2> tile, std::array<int64_t, 2> layout) {
  constexpr int64_t kWidest = 256;
  SmallVector<int64_t> shape = sizes.planned(results.front());
  std::optional<Found> found =
      findProduct(results.front(), llvm::to_vector(llvm::seq<int64_t>(0, shape.size())), 0);
  if (!found)
    return std::nullopt;
  int64_t rows = sideOf(*found, sizes, 0, 1), columns = sideOf(*found, sizes, 1, 0);
  if (rows < 0 || columns < 0 || shape[columns] > kWidest)
    return std::nullopt;
  TilePlan plan;
  plan.blocks = true;
  if (Type type = getElementTypeOrSelf(found->op->getOperand(0).getType());
      isa<Float16Type, BFloat16Type>(type))
    plan.narrow = type;
  plan.dims.assign(shape.size(), DimUse::Number);
  plan.dims[rows] = DimUse::Rows;
  plan.dims[columns] = DimUse::Columns;
  TilePlan usual = planAttention(shape[rows], shape[columns]);
  plan.layout = usual.layout;
  if (layout[kRows] != 0)
    plan.layout[kRows] = layout[kRows];
  plan.tile = {usual.tile[kRows] / usual.layout[kRows] * plan.layout[kRows], usual.tile[kColumns]};
  if (layout[kColumns] != 0)
    plan.layout[kColumns] = layout[kColumns];
  for (unsigned role : {kRows, kColumns})
    if (tile[role] != 0)
      plan.tile[role] = tile[role];
  return plan;
}

} // namespace xetile::transform_ops
