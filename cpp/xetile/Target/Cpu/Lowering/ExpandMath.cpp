//===- ExpandMath.cpp - math ops by simpler ops ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: math ops that neither an instruction nor a function of libm computes, on scalars and vectors.
// Out: arith, scf.while and other math ops. Refused: nothing; the caller has checked types.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Lowering/ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xetile;

/// Powers with these exponents are products: at most three roundings.
static constexpr int64_t kMaxProduct = 4;

Type xetile::withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

StringRef xetile::functionOf(Operation *op) {
  StringRef name = op->getName().stripDialect();
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt"}, name)
      .Cases({"cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "log"}, name)
      .Cases({"log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"}, name)
      .Case("powf", "pow")
      .Default("");
}

bool xetile::readsBits(Operation *op) {
  return isa<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::IsNormalOp>(op);
}

namespace {

class Expander {
public:
  Expander(RewriterBase &rewriter, Operation *op) : b(rewriter), loc(op->getLoc()) {
    b.setInsertionPoint(op);
  }

  Value classify(Operation *op);
  Value clamp(math::ClampFOp op);
  Value rsqrt(math::RsqrtOp op);
  Value fpowi(math::FPowIOp op);
  Value ipowi(math::IPowIOp op);
  Value powf(math::PowFOp op);

private:
  Value constant(Type type, Attribute element) {
    TypedAttr value = cast<TypedAttr>(element);
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, element);
    return arith::ConstantOp::create(b, loc, value);
  }
  Value integer(Type type, int64_t value) {
    return constant(type, b.getIntegerAttr(getElementTypeOrSelf(type), value));
  }
  Value one(Type type) { return constant(type, b.getFloatAttr(getElementTypeOrSelf(type), 1.0)); }
  Value compare(arith::CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(b, loc, predicate, left, right);
  }
  Value isOdd(Value value) {
    Value low = arith::AndIOp::create(b, loc, value, integer(value.getType(), 1));
    return compare(arith::CmpIPredicate::ne, low, integer(value.getType(), 0));
  }
  Value bitsOf(Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    Type type = withElement(value.getType(), b.getIntegerType(element.getIntOrFloatBitWidth()));
    return arith::BitcastOp::create(b, loc, type, value);
  }
  /// `base` to a constant power; `multiply` takes two values to their product.
  Value product(Value base, APInt exponent, Value unit, function_ref<Value(Value, Value)> multiply);
  Value squareAndMultiply(Value base, Value exponent);

  RewriterBase &b;
  Location loc;
};

} // namespace

/// On integers: neither the options of a compiler nor the mode of a processor changes the answer.
Value Expander::classify(Operation *op) {
  Value bits = bitsOf(op->getOperand(0));
  Type type = bits.getType(), element = getElementTypeOrSelf(type);
  auto format = cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  const llvm::fltSemantics &semantics = format.getFloatSemantics();
  auto splat = [&](const APInt &value) { return constant(type, b.getIntegerAttr(element, value)); };
  APInt infinity = APFloat::getInf(semantics).bitcastToAPInt();
  Value magnitude =
      arith::AndIOp::create(b, loc, bits, splat(APInt::getSignedMaxValue(format.getWidth())));
  if (isa<math::IsNaNOp>(op))
    return compare(arith::CmpIPredicate::ugt, magnitude, splat(infinity));
  if (isa<math::IsInfOp>(op))
    return compare(arith::CmpIPredicate::eq, magnitude, splat(infinity));
  if (isa<math::IsFiniteOp>(op))
    return compare(arith::CmpIPredicate::ult, magnitude, splat(infinity));
  // One comparison: what is less than the least normal number wraps around.
  APInt least = APFloat::getSmallestNormalized(semantics).bitcastToAPInt();
  Value above = arith::SubIOp::create(b, loc, magnitude, splat(least));
  return compare(arith::CmpIPredicate::ult, above, splat(infinity - least));
}

/// Clamps as the operands' names say: upstream's description takes the minimum of the value and
/// `min`, so that every value between the limits would become `max`.
Value Expander::clamp(math::ClampFOp op) {
  Value low = arith::MaximumFOp::create(b, loc, op.getValue(), op.getMin());
  return arith::MinimumFOp::create(b, loc, low, op.getMax());
}

Value Expander::rsqrt(math::RsqrtOp op) {
  Value root = math::SqrtOp::create(b, loc, op.getOperand());
  return arith::DivFOp::create(b, loc, one(op.getType()), root);
}

Value Expander::product(Value base, APInt exponent, Value unit,
                        function_ref<Value(Value, Value)> multiply) {
  Value result, square = base;
  for (; !exponent.isZero(); exponent.lshrInPlace(1)) {
    if (exponent[0])
      result = result ? multiply(result, square) : square;
    if (exponent.getActiveBits() > 1)
      square = multiply(square, square);
  }
  return result ? result : unit;
}

/// By the function pow, of the base's magnitude and in f64: a loop of products would lose a bit
/// each time the exponent doubles. The sign is that of the base where the exponent is odd.
Value Expander::fpowi(math::FPowIOp op) {
  Value base = op.getLhs(), exponent = op.getRhs();
  APInt known;
  if (matchPattern(exponent, m_ConstantInt(&known)) && known.sle(kMaxProduct) && known.sge(0))
    return product(base, known, one(base.getType()), [&](Value left, Value right) -> Value {
      return arith::MulFOp::create(b, loc, left, right);
    });
  Type wide = withElement(base.getType(), b.getF64Type());
  Value magnitude = math::AbsFOp::create(b, loc, base);
  if (wide != base.getType())
    magnitude = arith::ExtFOp::create(b, loc, wide, magnitude);
  if (getElementTypeOrSelf(exponent.getType()).isIndex())
    exponent = arith::IndexCastOp::create(b, loc, withElement(exponent.getType(), b.getI64Type()),
                                          exponent);
  Value power = arith::SIToFPOp::create(b, loc, wide, exponent);
  Value result = math::PowFOp::create(b, loc, magnitude, power);
  if (wide != base.getType())
    result = arith::TruncFOp::create(b, loc, base.getType(), result);
  Value bits = bitsOf(base);
  Value isNegative = compare(arith::CmpIPredicate::slt, bits, integer(bits.getType(), 0));
  Value flips = arith::AndIOp::create(b, loc, isNegative, isOdd(exponent));
  return arith::SelectOp::create(b, loc, flips, arith::NegFOp::create(b, loc, result), result);
}

/// Squares and square roots, which are rounded once; none for other powers. The root of -0 is -0,
/// of -infinity NaN: neither is what a power gives.
Value Expander::powf(math::PowFOp op) {
  APFloat known(0.0);
  if (!matchPattern(op.getRhs(), m_ConstantFloat(&known)))
    return {};
  Value base = op.getLhs();
  if (known.isExactlyValue(1.0))
    return base;
  if (known.isExactlyValue(2.0))
    return arith::MulFOp::create(b, loc, base, base);
  if (!known.isExactlyValue(0.5))
    return {};
  const llvm::fltSemantics &format =
      cast<FloatType>(getElementTypeOrSelf(base.getType())).getFloatSemantics();
  auto splat = [&](const APFloat &value) {
    return constant(base.getType(), FloatAttr::get(getElementTypeOrSelf(base.getType()), value));
  };
  Value lowest = splat(APFloat::getInf(format, /*Negative=*/true));
  Value isLowest = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, base, lowest);
  Value positive = arith::AddFOp::create(b, loc, base, splat(APFloat::getZero(format)));
  Value root = math::SqrtOp::create(b, loc, positive);
  return arith::SelectOp::create(b, loc, isLowest, splat(APFloat::getInf(format)), root);
}

