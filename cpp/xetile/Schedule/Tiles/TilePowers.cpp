//===- TilePowers.cpp - exponentials as the machine has them ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a vector of exponents, maybe a product less something of each row. Out: exp of it as exp2 of
// one fused multiply and add; a maximum of products as a product of the maximum. Refused: nothing.
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Tiles/TileWriter.h"

using namespace mlir;

namespace xetile::transform_ops {

/// `vector` without the product with a constant that it is, and that constant; 1 where it is none.
static Value withoutFactor(Value vector, APFloat &factor) {
  auto product = vector.getDefiningOp<arith::MulFOp>();
  DenseElementsAttr constant;
  if (!product || !matchPattern(product.getRhs(), m_Constant(&constant)) || !constant.isSplat())
    return vector;
  factor = constant.getSplatValue<APFloat>();
  return product.getLhs();
}

/// True if `vector` is only products of narrow floats or minus infinity: no element is finite and
/// so low that its product with log2(e) is not, as those of additive masks may be.
static bool isModest(Value vector) {
  APFloat factor(1.0f);
  Value x = withoutFactor(vector, factor);
  if (isa_and_present<TileMmaOp>(x.getDefiningOp()))
    return true;
  DenseElementsAttr constant;
  if (matchPattern(x, m_Constant(&constant)))
    return constant.isSplat() && constant.getSplatValue<APFloat>().isInfinity();
  auto select = x.getDefiningOp<arith::SelectOp>();
  return select && isModest(select.getTrueValue()) && isModest(select.getFalseValue());
}

/// exp(x - r) is exp2(x * log2(e) - r * log2(e)), where products of rows are few. Its error is that
/// of the exponents in f32, far below the step of the narrow floats that the matrix unit reads.
Value TileWriter::power(Value exponent) {
  auto type = cast<VectorType>(exponent.getType());
  APFloat log2e(1.4426950408889634f);
  auto splatLike = [&](const APFloat &value, Value like) {
    auto shape = cast<VectorType>(like.getType()).getShape();
    return splat(b.getFloatAttr(b.getF32Type(), value), shape);
  };
  auto difference = exponent.getDefiningOp<arith::SubFOp>();
  auto rows = difference ? difference.getRhs().getDefiningOp<TileBroadcastOp>() : TileBroadcastOp();
  if (!rows || !isModest(difference.getLhs())) {
    Value scaled = arith::MulFOp::create(b, loc, exponent, splatLike(log2e, exponent));
    return math::Exp2Op::create(b, loc, scaled);
  }
  APFloat factor(1.0f);
  Value x = withoutFactor(difference.getLhs(), factor);
  APFloat negated = log2e;
  negated.changeSign();
  // Rows of nothing but minus infinity so far: their product with log2(e) is a number, too.
  Value ofRow = rows.getVector();
  Value number = arith::MaxNumFOp::create(b, loc, ofRow, splatLike(APFloat(-1.0e38f), ofRow));
  Value subtracted = arith::MulFOp::create(b, loc, number, splatLike(negated, ofRow));
  Value fused = math::FmaOp::create(b, loc, x, splatLike(factor * log2e, x),
                                    repeat(subtracted, type.getShape()));
  return math::Exp2Op::create(b, loc, fused);
}

/// exp2(x * c - r) with one fused multiply and add; null where the exponent is no such.
Value TileWriter::binaryPower(Value exponent) {
  auto difference = exponent.getDefiningOp<arith::SubFOp>();
  auto rows = difference ? difference.getRhs().getDefiningOp<TileBroadcastOp>() : TileBroadcastOp();
  APFloat factor(1.0f);
  Value x = rows ? withoutFactor(difference.getLhs(), factor) : Value();
  if (!rows || x == difference.getLhs())
    return {};
  auto shape = cast<VectorType>(exponent.getType()).getShape();
  Value negated = arith::NegFOp::create(b, loc, rows.getVector());
  Value fused = math::FmaOp::create(b, loc, x, splat(b.getFloatAttr(b.getF32Type(), factor), shape),
                                    repeat(negated, shape));
  return math::Exp2Op::create(b, loc, fused);
}

/// A product of a product with constants, or of one where a mask is set and of an infinity
/// elsewhere, as one with one constant; null for others.
Value TileWriter::product(Value vector, Value factor) {
  DenseElementsAttr constant;
  if (!matchPattern(factor, m_Constant(&constant)) || !constant.isSplat())
    return {};
  APFloat by = constant.getSplatValue<APFloat>();
  auto splatFor = [&](const APFloat &value, Value like) {
    return splat(b.getFloatAttr(b.getF32Type(), value),
                 cast<VectorType>(like.getType()).getShape());
  };
  APFloat before(1.0f);
  if (Value x = withoutFactor(vector, before); x != vector)
    return arith::MulFOp::create(b, loc, x, splatFor(before * by, x));
  auto masked = vector.getDefiningOp<arith::SelectOp>();
  if (!masked || by.isNegative() || !by.isFiniteNonZero() ||
      !matchPattern(masked.getFalseValue(), m_Constant(&constant)) || !constant.isSplat() ||
      !constant.getSplatValue<APFloat>().isInfinity())
    return {};
  Value x = masked.getTrueValue(), scaled = product(x, factor);
  if (!scaled)
    scaled = arith::MulFOp::create(b, loc, x, splatFor(by, x));
  return arith::SelectOp::create(b, loc, masked.getCondition(), scaled, masked.getFalseValue());
}

/// The other factor if `vector` is a product with a positive constant, else null. Rounding is
/// monotonic: the largest product is the product of the largest.
Value TileWriter::withoutPositiveFactor(Value vector, TypedAttr &factor) {
  APFloat value(1.0f);
  if (!cast<VectorType>(vector.getType()).getElementType().isF32())
    return {};
  Value x = withoutFactor(vector, value);
  if (x == vector || value.isNegative() || !value.isFiniteNonZero())
    return {};
  factor = b.getFloatAttr(b.getF32Type(), value);
  return x;
}

} // namespace xetile::transform_ops
