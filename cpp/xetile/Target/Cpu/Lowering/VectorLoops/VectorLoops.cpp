//===- VectorLoops.cpp - loops of vectors for a linalg op ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg op on memrefs with a plan. Out: loops of vectors. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Lowering/VectorLoops/VectorLoops.h"
#include "mlir/Analysis/Liveness.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Linalg/SumStep.h"
#include "xetile/Linalg/TileLoops.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Fusion.h"

using namespace mlir;
using namespace xetile;

namespace {

/// Vectors of an elementwise op in one step of a loop, where they take few operations each, or some
/// more on few registers.
constexpr int64_t kVectors = 4;
constexpr int64_t kFewOperations = 8, kSomeOperations = 16, kFewValues = 3;

/// Additions in a row to one vector of floats, from zero; sums of at most twice as many have no
/// such parts. xetile-block-sums cuts what is longer by far, in memory.
constexpr int64_t kChain = 16;

/// True if register pressure allows to interleave several vectors, which hides latency.
bool takesFewRegisters(mlir::Block &body) {
  int64_t operations = llvm::range_size(body.without_terminator());
  if (operations <= kFewOperations)
    return true;
  if (operations > kSomeOperations)
    return false;
  Liveness liveness(body.getParentOp());
  return llvm::all_of(body, [&](Operation &op) {
    // Values defined above are shared by all vectors.
    auto isOwn = [&](Value value) { return value.getParentBlock() == &body && !value.use_empty(); };
    return llvm::count_if(liveness.getLiveness(&body)->currentlyLiveValues(&op), isOwn) <=
           kFewValues;
  });
}

class Emitter {
public:
  Emitter(RewriterBase &rewriter, linalg::LinalgOp op, const VectorPlan &plan)
      : b(rewriter), loc(op.getLoc()), op(op), plan(plan), body(op->getRegion(0).front()),
        init(*op.getDpsInitOperand(0)), start(startOf(op)) {}

  void emit();

private:
  /// Carried values of a loop: the vectors that are summed to.
  using Sums = SmallVector<Value>;
  using LoopBody = llvm::function_ref<Sums(ValueRange sums)>;

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// Loop over `dim` from `from` to `to`, `step` at a time; the place is known in the body.
  Sums loop(unsigned dim, Value from, Index to, int64_t step, ValueRange sums, LoopBody inner);
  /// Calls `inner` with so many vectors along the column, and the mask of the last one.
  using VectorsBody = llvm::function_ref<Sums(int64_t count, Value mask, ValueRange sums)>;
  Sums overVectors(int64_t atOnce, ValueRange sums, VectorsBody inner);
  /// As `loop`; where `dim` is the one that is cut, by parts of sums, each from zero.
  Sums sumLoop(unsigned dim, Index from, Index to, int64_t step, ValueRange sums, LoopBody inner);
  Sums overReduced(ArrayRef<unsigned> dims, ValueRange sums, LoopBody inner);
  void overResult(ArrayRef<unsigned> dims);
  /// `column` is parallel: vectors of results.
  void emitResults();
  /// `column` is reduced: one result from vectors of partial ones.
  void emitReduction();

  /// The neutral element of a partial float sum; null if `op` does not add floats.
  static TypedAttr startOf(linalg::LinalgOp op);
  /// Chooses the reduced dimension whose steps make chains of additions long.
  void chooseCut();

  /// Reads what is the same for a whole row before the loop along it.
  void readRow();
  SmallVector<Value> indices(OpOperand &operand, int64_t shift);
  /// The vector of `operand` that is `number` vectors further; a scalar if the operand is invariant
  /// along the vector.
  Value read(OpOperand &operand, int64_t number, Value mask);
  /// Applies the body to `count` vectors and their accumulators.
  Sums compute(int64_t count, Value mask, ValueRange sofar);
  VectorType vectorOf(Type element) { return VectorType::get({plan.length}, element); }

