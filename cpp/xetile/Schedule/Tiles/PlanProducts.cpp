//===- PlanProducts.cpp - tiles for what is computed of a product -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tensors that a kernel computes. Out: the tile of a workgroup, whose rows and columns are
// those of the last product that they are computed of. Refused: nothing; without a product there is
// no plan.
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Schedule/Tiles/TilePlan.h"
#include "xetile/Schedule/Tiles/TileWriter.h"
#include "xetile/Target/Target.h"
#include <set>

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// A product, and the dimensions of the results that its loops walk over, -1 for none.
struct Found {
  linalg::LinalgOp op;
  SmallVector<int64_t> loops;
};

/// The way from a result to a product.
struct Finder {
  /// True if reductions along the columns of a product may lie on it.
  bool passesReductions = false;
  std::set<std::pair<void *, std::vector<int64_t>>> seen;

  std::optional<Found> find(Value tensor, ArrayRef<int64_t> dims, unsigned depth);
  std::optional<Found> throughLinalg(linalg::LinalgOp op, unsigned result, ArrayRef<int64_t> dims,
                                     unsigned depth);
};

/// True if there is a dimension for each parallel loop of a product.
bool isWhole(Found &found) {
  return llvm::all_of(
      llvm::zip_equal(found.loops, found.op.getIteratorTypesArray()), [](auto each) {
        return std::get<0>(each) >= 0 || std::get<1>(each) == utils::IteratorType::reduction;
      });
}

std::optional<Found> Finder::throughLinalg(linalg::LinalgOp op, unsigned result,
                                           ArrayRef<int64_t> dims, unsigned depth) {
  SmallVector<int64_t> loops(op.getNumLoops(), -1);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, dim] : llvm::zip_equal(map.getResults(), dims))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      loops[loop.getPosition()] = dim;
  if (isContraction(op))
    return Found{op, loops};
  if (op.getNumReductionLoops() != 0 && !passesReductions)
    return std::nullopt;
  std::optional<Found> best;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    SmallVector<int64_t> inner;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      inner.push_back(loop ? loops[loop.getPosition()] : -1);
    }
    auto found = find(operand->get(), inner, depth);
    if (found && (!passesReductions || isWhole(*found)))
      return found;
    if (found && !best)
      best = found;
  }
  return best;
}

std::optional<Found> Finder::find(Value tensor, ArrayRef<int64_t> dims, unsigned depth) {
  constexpr unsigned kDeepest = 40;
  Operation *op = tensor.getDefiningOp();
  if (!op || depth > kDeepest || !isa<RankedTensorType>(tensor.getType()) ||
      !seen.insert({tensor.getAsOpaquePointer(), dims.vec()}).second)
    return std::nullopt;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return find(
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
  // A number is of no group: none of its dimensions is one of the results.
  SmallVector<int64_t> inner(
      groups.empty() ? cast<RankedTensorType>(op->getOperand(0).getType()).getRank() : 0, -1);
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
  return find(op->getOperand(0), inner, depth + 1);
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

TilePlan planAttention(int64_t rows, int64_t columns, bool computes) {
  TilePlan plan;
  // Scores, powers and sums of a row stay in the registers of one subgroup.
  bool areMany = columns > 64 || computes;
  int64_t ofSubgroup = areMany || rows <= 8 ? 8 : 16, most = areMany ? 16 : 8;
  plan.layout = {
      std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(rows, ofSubgroup)), 1, most), 1};
  // Wider rows, and what they are multiplied from, are more than the registers of a subgroup.
  constexpr int64_t kWidestTile = 128;
  int64_t parts = llvm::divideCeil(columns, kWidestTile);
  int64_t width = llvm::alignTo(llvm::divideCeil(columns, parts), 16);
  plan.tile = {ofSubgroup * plan.layout[kRows], width};
  return plan;
}

/// The tile and the subgroups that `target` has for values of `columns` elements.
static TilePlan planAttentionOf(const Target &target, int64_t columns) {
  AttentionProblem problem;
  problem.columns = columns;
  AttentionTiling tiling = target.chooseAttention(problem);
  TilePlan plan;
  plan.tile = {tiling.rows, tiling.columns};
  plan.layout = {tiling.subgroups, 1};
  return plan;
}

/// Rows and columns of results are those of a product; none where they are not.
static std::optional<TilePlan> planSides(const Found &found, TileSizes &sizes,
                                         ArrayRef<int64_t> shape) {
  int64_t rows = sideOf(found, sizes, 0, 1), columns = sideOf(found, sizes, 1, 0);
  if (rows < 0 || columns < 0)
    return std::nullopt;
  TilePlan plan;
  plan.blocks = true;
  plan.dims.assign(shape.size(), DimUse::Number);
  plan.dims[rows] = DimUse::Rows;
  plan.dims[columns] = DimUse::Columns;
  return plan;
}

