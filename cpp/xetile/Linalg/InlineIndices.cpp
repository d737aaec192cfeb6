//===- InlineIndices.cpp - indices are computed where they are read ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg.generic on tensors. Out: what is computed of indices alone (positions, causal masks)
// is part of each op that reads it, and indices are compared as i32. Refused: nothing; what is
// read through reshapes that merge dimensions, or has functions of floats, stays.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Linalg/InFunction.h"
#include "xetile/Linalg/LinearIndex.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_INLINEINDICES
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// The constant that all elements of `tensor` have; null for others.
static TypedAttr splatOf(Value tensor) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return splatOf(fill.getInputs()[0]);
  TypedAttr constant;
  if (!matchPattern(tensor, m_Constant(&constant)))
    return {};
  auto elements = dyn_cast<DenseElementsAttr>(constant);
  if (!elements)
    return isa<IntegerAttr, FloatAttr>(constant) ? constant : TypedAttr();
  return elements.isSplat() ? elements.getSplatValue<TypedAttr>() : TypedAttr();
}

/// Integers, their comparisons, and what these select.
static bool isOfIntegers(Operation &op) {
  constexpr StringLiteral kTaken[] = {"addi",   "subi",       "muli",         "cmpi",     "cmpf",
                                      "andi",   "ori",        "xori",         "extsi",    "extui",
                                      "trunci", "index_cast", "index_castui", "constant", "extf",
                                      "truncf", "select"};
  return isa<linalg::IndexOp>(op) ||
         (isa<arith::ArithDialect>(op.getDialect()) && op.getNumResults() == 1 &&
          llvm::is_contained(kTaken, op.getName().stripDialect()));
}

/// True if elements of its result follow from their places alone, by a few operations.
static bool isOfIndices(linalg::GenericOp op) {
  constexpr unsigned kMost = 24;
  if (!op || !isInFunction(op) || !op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      !op.hasIndexSemantics() || op.getNumParallelLoops() != op.getNumLoops() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getIndexingMapsArray().back().isPermutation())
    return false;
  return llvm::all_of(op.getDpsInputOperands(),
                      [&](OpOperand *input) {
                        return op.getMatchingBlockArgument(input).use_empty() ||
                               splatOf(input->get());
                      }) &&
         op.getBody()->getOperations().size() <= kMost &&
         llvm::all_of(op.getBody()->without_terminator(), isOfIntegers);
}

/// Indices into what a reshape is of, by those into its result; false where dimensions of more than
/// one element are merged.
static bool throughReshape(Operation *reshape, SmallVector<AffineExpr> &indices) {
  auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape);
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape);
  auto wide = cast<RankedTensorType>(expand ? reshape->getResult(0).getType()
                                            : reshape->getOperand(0).getType());
  if (!wide.hasStaticShape())
    return false;
  AffineExpr zero = getAffineConstantExpr(0, reshape->getContext());
  auto groups = expand ? expand.getReassociationIndices() : collapse.getReassociationIndices();
  SmallVector<AffineExpr> inner(cast<RankedTensorType>(reshape->getOperand(0).getType()).getRank(),
                                zero);
  for (auto [i, group] : llvm::enumerate(groups)) {
    unsigned live = 0;
    int64_t step = 1;
    for (int64_t dim : llvm::reverse(group)) {
      if (wide.getDimSize(dim) != 1) {
        ++live;
        if (expand)
          inner[i] = inner[i] + indices[dim] * step;
        else
          inner[dim] = indices[i];
      }
      step *= wide.getDimSize(dim);
    }
    if (collapse && live > 1)
      return false;
  }
  indices = inner;
  return true;
}

