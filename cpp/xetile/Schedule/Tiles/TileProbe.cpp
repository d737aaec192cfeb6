//===- TileProbe.cpp - the cost of a way to take dimensions ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the tensors that a kernel computes, and which of their dimensions are rows and columns of a
// tile. Out: what is reduced how, what memory is read how. Refused: nothing.
#include "xetile/Schedule/Tiles/TileProbe.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Schedule/Tiles/TileFold.h"
#include "xetile/Schedule/Tiles/TileWriter.h"

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// Bits of a mask of roles.
enum : unsigned { kRowBit = 1, kColumnBit = 2 };

/// The cost of an element that is gathered, beside one step of a loop over a window.
constexpr double kGathered = 2;

/// The loop along which memory is contiguous for the first operand.
std::optional<unsigned> contiguousLoop(linalg::LinalgOp op) {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (map.getNumResults() == 0)
      continue;
    if (auto dim = dyn_cast<AffineDimExpr>(map.getResults().back()))
      return dim.getPosition();
  }
  return std::nullopt;
}

void probe(Value tensor, std::vector<unsigned> roles, const TilePlan &plan, Probe &found);

/// Adds the cost of reducing dimension `dim` as `as`.
void countReduced(linalg::LinalgOp op, unsigned dim, ReducedAs as, Probe &found) {
  int64_t extent = found.sizes->planned(op)[dim];
  if (extent > 1) {
    found.foldsAll &= found.sizes->loopsOf(op)[dim].isKnown();
    found.foldsAll &= as == ReducedAs::Folded && (found.folded == 0 || found.folded == extent);
    found.folded = extent;
  }
  if (as == ReducedAs::Loop) {
    found.cost += static_cast<double>(extent - 1);
    found.windows = saturatingProduct(found.windows, extent);
  }
  if (as == ReducedAs::Rows && contiguousLoop(op) == dim)
    found.cost += 0.5;
  if (as == ReducedAs::Rows || as == ReducedAs::Columns) {
    int64_t &longest = found.reduced[as == ReducedAs::Rows ? kRows : kColumns];
    longest = std::max(longest, extent);
  }
}

/// How many steps of `expr` neighbours along the columns of a tile are apart at most; 1 where they
/// are none.
int64_t stepOfColumns(AffineExpr expr, ArrayRef<unsigned> loops) {
  int64_t most = 1;
  expr.walk([&](AffineExpr part) {
    auto product = dyn_cast<AffineBinaryOpExpr>(part);
    if (!product || product.getKind() != AffineExprKind::Mul)
      return;
    auto dim = dyn_cast<AffineDimExpr>(product.getLHS());
    auto step = dyn_cast<AffineConstantExpr>(product.getRHS());
    if (dim && step && (loops[dim.getPosition()] & kColumnBit) != 0)
      most = std::max(most, step.getValue());
  });
  return most;
}

/// True if elements so many steps apart are words, or begin words of 32 bits.
bool beginWords(RankedTensorType type, int64_t step) {
  constexpr int64_t kMostSteps = 4;
  bool arePairs = type.getElementTypeBitWidth() == 16 && step % 2 == 0 && step <= kMostSteps &&
                  type.hasStaticShape() && type.getShape().back() % 2 == 0;
  return type.getElementTypeBitWidth() == 32 || arePairs;
}

/// Of a tensor in memory, maybe with numbers around it, whose elements an op reads at `map`.
void probeSteps(Value tensor, AffineMap map, ArrayRef<unsigned> loops, Probe &found) {
  if (map.getNumResults() == 0)
    return;
  bool isShifted = false;
  if (auto pad = tensor.getDefiningOp<tensor::PadOp>()) {
    isShifted = pad.getStaticLow().back() != 0;
    tensor = pad.getSource();
    if (auto op = tensor.getDefiningOp<linalg::GenericOp>();
        op && isElementwiseOnTensors(op) && op.getNumDpsInputs() == 1)
      tensor = op.getInputs()[0];
  }
  if (!isInMemory(tensor))
    return;
  int64_t step = stepOfColumns(map.getResults().back(), loops);
  auto type = cast<RankedTensorType>(tensor.getType());
  found.strided |= step > 1;
  found.splitsWords |=
      step > 1 && (!beginWords(type, step) || (isShifted && type.getElementTypeBitWidth() == 16));
}

/// The steps by which `expr`, a sum of loops, goes on along each of them.
llvm::SmallDenseMap<unsigned, int64_t> stepsAlong(AffineExpr expr) {
  llvm::SmallDenseMap<unsigned, int64_t> steps;
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (sum && sum.getKind() == AffineExprKind::Add) {
    steps = stepsAlong(sum.getLHS());
    for (auto [loop, step] : stepsAlong(sum.getRHS()))
      steps[loop] += step;
  } else if (sum && sum.getKind() == AffineExprKind::Mul) {
    if (auto by = dyn_cast<AffineConstantExpr>(sum.getRHS()))
      for (auto [loop, step] : stepsAlong(sum.getLHS()))
        steps[loop] = step * by.getValue();
  } else if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
    steps[loop.getPosition()] = 1;
  }
  return steps;
}

