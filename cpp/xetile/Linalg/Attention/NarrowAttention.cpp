//===- NarrowAttention.cpp - products of attention on narrow floats -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function of an attention as simplifyAttention leaves it. Out: contractions of f16 and bf16
// that had been extended, what they were multiplied with behind them, and powers rounded to the
// type of values, as PyTorch's fused kernels do. Refused: nothing; others stay as they are.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Linalg/Attention/AttentionOps.h"

using namespace mlir;
using namespace xetile;

namespace {
/// A tensor of narrow floats, how it is indexed, and what its elements were multiplied with.
struct Narrow {
  Value tensor;
  AffineMap map;
  double factor = 1;
};
} // namespace

static std::optional<double> constantOf(Value scalar) {
  APFloat value(0.0f);
  if (auto round = scalar.getDefiningOp<arith::TruncFOp>())
    return constantOf(round.getIn());
  if (!matchPattern(scalar, m_ConstantFloat(&value)))
    return std::nullopt;
  return value.convertToDouble();
}

static bool isNarrow(Type type) { return isa<Float16Type, BFloat16Type>(type); }

/// The narrow source of a contraction's operand: before extension and constant factors.
static std::optional<Narrow> narrowOf(linalg::GenericOp contraction, unsigned operand) {
  Narrow found{contraction->getOperand(operand), contraction.getIndexingMapsArray()[operand]};
  while (auto op = found.tensor.getDefiningOp<linalg::GenericOp>()) {
    AffineMap written = op.getIndexingMapsArray().back();
    if (op.getNumParallelLoops() != op.getNumLoops() || op.getNumDpsInputs() != 1 ||
        op->getNumResults() != 1 || !written.isPermutation() ||
        !op.getIndexingMapsArray()[0].isProjectedPermutation())
      return std::nullopt;
    Value scalar = op.getBody()->getTerminator()->getOperand(0);
    bool extended = false;
    while (Operation *by = scalar.getDefiningOp()) {
      std::optional<double> factor;
      if (isa<arith::MulFOp>(by))
        factor = constantOf(by->getOperand(1));
      extended |= isa<arith::ExtFOp>(by);
      if (!factor && !(isa<arith::ExtFOp>(by) && isNarrow(by->getOperand(0).getType())))
        return std::nullopt;
      found.factor *= factor.value_or(1);
      scalar = by->getOperand(0);
    }
    if (scalar != op.getBody()->getArgument(0))
      return std::nullopt;
    found.map =
        op.getIndexingMapsArray()[0].compose(inversePermutation(written)).compose(found.map);
    found.tensor = op->getOperand(0);
    if (extended)
      return found;
  }
  return std::nullopt;
}

/// An op that computes each element of `tensor` anew.
static Value createElementwise(OpBuilder &b, Location loc, Value tensor, Type element,
                               llvm::function_ref<Value(OpBuilder &, Value)> body) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), element);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  auto op =
      linalg::GenericOp::create(b, loc, TypeRange(empty.getType()), ValueRange(tensor),
                                ValueRange(empty), ArrayRef<AffineMap>{identity, identity}, kinds,
                                [&](OpBuilder &inside, Location at, ValueRange values) {
                                  linalg::YieldOp::create(inside, at, body(inside, values[0]));
                                });
  return op.getResult(0);
}

/// The same contraction of `inputs`, extended in its body.
static Value multiply(OpBuilder &b, linalg::GenericOp like, ArrayRef<Narrow> inputs) {
  SmallVector<AffineMap> maps{inputs[0].map, inputs[1].map, like.getIndexingMapsArray()[2]};
  auto op = linalg::GenericOp::create(
      b, like.getLoc(), like->getResultTypes(), ValueRange{inputs[0].tensor, inputs[1].tensor},
      like.getOutputs(), maps, like.getIteratorTypesArray(),
      [&](OpBuilder &inside, Location at, ValueRange values) {
        Type wide = values[2].getType();
        Value x = arith::ExtFOp::create(inside, at, wide, values[0]),
              y = arith::ExtFOp::create(inside, at, wide, values[1]);
        Value product = arith::MulFOp::create(inside, at, x, y);
        Value sum = arith::AddFOp::create(inside, at, values[2], product);
        linalg::YieldOp::create(inside, at, sum);
      });
  return op.getResult(0);
}

void xetile::narrowAttention(func::FuncOp function) {
  SmallVector<linalg::GenericOp> contractions;
  for (auto op : function.front().getOps<linalg::GenericOp>())
    if (isContraction(op) && getElementTypeOrSelf(op.getResult(0).getType()).isF32() &&
        getElementTypeOrSelf(op->getOperand(0).getType()).isF32() &&
        getElementTypeOrSelf(op->getOperand(1).getType()).isF32())
      contractions.push_back(op);
  if (contractions.size() != 2)
    return;
  linalg::GenericOp scores = contractions[0], output = contractions[1];
  std::optional<Narrow> q = narrowOf(scores, 0), k = narrowOf(scores, 1), v = narrowOf(output, 1);
  auto typeOf = [](const Narrow &each) { return getElementTypeOrSelf(each.tensor.getType()); };
  if (!q || !k || !v || v->factor != 1 || typeOf(*q) != typeOf(*k) || typeOf(*q) != typeOf(*v))
    return;
  IRRewriter b(function.getContext());
  b.setInsertionPoint(scores);
  Value product = multiply(b, scores, {*q, *k});
  double factor = q->factor * k->factor;
  if (factor != 1)
    product = createElementwise(
        b, scores.getLoc(), product, b.getF32Type(), [&](OpBuilder &inside, Value x) -> Value {
          Value by = arith::ConstantOp::create(inside, scores.getLoc(),
                                               inside.getF32FloatAttr(static_cast<float>(factor)));
          return arith::MulFOp::create(inside, scores.getLoc(), x, by);
        });
  b.replaceOp(scores, product);
  b.setInsertionPoint(output);
  Value powers =
      createElementwise(b, output.getLoc(), output->getOperand(0), typeOf(*v),
                        [&](OpBuilder &inside, Value x) -> Value {
                          return arith::TruncFOp::create(inside, output.getLoc(), typeOf(*v), x);
                        });
  Narrow weights{powers, output.getIndexingMapsArray()[0]};
  Value result = multiply(b, output, {weights, *v});
  b.replaceOp(output, result);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (isOpTriviallyDead(&op))
      b.eraseOp(&op);
}
