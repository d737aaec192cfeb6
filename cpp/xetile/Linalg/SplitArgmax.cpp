//===- SplitArgmax.cpp - argmax and argmin as two reductions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg.generic that carries the largest (or smallest) element and its index. Out: one that
// reduces the elements, and one that reduces the indices of those that are equal. Refused: nothing;
// others stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/NeutralValue.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SPLITARGMAX
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// The number that all elements start from; null if they do not, or it is not known.
static Attribute startOf(Value init) {
  Attribute value;
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    matchPattern(fill.getInputs()[0], m_Constant(&value));
  else if (matchPattern(init, m_Constant(&value)))
    value = isa<SplatElementsAttr>(value)
                ? cast<SplatElementsAttr>(value).getSplatValue<Attribute>()
                : Attribute();
  return value;
}

/// True if `compare` prefers its first operand, as the combining kind `kind` does.
static bool prefersFirst(Operation *compare, vector::CombiningKind kind) {
  using vector::CombiningKind;
  if (auto floats = dyn_cast<arith::CmpFOp>(compare))
    return (kind == CombiningKind::MAXIMUMF &&
            floats.getPredicate() == arith::CmpFPredicate::OGT) ||
           (kind == CombiningKind::MINIMUMF && floats.getPredicate() == arith::CmpFPredicate::OLT);
  auto integers = dyn_cast<arith::CmpIOp>(compare);
  if (!integers)
    return false;
  switch (integers.getPredicate()) {
  case arith::CmpIPredicate::sgt:
    return kind == CombiningKind::MAXSI;
  case arith::CmpIPredicate::slt:
    return kind == CombiningKind::MINSI;
  case arith::CmpIPredicate::ugt:
    return kind == CombiningKind::MAXUI;
  case arith::CmpIPredicate::ult:
    return kind == CombiningKind::MINUI;
  default:
    return false;
  }
}

/// True if `value` is the index of the reduction dimension of `op`. With an extent of one it is the
/// constant 0.
static bool isReducedIndex(Value value, linalg::GenericOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  if (matchPattern(value, m_Zero()))
    return op.getStaticLoopRanges()[reduced.front()] == 1;
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  auto index = cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  return index && index.getDim() == reduced.front();
}

/// The op that chooses elements, if `op` carries the chosen one and its index along its only
/// reduced loop, from no element on.
static Operation *matchArgmax(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumResults() != 2 || op.getNumReductionLoops() != 1)
    return nullptr;
  Block *block = op.getBody();
  Value in = block->getArgument(0), best = block->getArgument(1), at = block->getArgument(2);
  Operation *yield = block->getTerminator();
  Operation *chooser = yield->getOperand(0).getDefiningOp();
  auto select = yield->getOperand(1).getDefiningOp<arith::SelectOp>();
  if (!chooser || !select || chooser->getNumOperands() != 2 || select.getFalseValue() != at)
    return nullptr;
  std::optional<vector::CombiningKind> kind = linalg::getCombinerOpKind(chooser);
  auto readsBoth = [&](Operation *each) {
    return llvm::is_contained(each->getOperands(), in) &&
           llvm::is_contained(each->getOperands(), best);
  };
  Operation *compare = select.getCondition().getDefiningOp();
  if (!kind || !readsBoth(chooser) || !compare || compare->getNumOperands() != 2 ||
      compare->getOperand(0) != in || compare->getOperand(1) != best ||
      !prefersFirst(compare, *kind))
    return nullptr;
  // Narrow indices may wrap around: the first is not the least.
  if (at.getType().getIntOrFloatBitWidth() < 32 || !isReducedIndex(select.getTrueValue(), op))
    return nullptr;
  Attribute neutral = xetile::getNeutralValue(*kind, in.getType());
  auto zero = dyn_cast_or_null<IntegerAttr>(startOf(op.getOutputs()[1]));
  bool isFresh = startOf(op.getOutputs()[0]) == neutral && zero && zero.getValue().isZero();
  return isFresh ? chooser : nullptr;
}

/// The first index whose element is the best one, or is NaN where the best one is.
static Value reduceIndices(RewriterBase &b, linalg::GenericOp op, Value best) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult(1).getType());
  auto element = cast<IntegerType>(type.getElementType());
  TypedAttr none = b.getIntegerAttr(element, APInt::getSignedMaxValue(element.getWidth()));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  Value start = arith::ConstantOp::create(b, loc, none);
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, op.getOutputs()[1]), element);
  Value init = linalg::FillOp::create(b, loc, start, empty).getResult(0);
  auto indices = linalg::GenericOp::create(
      b, loc, type, ValueRange{op.getInputs()[0], best}, init, maps, op.getIteratorTypesArray(),
      [&](OpBuilder &body, Location where, ValueRange arguments) {
        Value in = arguments[0], hit;
        if (isa<FloatType>(in.getType())) {
          Value same =
              arith::CmpFOp::create(body, where, arith::CmpFPredicate::OEQ, in, arguments[1]);
          Value nan = arith::CmpFOp::create(body, where, arith::CmpFPredicate::UNO, in, in);
          hit = arith::OrIOp::create(body, where, same, nan);
        } else {
          hit = arith::CmpIOp::create(body, where, arith::CmpIPredicate::eq, in, arguments[1]);
        }
        Value index = linalg::IndexOp::create(body, where, reduced.front());
        index = arith::IndexCastOp::create(body, where, element, index);
        Value other = arith::ConstantOp::create(body, where, none);
        index = arith::SelectOp::create(body, where, hit, index, other);
        Value first = arith::MinSIOp::create(body, where, index, arguments[2]);
        linalg::YieldOp::create(body, where, first);
      });
  return indices.getResult(0);
}

static void split(RewriterBase &b, linalg::GenericOp op, Operation *chooser) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto values = linalg::GenericOp::create(
      b, op.getLoc(), op.getResult(0).getType(), op.getInputs(), op.getOutputs()[0],
      ArrayRef(maps).take_front(2), op.getIteratorTypesArray(),
      [&](OpBuilder &body, Location where, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(op.getBody()->getArguments().take_front(2), arguments);
        linalg::YieldOp::create(body, where, body.clone(*chooser, mapping)->getResult(0));
      });
  Value best = values.getResult(0);
  b.replaceOp(op, {best, reduceIndices(b, op, best)});
}

namespace {
struct SplitArgmax : xetile::impl::SplitArgmaxBase<SplitArgmax> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      rewriter.setInsertionPoint(op);
      if (Operation *chooser = matchArgmax(op))
        split(rewriter, op, chooser);
    }
  }
};
} // namespace
