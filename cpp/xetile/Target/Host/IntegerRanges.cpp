//===- IntegerRanges.cpp - what numbers a value may be ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: integers and indices of functions on tensors. Out: the least and the greatest number that
// each may be. Refused: nothing; all numbers of its type where no more is known.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/IntegerRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xetile;

/// Of values that are computed from one another: what is further away is any number.
static constexpr unsigned kDepth = 24;
/// Of a constant tensor: more elements are not looked at.
static constexpr int64_t kElements = 1 << 16;

static ConstantIntRanges anyOf(Type type) {
  return ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(type));
}

static ConstantIntRanges indicesBelow(int64_t size) {
  int64_t last = ShapedType::isDynamic(size) ? std::numeric_limits<int64_t>::max()
                                             : std::max<int64_t>(size, 1) - 1;
  return ConstantIntRanges::fromSigned(APInt(64, 0), APInt(64, last));
}

ConstantIntRanges IntegerRanges::of(Value value, unsigned depth) {
  if (auto found = assumed.find(value); found != assumed.end())
    return found->second;
  if (depth > kDepth || !value.getType().isIntOrIndex())
    return anyOf(value.getType());
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument, depth + 1);
  return ofResult(cast<OpResult>(value), depth + 1);
}

ConstantIntRanges IntegerRanges::ofArgument(BlockArgument argument, unsigned depth) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(parent)) {
    OpOperand *operand = linalgOp.getMatchingOpOperand(argument);
    // The range of an accumulator is not that of its init value.
    bool begins = linalgOp.isDpsInit(operand) && linalgOp.getNumReductionLoops() != 0;
    if (!begins && isa<RankedTensorType>(operand->get().getType()))
      return ofElements(operand->get(), depth);
    return begins ? anyOf(argument.getType()) : of(operand->get(), depth);
  }
  if (auto loop = dyn_cast<scf::ForOp>(parent); loop && argument == loop.getInductionVar()) {
    ConstantIntRanges low = of(loop.getLowerBound(), depth), high = of(loop.getUpperBound(), depth);
    // The last index is less than the bound; a loop that does not run has none.
    if (high.smax().isMinSignedValue() || low.smin().sgt(high.smax() - 1))
      return anyOf(argument.getType());
    return ConstantIntRanges::fromSigned(low.smin(), high.smax() - 1);
  }
  return anyOf(argument.getType());
}

ConstantIntRanges IntegerRanges::ofResult(OpResult result, unsigned depth) {
  Operation *op = result.getOwner();
  if (isa<arith::SelectOp>(op))
    return ofSelect(op, depth);
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    auto linalgOp = op->getParentOfType<linalg::LinalgOp>();
    return indicesBelow(linalgOp.getStaticLoopRanges()[index.getDim()]);
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return ofElements(extract.getTensor(), depth);
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return ConstantIntRanges::fromSigned(APInt(64, 0), APInt::getSignedMaxValue(64));
  auto rules = dyn_cast<InferIntRangeInterface>(op);
  if (!rules || !llvm::all_of(op->getOperandTypes(), [](Type type) { return type.isIntOrIndex(); }))
    return anyOf(result.getType());
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands())
    operands.push_back(of(operand, depth));
  ConstantIntRanges found = anyOf(result.getType());
  rules.inferResultRanges(operands, [&](Value value, const ConstantIntRanges &range) {
    if (value == result)
      found = range;
  });
  return found;
}

/// The part of `range` that satisfies the comparison with `bound`; nothing if it is empty.
static std::optional<ConstantIntRanges> restrict(const ConstantIntRanges &range,
                                                 arith::CmpIPredicate predicate,
                                                 const APInt &bound) {
  using Predicate = arith::CmpIPredicate;
  APInt low = range.smin(), high = range.smax();
  if ((predicate == Predicate::slt && bound.isMinSignedValue()) ||
      (predicate == Predicate::sgt && bound.isMaxSignedValue()))
    return std::nullopt;
  if (predicate == Predicate::slt)
    high = llvm::APIntOps::smin(high, bound - 1);
  else if (predicate == Predicate::sle)
    high = llvm::APIntOps::smin(high, bound);
  else if (predicate == Predicate::sgt)
    low = llvm::APIntOps::smax(low, bound + 1);
  else if (predicate == Predicate::sge)
    low = llvm::APIntOps::smax(low, bound);
  if (low.sgt(high))
    return std::nullopt;
  return ConstantIntRanges::fromSigned(low, high).intersection(range);
}

ConstantIntRanges IntegerRanges::ofSelect(Operation *op, unsigned depth) {
  auto select = cast<arith::SelectOp>(op);
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  APInt bound;
  if (!compare || !matchPattern(compare.getRhs(), m_ConstantInt(&bound)))
    return of(select.getTrueValue(), depth).rangeUnion(of(select.getFalseValue(), depth));
  Value compared = compare.getLhs();
  ConstantIntRanges before = of(compared, depth);
  std::optional<ConstantIntRanges> all;
  for (auto [value, predicate] :
       {std::pair(select.getTrueValue(), compare.getPredicate()),
        std::pair(select.getFalseValue(), arith::invertPredicate(compare.getPredicate()))}) {
    std::optional<ConstantIntRanges> here = restrict(before, predicate, bound);
    if (!here)
      continue;
    auto outer = assumed;
    assumed.insert_or_assign(compared, *here);
    ConstantIntRanges range = of(value, depth);
    assumed = outer;
    all = all ? all->rangeUnion(range) : range;
  }
  return all.value_or(anyOf(select.getType()));
}

ConstantIntRanges IntegerRanges::ofElements(Value tensor, unsigned depth) {
  Type element = getElementTypeOrSelf(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  if (depth > kDepth || !op || !element.isIntOrIndex())
    return anyOf(element);
  DenseIntElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant)) && !constant.empty() &&
      (constant.isSplat() || constant.getNumElements() <= kElements)) {
    ConstantIntRanges all = ConstantIntRanges::constant(*constant.value_begin<APInt>());
    if (!constant.isSplat())
      for (const APInt &value : constant.getValues<APInt>())
        all = all.rangeUnion(ConstantIntRanges::constant(value));
    return all;
  }
  if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ExtractSliceOp,
          tensor::ReshapeOp>(op))
    return ofElements(op->getOperand(0), depth + 1);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    ConstantIntRanges all = ofElements(concat.getInputs()[0], depth + 1);
    for (Value input : concat.getInputs().drop_front())
      all = all.rangeUnion(ofElements(input, depth + 1));
    return all;
  }
  // Those that are computed in no order, each of them.
  auto generic = dyn_cast<linalg::GenericOp>(op);
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  if (!generic || generic.getNumReductionLoops() != 0 ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(number)).isPermutation())
    return anyOf(element);
  // Assumptions hold for this element only.
  auto outer = std::exchange(assumed, llvm::DenseMap<Value, ConstantIntRanges>());
  ConstantIntRanges range = of(generic.getBlock()->getTerminator()->getOperand(number), depth + 1);
  assumed = std::move(outer);
  return range;
}