  RewriterBase &b;
  Location loc;
  linalg::LinalgOp op;
  const VectorPlan &plan;
  mlir::Block &body;
  OpOperand &init;
  TypedAttr start;
  /// The reduced dimension that is cut, and its steps in each part.
  std::optional<unsigned> cutDim;
  int64_t cutSteps = 0;
  SmallVector<Index> extents;
  SmallVector<Value> place;
  /// Operands that are loaded before the loop along a row.
  llvm::SmallDenseMap<OpOperand *, Value> ofRow;
  /// Reduced dimensions but `column`.
  SmallVector<unsigned> reduced;
};

} // namespace

void Emitter::emit() {
  b.setInsertionPoint(op);
  for (Range range : op.createLoopRanges(b, loc))
    extents.push_back(range.size);
  place.resize(extents.size());
  SmallVector<unsigned> parallel;
  AffineMap result = op.getMatchingIndexingMap(&init);
  for (AffineExpr expr : result.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() != plan.column)
      parallel.push_back(dim.getPosition());
  for (unsigned dim = 0; dim < extents.size(); ++dim)
    if (dim != plan.column && !result.isFunctionOfDim(dim))
      reduced.push_back(dim);
  chooseCut();
  overResult(parallel);
  b.eraseOp(op);
}

TypedAttr Emitter::startOf(linalg::LinalgOp op) {
  mlir::Block &body = op->getRegion(0).front();
  BlockArgument sum = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  Operation *step = findSumStep(body, sum, body.getTerminator()->getOperand(0));
  if (!step || isa<arith::MulFOp>(step))
    return {};
  return FloatAttr::get(sum.getType(), -0.0); // 0 + -0 is 0
}

void Emitter::chooseCut() {
  if (!start)
    return;
  SmallVector<std::pair<unsigned, int64_t>> dims; // innermost first, and steps of their loops
  auto steps = [&](unsigned dim, int64_t step) {
    std::optional<int64_t> extent = getConstantIntValue(extents[dim]);
    return extent ? *extent / step : std::numeric_limits<int64_t>::max();
  };
  if (plan.combiner)
    dims.push_back({plan.column, steps(plan.column, kSums * plan.length)});
  for (unsigned dim : llvm::reverse(reduced))
    dims.push_back({dim, steps(dim, 1)});
  int64_t chain = 1;
  for (auto [dim, count] : dims) {
    if (count > 2 * kChain / chain) {
      cutDim = dim;
      cutSteps = std::max<int64_t>(kChain / chain, 1);
      return;
    }
    chain *= std::max<int64_t>(count, 1);
  }
}