/// The op of indices that an operand of `user` is a result of, and its loops by those of `user`.
static linalg::GenericOp producerOf(linalg::GenericOp user, OpOperand *operand,
                                    SmallVector<AffineExpr> &loops) {
  Value tensor = operand->get();
  SmallVector<AffineExpr> indices(user.getMatchingIndexingMap(operand).getResults());
  while (Operation *by = tensor.getDefiningOp()) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(by)) {
      if (!throughReshape(by, indices))
        return {};
      tensor = by->getOperand(0);
      continue;
    }
    auto op = dyn_cast<linalg::GenericOp>(by);
    if (!isOfIndices(op))
      return {};
    loops.assign(op.getNumLoops(), AffineExpr());
    for (auto [expr, index] :
         llvm::zip_equal(op.getIndexingMapsArray().back().getResults(), indices))
      loops[cast<AffineDimExpr>(expr).getPosition()] = index;
    return op;
  }
  return {};
}

/// An index of loops of the op whose body `b` writes; null for quotients.
static Value indexOf(OpBuilder &b, Location loc, AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return linalg::IndexOp::create(b, loc, dim.getPosition());
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(b, loc, constant.getValue());
  auto both = dyn_cast<AffineBinaryOpExpr>(expr);
  bool adds = expr.getKind() == AffineExprKind::Add;
  if (!both || !(adds || expr.getKind() == AffineExprKind::Mul))
    return {};
  Value left = indexOf(b, loc, both.getLHS()), right = indexOf(b, loc, both.getRHS());
  if (!left || !right)
    return {};
  return adds ? Value(arith::AddIOp::create(b, loc, left, right))
              : Value(arith::MulIOp::create(b, loc, left, right));
}

/// Computes what `operand` reads in the body of `user`.
static bool inlineOperand(RewriterBase &b, linalg::GenericOp user, OpOperand *operand) {
  SmallVector<AffineExpr> loops;
  linalg::GenericOp op = producerOf(user, operand, loops);
  BlockArgument argument = user.getMatchingBlockArgument(operand);
  if (!op || argument.use_empty())
    return false;
  b.setInsertionPointToStart(user.getBody());
  IRMapping map;
  for (OpOperand *input : op.getDpsInputOperands())
    if (!op.getMatchingBlockArgument(input).use_empty())
      map.map(op.getMatchingBlockArgument(input),
              arith::ConstantOp::create(b, op.getLoc(), splatOf(input->get())).getResult());
  SmallVector<Value> indices;
  for (AffineExpr loop : loops) {
    indices.push_back(indexOf(b, op.getLoc(), loop));
    if (!indices.back())
      return false;
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      map.map(index.getResult(), indices[index.getDim()]);
    else
      b.clone(inner, map);
  }
  Value result = map.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
  b.replaceAllUsesWith(argument, result);
  return true;
}

/// `index` without its constant as i32, of the terms that have the sign of `sign`.
static Value partOf(OpBuilder &b, Location loc, const LinearIndex &index, int64_t sign,
                    int64_t constant) {
  Value total;
  auto add = [&](Value term) {
    total = total ? Value(arith::AddIOp::create(b, loc, total, term)) : term;
  };
  for (auto [loop, factor] : llvm::enumerate(index.factors)) {
    if (factor * sign <= 0)
      continue;
    Value term = linalg::IndexOp::create(b, loc, loop);
    term = arith::IndexCastOp::create(b, loc, b.getI32Type(), term);
    if (factor * sign != 1)
      term = arith::MulIOp::create(
          b, loc, term,
          arith::ConstantOp::create(b, loc,
                                    b.getI32IntegerAttr(static_cast<int32_t>(factor * sign))));
    add(term);
  }
  if (constant != 0 || !total)
    add(arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(constant))));
  return total;
}

static bool isUnsigned(arith::CmpIPredicate predicate) {
  using Is = arith::CmpIPredicate;
  return llvm::is_contained({Is::ult, Is::ule, Is::ugt, Is::uge}, predicate);
}

static arith::CmpIPredicate withSign(arith::CmpIPredicate predicate) {
  using Is = arith::CmpIPredicate;
  switch (predicate) {
  case Is::ult:
    return Is::slt;
  case Is::ule:
    return Is::sle;
  case Is::ugt:
    return Is::sgt;
  case Is::uge:
    return Is::sge;
  default:
    return predicate;
  }
}