static std::optional<Found> findProductOf(Value result, ArrayRef<int64_t> shape) {
  return Finder().find(result, llvm::to_vector(llvm::seq<int64_t>(0, shape.size())), 0);
}

static int64_t extentOf(const TilePlan &plan, DimUse use, ArrayRef<int64_t> shape) {
  return shape[llvm::find(plan.dims, use) - plan.dims.begin()];
}

/// Sides that `tile` and `layout` give stay, of others a subgroup has as much as before.
static void takeGiven(TilePlan &plan, std::array<int64_t, 2> tile, std::array<int64_t, 2> layout) {
  if (layout[kRows] != 0)
    plan.tile[kRows] = plan.tile[kRows] / plan.layout[kRows] * layout[kRows];
  for (unsigned role : {kRows, kColumns}) {
    if (layout[role] != 0)
      plan.layout[role] = layout[role];
    if (tile[role] != 0)
      plan.tile[role] = tile[role];
  }
}

std::optional<TilePlan> planProducts(ArrayRef<Value> results, TileSizes &sizes,
                                     std::array<int64_t, 2> tile, std::array<int64_t, 2> layout,
                                     const Target *target) {
  constexpr int64_t kWidest = 256;
  SmallVector<int64_t> shape = sizes.planned(results.front());
  std::optional<Found> found = findProductOf(results.front(), shape);
  std::optional<TilePlan> plan = found ? planSides(*found, sizes, shape) : std::nullopt;
  if (!plan || extentOf(*plan, DimUse::Columns, shape) > kWidest)
    return std::nullopt;
  if (Type type = getElementTypeOrSelf(found->op->getOperand(0).getType());
      isa<Float16Type, BFloat16Type>(type))
    plan->narrow = type;
  bool computes = hasComputedFactors(found->op->getParentOfType<func::FuncOp>());
  int64_t columns = extentOf(*plan, DimUse::Columns, shape);
  TilePlan usual = target && plan->narrow
                       ? planAttentionOf(*target, columns)
                       : planAttention(extentOf(*plan, DimUse::Rows, shape), columns, computes);
  plan->layout = usual.layout;
  plan->tile = usual.tile;
  takeGiven(*plan, tile, layout);
  return plan;
}

/// True if `op` is all that the results' kernel reduces.
static bool reducesAlone(linalg::LinalgOp op) {
  WalkResult others = op->getParentOp()->walk([&](linalg::LinalgOp each) {
    return each != op && each.getNumReductionLoops() != 0 ? WalkResult::interrupt()
                                                          : WalkResult::advance();
  });
  return !others.wasInterrupted();
}

static bool isComputed(Value factor) { return !isInMemory(factor) && !getSplat(factor); }

/// True if the matrix unit takes the operands of `op`, one of which is computed, and all of k at a
/// time is few registers.
static bool takesFactors(linalg::LinalgOp op) {
  constexpr int64_t kFewest = 16, kMost = 256;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  Type left = getElementTypeOrSelf(op->getOperand(0).getType());
  if (reduced.size() != 1 || op.getNumDpsInputs() != 2 || !isa<Float16Type, BFloat16Type>(left) ||
      left != getElementTypeOrSelf(op->getOperand(1).getType()) ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isF32() ||
      llvm::none_of(op.getDpsInputs(), isComputed))
    return false;
  int64_t k = op.getStaticLoopRanges()[reduced.front()];
  return k >= kFewest && k <= kMost;
}