Emitter::Sums Emitter::loop(unsigned dim, Value from, Index to, int64_t step, ValueRange sums,
                            LoopBody inner) {
  auto loop = scf::ForOp::create(b, loc, from, asValue(b, loc, to), constant(step), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  place[dim] = loop.getInductionVar();
  Sums results = inner(loop.getRegionIterArgs());
  if (!results.empty())
    scf::YieldOp::create(b, loc, results);
  return loop.getResults();
}

Emitter::Sums Emitter::sumLoop(unsigned dim, Index from, Index to, int64_t step, ValueRange sums,
                               LoopBody inner) {
  int64_t part = cutSteps * step;
  Index parts = b.getIndexAttr(0);
  if (cutDim == dim)
    parts = floorDivIndex(b, loc, subIndex(b, loc, to, from), part);
  if (isZeroInteger(parts))
    return loop(dim, asValue(b, loc, from), to, step, sums, inner);
  Index middle = addIndex(b, loc, from, mulIndex(b, loc, parts, part));
  Sums totals = loop(dim, asValue(b, loc, from), middle, part, sums, [&](ValueRange before) {
    Sums zeros = llvm::map_to_vector(before, [&](Value total) -> Value {
      auto zero = DenseElementsAttr::get(cast<VectorType>(total.getType()), Attribute(start));
      return arith::ConstantOp::create(b, loc, zero);
    });
    Value first = place[dim];
    Index end = addIndex(b, loc, first, b.getIndexAttr(part));
    Sums after = loop(dim, first, end, step, zeros, inner);
    for (auto [sum, total] : llvm::zip_equal(after, before))
      sum = arith::AddFOp::create(b, loc, total, sum);
    return after;
  });
  if (isEqualConstantIntOrValue(middle, to))
    return totals;
  return loop(dim, asValue(b, loc, middle), to, step, totals, inner);
}

Emitter::Sums Emitter::overVectors(int64_t atOnce, ValueRange sums, VectorsBody inner) {
  Index extent = extents[plan.column];
  if (std::optional<int64_t> known = getConstantIntValue(extent))
    atOnce = std::clamp<int64_t>(*known / plan.length, 1, atOnce);
  Sums current(sums);
  Index from = b.getIndexAttr(0);
  for (int64_t count : {atOnce, int64_t(1)}) {
    int64_t step = count * plan.length;
    Index to = mulIndex(b, loc, floorDivIndex(b, loc, extent, step), step);
    if (!isEqualConstantIntOrValue(from, to))
      current = sumLoop(plan.column, from, to, step, current,
                        [&](ValueRange carried) { return inner(count, {}, carried); });
    from = to;
    if (atOnce == 1)
      break;
  }
  Index left = subIndex(b, loc, extent, from);
  if (isZeroInteger(left))
    return current;
  auto last = [&](ValueRange carried) {
    Value count = asValue(b, loc, left);
    return inner(1, vector::CreateMaskOp::create(b, loc, vectorOf(b.getI1Type()), count), carried);
  };
  // A remainder of unknown size becomes a loop with a trip count of zero or one.
  if (!getConstantIntValue(left))
    return loop(plan.column, asValue(b, loc, from), extent, plan.length, current, last);
  place[plan.column] = asValue(b, loc, from);
  return last(current);
}

Emitter::Sums Emitter::overReduced(ArrayRef<unsigned> dims, ValueRange sums, LoopBody inner) {
  if (dims.empty())
    return inner(sums);
  return sumLoop(
      dims.front(), b.getIndexAttr(0), extents[dims.front()], 1, sums,
      [&](ValueRange carried) { return overReduced(dims.drop_front(), carried, inner); });
}

void Emitter::overResult(ArrayRef<unsigned> dims) {
  if (dims.empty())
    return plan.combiner ? emitReduction() : emitResults();
  loop(dims.front(), constant(0), extents[dims.front()], 1, {}, [&](ValueRange) {
    overResult(dims.drop_front());
    return Sums();
  });
}

void Emitter::readRow() {
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    bool varies = map.isFunctionOfDim(plan.column) ||
                  llvm::any_of(reduced, [&](unsigned dim) { return map.isFunctionOfDim(dim); });
    if (!varies && op.payloadUsesValueFromOperand(operand))
      ofRow[operand] = read(*operand, 0, {});
  }
}

void Emitter::emitResults() {
  int64_t atOnce = !reduced.empty() ? kSums : takesFewRegisters(body) ? kVectors : 1;
  readRow();
  overVectors(atOnce, {}, [&](int64_t count, Value mask, ValueRange) {
    Sums sums;
    // A result that is not read may hold anything.
    bool isRead = op.payloadUsesValueFromOperand(&init);
    Type element = getElementTypeOrSelf(init.get().getType());
    for (int64_t number = 0; number < count; ++number)
      sums.push_back(isRead ? read(init, number, mask)
                            : arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorOf(element))));
    sums = overReduced(reduced, sums,
                       [&](ValueRange carried) { return compute(count, mask, carried); });
    for (int64_t number = 0; number < count; ++number) {
      SmallVector<Value> at = indices(init, number * plan.length);
      if (mask)
        vector::MaskedStoreOp::create(b, loc, init.get(), at, mask, sums[number]);
      else
        vector::StoreOp::create(b, loc, sums[number], init.get(), at);
    }
    return Sums();
  });
}