/// `base` to powers from 0, until all lanes are done.
Value Expander::squareAndMultiply(Value base, Value exponent) {
  Type type = base.getType();
  SmallVector<Value> start = {integer(type, 1), base, exponent};
  auto isLeft = [](OpBuilder &builder, Location at, ValueRange values) {
    Value rest = values[2];
    if (isa<VectorType>(rest.getType()))
      rest = vector::ReductionOp::create(builder, at, vector::CombiningKind::OR, rest);
    Value zero = arith::ConstantOp::create(builder, at, builder.getZeroAttr(rest.getType()));
    Value more =
        arith::CmpIOp::create(builder, at, arith::CmpIPredicate::ne, rest, zero).getResult();
    scf::ConditionOp::create(builder, at, more, values);
  };
  auto step = [&](OpBuilder &builder, Location at, ValueRange values) {
    Value times = arith::MulIOp::create(builder, at, values[0], values[1]);
    Value next = arith::SelectOp::create(builder, at, isOdd(values[2]), times, values[0]);
    Value square = arith::MulIOp::create(builder, at, values[1], values[1]);
    Value rest = arith::ShRUIOp::create(builder, at, values[2], integer(type, 1));
    scf::YieldOp::create(builder, at, ValueRange{next, square, rest});
  };
  return scf::WhileOp::create(b, loc, TypeRange{type, type, type}, start, isLeft, step)
      .getResult(0);
}