/// Elements of a window along `expr` that its neighbours have, too, where the window is along the
/// rows or columns of a tile: each of them is gathered for each window that it is in.
double countOverlap(AffineExpr expr, ArrayRef<int64_t> extents, ArrayRef<unsigned> reduced,
                    ArrayRef<unsigned> loops) {
  llvm::SmallDenseMap<unsigned, int64_t> steps = stepsAlong(expr);
  double shared = 0;
  for (auto [window, inside] : steps)
    if (llvm::is_contained(reduced, window) && loops[window] != 0)
      for (auto [loop, step] : steps)
        if (!llvm::is_contained(reduced, loop) && extents[loop] > 1 && inside > 0 && step > 0)
          shared += std::max<double>(
              0, static_cast<double>(extents[window] - llvm::divideCeil(step, inside)));
  return shared;
}

void probeLinalg(linalg::LinalgOp op, unsigned result, ArrayRef<unsigned> roles,
                 const TilePlan &plan, Probe &found) {
  SmallVector<int64_t> extents = found.sizes->planned(op);
  SmallVector<unsigned> loops(extents.size(), 0);
  SmallVector<bool> known(extents.size(), false);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  std::array<bool, 2> used = {false, false};
  for (auto [expr, role] : llvm::zip_equal(map.getResults(), roles)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue;
    loops[dim.getPosition()] = role;
    known[dim.getPosition()] = true;
    used[kRows] |= (role & kRowBit) != 0;
    used[kColumns] |= (role & kColumnBit) != 0;
  }
  SmallVector<unsigned> reduced;
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (!known[dim] && kind == utils::IteratorType::reduction)
      reduced.push_back(dim);
  SmallVector<ReducedAs> planned = planReduction(op, extents, reduced, used, plan);
  if (std::optional<ProductLoops> product = matchProductSum(op, extents, loops);
      product && plan.multiplies && !reduced.empty()) {
    planned.assign(reduced.size(), ReducedAs::Product);
    found.multiplies = true;
    found.exact |= product->exact;
  }
  found.planes |= llvm::is_contained(planned, ReducedAs::Rows) &&
                  llvm::is_contained(planned, ReducedAs::Columns);
  for (auto [dim, as] : llvm::zip_equal(reduced, planned)) {
    found.reduces = true;
    if (as == ReducedAs::Product)
      continue;
    countReduced(op, dim, as, found);
    loops[dim] = as == ReducedAs::Rows      ? kRowBit
                 : as == ReducedAs::Columns ? kColumnBit
                 : as == ReducedAs::Folded  ? kRowBit | kColumnBit
                                            : 0;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    std::vector<unsigned> inner;
    AffineMap operandMap = op.getMatchingIndexingMap(&operand);
    probeSteps(operand.get(), operandMap, loops, found);
    for (AffineExpr expr : operandMap.getResults()) {
      found.cost += kGathered * countOverlap(expr, extents, reduced, loops);
      unsigned mask = 0;
      expr.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          mask |= loops[dim.getPosition()];
      });
      inner.push_back(mask);
    }
    probe(operand.get(), inner, plan, found);
  }
}

/// Roles of the dimensions of what a reshape is of: of each group, all.
std::vector<unsigned> throughGroups(Operation *op, ArrayRef<unsigned> roles) {
  std::vector<unsigned> inner;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      unsigned mask = 0;
      for (int64_t dim : group)
        mask |= roles[dim];
      inner.push_back(mask);
    }
    return inner;
  }
  auto collapse = cast<tensor::CollapseShapeOp>(op);
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  // A tensor without dimensions has no groups, what it is of may have some of one element.
  inner.assign(shape.size(), 0);
  for (auto [role, group] : llvm::zip_equal(roles, collapse.getReassociationIndices()))
    for (int64_t dim : group)
      inner[dim] = shape[dim] == 1 ? 0 : role;
  return inner;
}

/// True if kernels have code for a matrix whose rows block loads cannot take: a run knows its
/// pitch.
bool hasOpenPitch(Value tensor, ArrayRef<unsigned> roles) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getRank() >= 2 && type.isDynamicDim(type.getRank() - 1) &&
         llvm::any_of(roles, [](unsigned role) { return role != 0; });
}

/// True if block loads cannot take the rows of a row-major matrix.
bool isMisaligned(Value tensor, ArrayRef<unsigned> roles) {
  constexpr int64_t kPitchMultiple = 16, kLeastWidth = 64;
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() < 2 || roles.back() != kColumnBit || !llvm::is_contained(roles, kRowBit))
    return false;
  if (type.isDynamicDim(type.getRank() - 1))
    return true;
  int64_t bytes = type.getShape().back() * bytesOf(tensor);
  return bytes % kPitchMultiple != 0 || bytes < kLeastWidth;
}

/// The bytes of a folded row that are the whole of a tensor.
int64_t sharedBytes(Value tensor, ArrayRef<unsigned> roles, TileSizes &sizes) {
  int64_t row = 1;
  for (auto [extent, role] : llvm::zip_equal(sizes.of(tensor), roles)) {
    if (!extent.isKnown() || (extent.number > 1 && role != (kRowBit | kColumnBit)))
      return 0;
    row *= extent.number;
  }
  return row * bytesOf(tensor);
}