std::optional<TilePlan> planComputedFactors(ArrayRef<Value> results, TileSizes &sizes,
                                            std::array<int64_t, 2> tile,
                                            std::array<int64_t, 2> layout) {
  constexpr int64_t kFactor = 2048, kMostRows = 32, kLeastRows = 8, kWidth = 16, kMostSubgroups = 8;
  SmallVector<int64_t> shape = sizes.planned(results.front());
  std::optional<Found> found = findProductOf(results.front(), shape);
  if (!found || !takesFactors(found->op) || !reducesAlone(found->op))
    return std::nullopt;
  std::optional<TilePlan> plan = planSides(*found, sizes, shape);
  if (!plan)
    return std::nullopt;
  int64_t rows = extentOf(*plan, DimUse::Rows, shape),
          columns = extentOf(*plan, DimUse::Columns, shape);
  SmallVector<unsigned> reduced;
  found->op.getReductionDims(reduced);
  int64_t k = found->op.getStaticLoopRanges()[reduced.front()];
  // Each subgroup computes all columns that it multiplies: the more rows it has, the less often.
  int64_t height = std::clamp<int64_t>(kFactor / llvm::PowerOf2Ceil(k), kLeastRows, kMostRows);
  height = std::min<int64_t>(height, llvm::alignTo(rows, kLeastRows));
  plan->layout = {
      std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(rows, height)), 1, kMostSubgroups),
      1};
  plan->tile = {height * plan->layout[kRows], kWidth};
  takeGiven(*plan, tile, layout);
  // Rows are computed once for several tiles, as long as all hardware threads have work.
  constexpr int64_t kThreads = 4096, kFewestTiles = 4;
  int64_t tiles = llvm::divideCeil(columns, plan->tile[kColumns]), threads = plan->layout[kRows];
  for (auto [extent, use] : llvm::zip_equal(shape, plan->dims))
    if (use != DimUse::Columns)
      threads = saturatingProduct(
          threads, use == DimUse::Rows ? llvm::divideCeil(extent, plan->tile[kRows]) : extent);
  plan->columnsInTurn =
      std::min(tiles, std::max(kFewestTiles, saturatingProduct(threads, tiles) / kThreads));
  // Columns of the right operand once for the rows of each subgroup.
  plan->timesOfFactors =
      isComputed(found->op->getOperand(0)) ? llvm::divideCeil(tiles, plan->columnsInTurn) : 1;
  if (isComputed(found->op->getOperand(1)))
    plan->timesOfFactors = std::max<int64_t>(
        plan->timesOfFactors,
        llvm::divideCeil(rows, llvm::divideCeil(plan->tile[kRows], plan->layout[kRows])));
  return plan;
}

/// True if each other reduction of the function of `product` is along one dimension, of elements
/// where they are.
static bool reducesRows(linalg::LinalgOp product) {
  bool reduces = false;
  WalkResult others = product->getParentOp()->walk([&](linalg::LinalgOp each) {
    if (each == product || each.getNumReductionLoops() == 0)
      return WalkResult::advance();
    reduces = true;
    bool isPlain = each.getNumReductionLoops() == 1 && !isContraction(each) &&
                   llvm::all_of(each.getIndexingMapsArray(), [](AffineMap map) {
                     return map.isProjectedPermutation(/*allowZeroInResults=*/true);
                   });
    return isPlain ? WalkResult::advance() : WalkResult::interrupt();
  });
  return reduces && !others.wasInterrupted();
}

std::optional<TilePlan> planRowsOfProduct(ArrayRef<Value> results, TileSizes &sizes) {
  constexpr int64_t kWidest = 256, kWidestExact = 64, kWidth = 64, kLeastRows = 8, kMostRows = 16,
                    kMostSubgroups = 4;
  SmallVector<int64_t> shape = sizes.planned(results.front());
  Finder finder;
  finder.passesReductions = true;
  std::optional<Found> found =
      finder.find(results.front(), llvm::to_vector(llvm::seq<int64_t>(0, shape.size())), 0);
  if (!found || !reducesRows(found->op) || found->op.getNumDpsInputs() != 2)
    return std::nullopt;
  SmallVector<AffineMap> maps = found->op.getIndexingMapsArray();
  // A row is what one operand alone has: its dimension is one of the results, or was reduced.
  int64_t width = 0, rows = sideOf(*found, sizes, 0, 1), columns = sideOf(*found, sizes, 1, 0);
  for (auto [loop, extent] : llvm::enumerate(sizes.loopsOf(found->op)))
    if (maps[1].isFunctionOfDim(loop) && !maps[0].isFunctionOfDim(loop)) {
      if (width != 0 || !extent.isKnown())
        return std::nullopt;
      width = extent.number;
    }
  bool isExact = getElementTypeOrSelf(found->op->getOperand(0).getType()).isF32();
  if (rows < 0 || width < 2 || width > (isExact ? kWidestExact : kWidest))
    return std::nullopt;
  TilePlan plan;
  plan.rowsOfProduct = true;
  plan.dims.assign(shape.size(), DimUse::Number);
  plan.dims[rows] = DimUse::Rows;
  if (columns >= 0)
    plan.dims[columns] = DimUse::Columns;
  plan.whole[kColumns] = true;
  int64_t height = std::min<int64_t>(llvm::alignTo(shape[rows], kLeastRows), kMostRows);
  if (!isExact) {
    plan.layout[kColumns] = llvm::PowerOf2Ceil(llvm::divideCeil(width, kWidth));
    plan.layout[kRows] = std::min<int64_t>(
        llvm::PowerOf2Ceil(llvm::divideCeil(shape[rows], height)), kMostSubgroups);
  }
  plan.tile = {
      height * plan.layout[kRows],
      static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(width, plan.layout[kColumns]), 16)) *
          plan.layout[kColumns]};
  return plan;
}

} // namespace xetile::transform_ops
