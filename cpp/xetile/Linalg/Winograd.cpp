//===- Winograd.cpp - Winograd's transforms as sums of products ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg.winograd_filter_transform, _input_transform, _output_transform of floats. Out: for
// each dimension that is transformed a linalg.generic that multiplies by a matrix. Refused: sizes
// known at run time only, integers.
//
// Upstream takes each to loops around matmuls of one tile, one after the other; kernels compute all
// tiles at once. The matrices are upstream's, read from what it makes of one tile: those of other
// ops of a convolution fit only so.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Winograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "xetile/Linalg/CastElements.h"

using namespace mlir;

namespace {

/// By what one dimension is multiplied: `matrix[from, to]`, and a number.
struct Factor {
  DenseElementsAttr matrix;
  FloatAttr scale;
};

/// An op of the kind of `like` along columns alone, of one tile; `type` has one size in each other
/// dimension.
Operation *makeForOneTile(OpBuilder &b, Operation *like, Type element) {
  Location loc = like->getLoc();
  auto empty = [&](ArrayRef<int64_t> shape) -> Value {
    return tensor::EmptyOp::create(b, loc, shape, element);
  };
  auto sizes = [](linalg::WinogradConv2DFmr fmr) {
    auto [m, r] = linalg::getFmrFromWinogradConv2DFmr(fmr);
    return std::tuple(m, r, m + r - 1);
  };
  if (auto op = dyn_cast<linalg::WinogradFilterTransformOp>(like)) {
    auto [m, r, alpha] = sizes(op.getFmr());
    Value to = empty({1, alpha, 1, 1});
    return linalg::WinogradFilterTransformOp::create(b, loc, to.getType(), empty({1, 1, r, 1}), to,
                                                     op.getFmr());
  }
  if (auto op = dyn_cast<linalg::WinogradInputTransformOp>(like)) {
    auto [m, r, alpha] = sizes(op.getFmr());
    Value to = empty({1, alpha, 1, 1, 1, 1});
    return linalg::WinogradInputTransformOp::create(b, loc, to.getType(), empty({1, 1, alpha, 1}),
                                                    to, op.getFmr());
  }
  auto op = cast<linalg::WinogradOutputTransformOp>(like);
  auto [m, r, alpha] = sizes(op.getFmr());
  Value to = empty({1, 1, m, 1});
  return linalg::WinogradOutputTransformOp::create(b, loc, to.getType(),
                                                   empty({1, alpha, 1, 1, 1, 1}), to, op.getFmr());
}

LogicalResult decomposeForOneTile(RewriterBase &b, Operation *op) {
  if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op))
    return linalg::decomposeWinogradFilterTransformOp(b, filter);
  if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op))
    return linalg::decomposeWinogradInputTransformOp(b, input);
  return linalg::decomposeWinogradOutputTransformOp(b, cast<linalg::WinogradOutputTransformOp>(op));
}

/// The factor of upstream, as elements of type `element`; nothing where it does otherwise.
std::optional<Factor> factorOf(Operation *op, Type element) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(op->getLoc()));
  IRRewriter b(op->getContext());
  b.setInsertionPointToStart(module->getBody());
  Operation *one = makeForOneTile(b, op, element);
  b.setInsertionPoint(one);
  if (failed(decomposeForOneTile(b, one)))
    return std::nullopt;
  Factor factor;
  bool isKnown = true;
  module->walk([&](arith::ConstantOp constant) {
    if (auto matrix = dyn_cast<DenseElementsAttr>(constant.getValue())) {
      isKnown &= !factor.matrix;
      factor.matrix = matrix;
    }
    if (auto number = dyn_cast<FloatAttr>(constant.getValue());
        number && !number.getValue().isZero()) {
      isKnown &= !factor.scale;
      factor.scale = number;
    }
  });
  return isKnown && factor.matrix ? std::optional(factor) : std::nullopt;
}