void probe(Value tensor, std::vector<unsigned> roles, const TilePlan &plan, Probe &found) {
  if (found.seen.size() > 10000 ||
      !found.seen.insert({tensor.getAsOpaquePointer(), roles}).second || getSplat(tensor))
    return;
  if (isInMemory(tensor)) {
    ++found.inputs;
    if (llvm::is_contained(roles, kRowBit | kColumnBit)) {
      found.narrowest = std::min(found.narrowest, bytesOf(tensor));
      found.shared += sharedBytes(tensor, roles, *found.sizes);
    }
    found.misaligned |= isMisaligned(tensor, roles);
    found.maybeMisaligned |= hasOpenPitch(tensor, roles);
    unsigned all = 0;
    for (unsigned role : roles)
      all |= role;
    found.numbersOfRows += all == kRowBit ? 1 : 0;
    found.transposed |= all == (kRowBit | kColumnBit) && (roles.back() & kRowBit) != 0;
    return;
  }
  Operation *op = tensor.getDefiningOp();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return probeLinalg(linalgOp, cast<OpResult>(tensor).getResultNumber(), roles, plan, found);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return probe(op->getOperand(0), throughGroups(op, roles), plan, found);
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      continue;
    std::vector<unsigned> inner = roles;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      inner.clear();
      unsigned next = 0;
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      for (unsigned dim = 0; dim < dropped.size(); ++dim)
        inner.push_back(dropped.test(dim) ? 0 : roles[next++]);
    }
    inner.resize(type.getRank(), 0);
    probe(operand, inner, plan, found);
  }
}

std::vector<unsigned> rolesOf(const TilePlan &plan) {
  std::vector<unsigned> roles;
  for (DimUse use : plan.dims)
    roles.push_back(use == DimUse::Rows      ? kRowBit
                    : use == DimUse::Columns ? kColumnBit
                    : use == DimUse::Folded  ? kRowBit | kColumnBit
                                             : 0);
  return roles;
}

} // namespace

int64_t bytesOf(Value tensor) {
  unsigned bits = getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth();
  return std::max<int64_t>(1, bits / 8);
}

Probe probeAll(ArrayRef<Value> results, TileSizes &sizes, const TilePlan &plan) {
  Probe found;
  found.sizes = &sizes;
  std::vector<unsigned> roles = rolesOf(plan);
  for (Value result : results) {
    probe(result, roles, plan, found);
    found.misaligned |= isMisaligned(result, roles);
    found.maybeMisaligned |= hasOpenPitch(result, roles);
  }
  return found;
}

/// True if two or four rows of `columns` lie behind each other in memory along `loop`, and are few
/// registers.
static bool isBeside(linalg::LinalgOp op, ArrayRef<int64_t> extents, unsigned loop,
                     unsigned columns) {
  constexpr int64_t kLeast = 64, kMost = 1024;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  std::optional<unsigned> row = map.getResultPosition(getAffineDimExpr(loop, op.getContext())),
                          column =
                              map.getResultPosition(getAffineDimExpr(columns, op.getContext()));
  return row && column && *row + 1 == *column && (extents[loop] == 2 || extents[loop] == 4) &&
         extents[columns] >= kLeast && extents[loop] * extents[columns] <= kMost;
}

SmallVector<ReducedAs> planReduction(linalg::LinalgOp op, ArrayRef<int64_t> extents,
                                     ArrayRef<unsigned> reduced, std::array<bool, 2> used,
                                     const TilePlan &plan) {
  constexpr int64_t kShort = 4;
  SmallVector<ReducedAs> as(reduced.size(), ReducedAs::Loop);
  if (isFold(op))
    return as;
  SmallVector<unsigned> order(llvm::to_vector(llvm::seq<unsigned>(0, reduced.size())));
  std::optional<unsigned> contiguous = contiguousLoop(op);
  llvm::sort(order, [&](unsigned x, unsigned y) {
    auto rank = [&](unsigned i) {
      return std::tuple(contiguous != reduced[i], -extents[reduced[i]], i);
    };
    return rank(x) < rank(y);
  });
  for (unsigned i : order) {
    int64_t extent = extents[reduced[i]];
    if (extent <= kShort &&
        !(used[kColumns] && !used[kRows] && as[order.front()] == ReducedAs::Columns &&
          isBeside(op, extents, reduced[i], reduced[order.front()])))
      continue;
    if (plan.folds && !used[kRows] && !used[kColumns] && extent % plan.tile[kColumns] == 0 &&
        contiguous == reduced[i]) {
      as[i] = ReducedAs::Folded;
      used = {true, true};
    } else if (!used[kColumns]) {
      as[i] = ReducedAs::Columns;
      used[kColumns] = true;
    } else if (!used[kRows]) {
      as[i] = ReducedAs::Rows;
      used[kRows] = true;
    }
  }
  return as;
}

} // namespace xetile::transform_ops