/// Compares what is added on one side with what is subtracted: each is the same for many elements,
/// and i32 is what GPUs compare in one instruction.
static bool compareNarrow(RewriterBase &b, linalg::GenericOp op, arith::CmpIOp compare) {
  std::optional<LinearIndex> left = linearIndexOf(op, compare.getLhs()),
                             right = linearIndexOf(op, compare.getRhs());
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (!left || !right || (isUnsigned(predicate) && (left->least < 0 || right->least < 0)))
    return false;
  LinearIndex difference = left->minus(*right);
  // Either side is at most two of these.
  constexpr int64_t kMost = int64_t(1) << 29;
  if (difference.least < -kMost || difference.most > kMost || std::abs(difference.constant) > kMost)
    return false;
  b.setInsertionPoint(compare);
  Location loc = compare.getLoc();
  Value added = partOf(b, loc, difference, 1, 0),
        subtracted = partOf(b, loc, difference, -1, -difference.constant);
  b.replaceOpWithNewOp<arith::CmpIOp>(compare, withSign(predicate), added, subtracted);
  return true;
}

/// A comparison of what was selected from two numbers, with a third: the condition, or its
/// opposite.
static bool compareSelected(RewriterBase &b, arith::CmpFOp compare) {
  auto select = compare.getLhs().getDefiningOp<arith::SelectOp>();
  APFloat yes(0.0f), no(0.0f), with(0.0f);
  if (!select || !select.getCondition().getType().isInteger(1) ||
      !matchPattern(select.getTrueValue(), m_ConstantFloat(&yes)) ||
      !matchPattern(select.getFalseValue(), m_ConstantFloat(&no)) ||
      !matchPattern(compare.getRhs(), m_ConstantFloat(&with)))
    return false;
  bool ifTrue = arith::applyCmpPredicate(compare.getPredicate(), yes, with),
       ifFalse = arith::applyCmpPredicate(compare.getPredicate(), no, with);
  b.setInsertionPoint(compare);
  if (ifTrue == ifFalse) {
    b.replaceOpWithNewOp<arith::ConstantOp>(compare, b.getBoolAttr(ifTrue));
    return true;
  }
  Value condition = select.getCondition();
  if (ifFalse) {
    auto of = condition.getDefiningOp<arith::CmpIOp>();
    Location loc = compare.getLoc();
    if (of)
      condition = arith::CmpIOp::create(b, loc, arith::invertPredicate(of.getPredicate()),
                                        of.getLhs(), of.getRhs());
    else
      condition = arith::XOrIOp::create(b, loc, condition,
                                        arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  }
  b.replaceOp(compare, condition);
  return true;
}

static void eraseDead(RewriterBase &b, linalg::GenericOp op) {
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*op.getBody())))
    if (isOpTriviallyDead(&inner))
      b.eraseOp(&inner);
}

namespace {
struct InlineIndices : xetile::impl::InlineIndicesBase<InlineIndices> {
  using InlineIndicesBase::InlineIndicesBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> changed;
    // In order: an op that read indices alone is one of them then.
    getOperation()->walk([&](linalg::GenericOp op) {
      if (!isInFunction(op) || !op.hasPureTensorSemantics())
        return;
      bool changes = false;
      for (OpOperand *operand : op.getDpsInputOperands())
        changes |= inlineOperand(rewriter, op, operand);
      for (auto compare : llvm::make_early_inc_range(op.getBody()->getOps<arith::CmpIOp>()))
        changes |= compareNarrow(rewriter, op, compare);
      for (auto compare : llvm::make_early_inc_range(op.getBody()->getOps<arith::CmpFOp>()))
        changes |= compareSelected(rewriter, compare);
      if (!changes)
        return;
      eraseDead(rewriter, op);
      changed.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    (void)applyOpPatternsGreedily(changed, std::move(patterns), plainRewrites());
  }
};
} // namespace