void Emitter::emitReduction() {
  readRow();
  TypedAttr neutral = *arith::getNeutralElement(plan.combiner);
  VectorType type = vectorOf(neutral.getType());
  if (isa<arith::AddFOp>(plan.combiner)) // 0 + -0 is 0
    neutral = b.getFloatAttr(neutral.getType(), -0.0);
  Value start = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(neutral)));
  Sums sums(kSums, start);
  sums = overReduced(reduced, sums, [&](ValueRange outer) {
    return overVectors(kSums, outer, [&](int64_t count, Value mask, ValueRange carried) {
      Sums next(carried);
      for (auto [number, value] : llvm::enumerate(compute(count, mask, carried.take_front(count))))
        next[number] =
            mask ? Value(arith::SelectOp::create(b, loc, mask, value, carried[number])) : value;
      return next;
    });
  });
  // The op's attributes say how: fast math, overflow.
  auto combine = [&](Value left, Value right) -> Value {
    return b
        .create(loc, plan.combiner->getName().getIdentifier(), {left, right}, left.getType(),
                plan.combiner->getAttrs())
        ->getResult(0);
  };
  while (sums.size() > 1) {
    Sums half;
    for (size_t i = 0; i < sums.size(); i += 2)
      half.push_back(combine(sums[i], sums[i + 1]));
    sums = half;
  }
  // Machines reduce vectors of whole floats; extremes do not round, sums of narrow ones are wide.
  Type element = type.getElementType();
  bool isNarrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  if (isNarrow)
    sums[0] = arith::ExtFOp::create(b, loc, vectorOf(b.getF32Type()), sums[0]);
  Value sum = vector::ReductionOp::create(b, loc, *linalg::getCombinerOpKind(plan.combiner),
                                          sums[0], arith::FastMathFlags::reassoc);
  if (isNarrow)
    sum = arith::TruncFOp::create(b, loc, element, sum);
  SmallVector<Value> at = indices(init, 0);
  Value before = memref::LoadOp::create(b, loc, init.get(), at);
  memref::StoreOp::create(b, loc, combine(before, sum), init.get(), at);
}

SmallVector<Value> Emitter::indices(OpOperand &operand, int64_t shift) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<Index> at;
  for (auto [dim, value] : llvm::enumerate(place))
    // A dimension that is reduced in the end has no place by then, and none is asked for.
    at.push_back(value ? Index(value) : Index(b.getIndexAttr(0)));
  if (shift != 0)
    at[plan.column] = addIndex(b, loc, at[plan.column], b.getIndexAttr(shift));
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    return asValue(b, loc,
                   affine::makeComposedFoldedAffineApply(
                       b, loc, AffineMap::get(map.getNumDims(), 0, expr, b.getContext()), at));
  });
}

Value Emitter::read(OpOperand &operand, int64_t number, Value mask) {
  Value source = operand.get();
  auto memory = dyn_cast<MemRefType>(source.getType());
  if (!memory)
    return source;
  if (!op.getMatchingIndexingMap(&operand).isFunctionOfDim(plan.column))
    return memref::LoadOp::create(b, loc, source, indices(operand, 0));
  VectorType type = vectorOf(memory.getElementType());
  SmallVector<Value> at = indices(operand, number * plan.length);
  if (!mask)
    return vector::LoadOp::create(b, loc, type, source, at);
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, loc, type, source, at, mask, zeros);
}

Emitter::Sums Emitter::compute(int64_t count, Value mask, ValueRange sofar) {
  SmallVector<SmallVector<Value>> arguments(count);
  for (int64_t number = 0; number < count; ++number) {
    for (OpOperand &operand : op->getOpOperands()) {
      Type type = body.getArgument(operand.getOperandNumber()).getType();
      if (&operand == &init)
        arguments[number].push_back(sofar[number]);
      else if (Value known = ofRow.lookup(&operand))
        arguments[number].push_back(known);
      else if (op.payloadUsesValueFromOperand(&operand))
        arguments[number].push_back(read(operand, number, mask));
      else
        arguments[number].push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
    }
  }
  return cloneInterleaved(b, loc, body, arguments, plan.length);
}

void xetile::emitVectorLoops(RewriterBase &rewriter, linalg::LinalgOp op, const VectorPlan &plan) {
  Emitter(rewriter, op, plan).emit();
}