/// One transform on its way.
class Transform {
public:
  Transform(RewriterBase &b, Operation *op, Type sums, Factor factor)
      : b(b), loc(op->getLoc()), sums(sums), factor(factor) {
    matrix = arith::ConstantOp::create(b, loc, factor.matrix);
  }

  Value filter(linalg::WinogradFilterTransformOp op);
  Value input(linalg::WinogradInputTransformOp op);
  Value output(linalg::WinogradOutputTransformOp op);

private:
  AffineExpr loop(unsigned number) { return b.getAffineDimExpr(number); }
  /// The tensor of `shape` whose elements are sums over one more loop, of the matrix at that loop
  /// and loop `to`, and of `source` at `read`.
  Value multiply(Value source, ArrayRef<AffineExpr> read, unsigned to, ArrayRef<int64_t> shape);
  Value scaled(Value value, Value onto, bool twice);

  RewriterBase &b;
  Location loc;
  Type sums;
  Factor factor;
  Value matrix;
};

Value Transform::multiply(Value source, ArrayRef<AffineExpr> read, unsigned to,
                          ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sums));
  Value empty = tensor::EmptyOp::create(b, loc, shape, sums);
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  MLIRContext *context = b.getContext();
  SmallVector<AffineMap> maps{
      AffineMap::get(rank + 1, 0, read, context),
      AffineMap::get(rank + 1, 0, {loop(rank), loop(to)}, context),
      AffineMap::getMultiDimIdentityMap(rank + 1, context).getMajorSubMap(rank)};
  auto generic = linalg::GenericOp::create(
      b, loc, init.getType(), ValueRange{source, matrix}, init, maps, kinds,
      [&](OpBuilder &body, Location where, ValueRange arguments) {
        Value element = arguments[0];
        if (element.getType() != sums)
          element = arith::ExtFOp::create(body, where, sums, element);
        Value product = arith::MulFOp::create(body, where, element, arguments[1]);
        Value sum = arith::AddFOp::create(body, where, arguments[2], product);
        linalg::YieldOp::create(body, where, sum);
      });
  return generic.getResult(0);
}

/// F[f, i, j, c] -> [a, b, c, f]
Value Transform::filter(linalg::WinogradFilterTransformOp op) {
  ArrayRef<int64_t> from = op.getFilterOperandType().getShape(),
                    to = op.getOutputOperandType().getShape();
  Value value = op.getFilter();
  AffineExpr reduced = loop(4);
  SmallVector<AffineExpr> read{loop(3), loop(0), loop(1), loop(2)};
  if (from[1] != 1) {
    read[1] = reduced;
    value = multiply(value, read, 0, {to[0], from[2], to[2], to[3]});
    read = {loop(0), loop(1), loop(2), loop(3)};
  }
  if (from[2] != 1) {
    *llvm::find(read, loop(1)) = reduced;
    value = multiply(value, read, 1, to);
  }
  return value;
}

/// X[n, y, x, c] -> [a, b, h, w, n, c], with y = h * m + i, x = w * m + j
Value Transform::input(linalg::WinogradInputTransformOp op) {
  ArrayRef<int64_t> from = op.getInputOperandType().getShape(),
                    to = op.getOutputOperandType().getShape();
  int64_t m = linalg::getFmrFromWinogradConv2DFmr(op.getFmr()).first;
  Value value = op.getInput();
  AffineExpr reduced = loop(6);
  SmallVector<AffineExpr> read{loop(4), loop(2), loop(3), loop(5)};
  unsigned column = 2;
  if (to[0] != 1) {
    read[1] = loop(2) * m + reduced;
    // Columns are what they were.
    value = multiply(value, read, 0, {to[0], 1, to[2], from[2], to[4], to[5]});
    read = {loop(0), b.getAffineConstantExpr(0), loop(2), loop(3), loop(4), loop(5)};
    column = 3;
    if (to[1] == 1)
      return value;
  }
  read[column] = loop(3) * m + reduced;
  return multiply(value, read, 1, to);
}