/// Overflow wraps around. A negative power is rounded towards zero: 1, -1 or 0, of 0, too.
Value Expander::ipowi(math::IPowIOp op) {
  Value base = op.getLhs(), exponent = op.getRhs();
  Type type = base.getType();
  APInt known;
  if (matchPattern(exponent, m_ConstantInt(&known)) && !known.isNegative())
    return product(base, known, integer(type, 1), [&](Value left, Value right) -> Value {
      return arith::MulIOp::create(b, loc, left, right);
    });
  Value zero = integer(type, 0), unit = integer(type, 1), minus = integer(type, -1);
  Value isNegative = compare(arith::CmpIPredicate::slt, exponent, zero);
  Value clamped = arith::SelectOp::create(b, loc, isNegative, zero, exponent);
  Value power = squareAndMultiply(base, clamped);
  Value ofMinus = arith::SelectOp::create(b, loc, isOdd(exponent), minus, unit);
  Value isMinus = compare(arith::CmpIPredicate::eq, base, minus);
  Value isUnit = compare(arith::CmpIPredicate::eq, base, unit);
  Value inverse = arith::SelectOp::create(b, loc, isUnit, unit, zero);
  inverse = arith::SelectOp::create(b, loc, isMinus, ofMinus, inverse);
  return arith::SelectOp::create(b, loc, isNegative, inverse, power);
}

bool xetile::expandMath(RewriterBase &rewriter, Operation *op) {
  Expander expander(rewriter, op);
  if (auto both = dyn_cast<math::SincosOp>(op)) {
    Value sin = math::SinOp::create(rewriter, op->getLoc(), both.getOperand());
    Value cos = math::CosOp::create(rewriter, op->getLoc(), both.getOperand());
    rewriter.replaceOp(op, {sin, cos});
    return true;
  }
  Value result = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::IsNormalOp>(
                         [&](auto classified) { return expander.classify(classified); })
                     .Case([&](math::ClampFOp clamped) { return expander.clamp(clamped); })
                     .Case([&](math::RsqrtOp root) { return expander.rsqrt(root); })
                     .Case([&](math::FPowIOp power) { return expander.fpowi(power); })
                     .Case([&](math::IPowIOp power) { return expander.ipowi(power); })
                     .Case([&](math::PowFOp power) { return expander.powf(power); })
                     .Default(Value());
  if (!result)
    return false;
  rewriter.replaceOp(op, result);
  return true;
}