/// V[a, b, h, w, n, f] -> [n, h * m + p, w * m + q, f], by way of [n, h, p, w, q, f]
Value Transform::output(linalg::WinogradOutputTransformOp op) {
  ArrayRef<int64_t> from = op.getValueOperandType().getShape();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t m = linalg::getFmrFromWinogradConv2DFmr(op.getFmr()).first;
  bool rows = from[0] != 1, columns = from[1] != 1;
  SmallVector<int64_t> shape{from[4], from[2], rows ? m : 1, from[3], columns ? m : 1, from[5]};
  Value value = op.getValue();
  AffineExpr reduced = loop(6);
  SmallVector<AffineExpr> read{loop(2), loop(4), loop(1), loop(3), loop(0), loop(5)};
  if (rows) {
    SmallVector<int64_t> half(shape);
    half[4] = from[1];
    read[0] = reduced;
    value = multiply(value, read, 2, half);
    read = {loop(0), loop(1), loop(2), loop(3), loop(4), loop(5)};
  }
  if (columns) {
    *llvm::find(read, loop(4)) = reduced;
    value = multiply(value, read, 4, shape);
  }
  SmallVector<ReassociationIndices> groups{{0}, {1, 2}, {3, 4}, {5}};
  auto whole = RankedTensorType::get(type.getShape(), sums);
  value = tensor::CollapseShapeOp::create(b, loc, whole, value, groups);
  return scaled(value, op.getOutput(), rows && columns);
}

/// `value` times the scale of each dimension that was transformed, added to `onto`.
Value Transform::scaled(Value value, Value onto, bool twice) {
  auto type = cast<RankedTensorType>(onto.getType());
  Type element = type.getElementType();
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), element);
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, type, ValueRange{value, onto}, empty, {map, map, map}, kinds,
      [&](OpBuilder &body, Location where, ValueRange arguments) {
        Value result = arguments[0], before = arguments[1];
        for (int times = factor.scale ? (twice ? 2 : 1) : 0; times > 0; --times) {
          Value scale = arith::ConstantOp::create(body, where, factor.scale);
          result = arith::MulFOp::create(body, where, result, scale);
        }
        if (element != sums)
          before = arith::ExtFOp::create(body, where, sums, before);
        result = arith::AddFOp::create(body, where, result, before);
        if (element != sums)
          result = arith::TruncFOp::create(body, where, element, result);
        linalg::YieldOp::create(body, where, result);
      });
  return generic.getResult(0);
}

} // namespace

bool xetile::isWinogradTransform(Operation *op) {
  return isa<linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp,
             linalg::WinogradOutputTransformOp>(op);
}

LogicalResult xetile::decomposeWinograd(RewriterBase &b, Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool isStatic = llvm::all_of(op->getOperandTypes(),
                               [](Type each) { return cast<ShapedType>(each).hasStaticShape(); });
  if (!isStatic)
    return op->emitOpError() << "has sizes that are known at run time only: expected static ones; "
                                "compile it for each size";
  Type element = type.getElementType();
  if (!isa<FloatType>(element))
    return op->emitOpError() << "has elements of " << element
                             << ": expected floats, as the matrices have fractions";
  Type sums = element.getIntOrFloatBitWidth() < 32 ? Type(b.getF32Type()) : element;
  std::optional<Factor> factor = factorOf(op, sums);
  if (!factor)
    return op->emitOpError() << "has a transform that is not known";
  Transform transform(b, op, sums, *factor);
  Value value;
  if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op))
    value = transform.filter(filter);
  else if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op))
    value = transform.input(input);
  else
    value = transform.output(cast<linalg::WinogradOutputTransformOp>(op));
  if (getElementTypeOrSelf(value) != element)
    value = castElements(b, op->getLoc(), value, element);
  b.replaceOp(op, value);
  return success();
}
