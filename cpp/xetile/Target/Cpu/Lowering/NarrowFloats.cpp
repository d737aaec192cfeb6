//===- NarrowFloats.cpp - bf16 and roundings that no instruction does --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: ops of arith that compute with bf16, or round f64 to f16 or bf16, on scalars and vectors.
// Out: the same in f32, rounded by integer arithmetic. Refused: nothing; others are not passed
// here.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Lowering/NarrowFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "xetile/Target/Cpu/Lowering/ExpandMath.h"

using namespace mlir;
using namespace xetile;

static bool isBf16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

bool xetile::computesNarrow(Operation *op) {
  if (auto round = dyn_cast<arith::TruncFOp>(op)) {
    if (round.getRoundingmodeAttr())
      return false;
    Type from = getElementTypeOrSelf(round.getIn().getType());
    Type to = getElementTypeOrSelf(round.getType());
    return (to.isBF16() && (from.isF32() || from.isF64())) || (to.isF16() && from.isF64());
  }
  if (isa<arith::CmpFOp, arith::ExtFOp>(op))
    return isBf16(op->getOperand(0).getType());
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return isBf16(op->getResult(0).getType());
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return isBf16(op->getOperand(0).getType());
  return isa<arith::AddFOp, arith::DivFOp, arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp,
             arith::MinNumFOp, arith::MulFOp, arith::NegFOp, arith::RemFOp, arith::SubFOp>(op) &&
         isBf16(op->getResult(0).getType());
}

namespace {

class Rounder {
public:
  Rounder(RewriterBase &rewriter, Location loc) : b(rewriter), loc(loc) {}

  /// bf16 to f32, or f64. LLVM would do what follows an extension on bf16 itself.
  Value fromBf16(Value value, Type element);
  /// f32 to bf16, to nearest even.
  Value toBf16(Value value, bool isNanShort = false);
  /// f64 to f32, such that rounding the result is rounding the value.
  Value toOdd(Value value);
  /// An integer that f64 has, and that becomes the same bf16.
  Value dropLowBits(Value value, bool isSigned);

private:
  Value constant(Type type, int64_t value) {
    Attribute element = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, element));
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(element));
  }

  RewriterBase &b;
  Location loc;
};

} // namespace

Value Rounder::fromBf16(Value value, Type element) {
  Type half = withElement(value.getType(), b.getI16Type());
  Type type = withElement(value.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, loc, half, value);
  Value low = arith::ExtUIOp::create(b, loc, type, bits);
  Value high = arith::ShLIOp::create(b, loc, low, constant(type, 16));
  Type f32 = withElement(value.getType(), b.getF32Type());
  Value wide = arith::BitcastOp::create(b, loc, f32, high);
  if (element.isF32())
    return wide;
  return arith::ExtFOp::create(b, loc, withElement(value.getType(), element), wide);
}

Value Rounder::toBf16(Value value, bool isNanShort) {
  Type type = withElement(value.getType(), b.getI32Type());
  Type half = withElement(value.getType(), b.getI16Type());
  Value bits = arith::BitcastOp::create(b, loc, type, value);
  Value sixteen = constant(type, 16);
  Value high = arith::ShRUIOp::create(b, loc, bits, sixteen);
  Value odd = arith::AndIOp::create(b, loc, high, constant(type, 1));
  Value bias = arith::AddIOp::create(b, loc, odd, constant(type, 0x7fff));
  Value rounded = arith::AddIOp::create(b, loc, bits, bias);
  if (!isNanShort) {
    // NaN stays NaN, whatever bits are cut off.
    Value quiet = arith::OrIOp::create(b, loc, bits, constant(type, 0x400000));
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
    rounded = arith::SelectOp::create(b, loc, isNan, quiet, rounded);
  }
  // Last: where f32 is made of the result again, both shifts are one mask.
  Value kept = arith::ShRUIOp::create(b, loc, rounded, sixteen);
  Value narrow = arith::TruncIOp::create(b, loc, half, kept);
  return arith::BitcastOp::create(b, loc, withElement(value.getType(), b.getBF16Type()), narrow);
}

Value Rounder::toOdd(Value value) {
  Type f32 = withElement(value.getType(), b.getF32Type());
  Type type = withElement(value.getType(), b.getI32Type());
  Type wideInteger = withElement(value.getType(), b.getI64Type());
  Value nearest = arith::TruncFOp::create(b, loc, f32, value);
  Value back = arith::ExtFOp::create(b, loc, value.getType(), nearest);
  Value bits = arith::BitcastOp::create(b, loc, type, nearest);
  // Towards zero first: magnitudes are ordered as their bits are.
  auto magnitude = [&](Value number) -> Value {
    Value all = arith::BitcastOp::create(b, loc, wideInteger, number);
    return arith::AndIOp::create(b, loc, all, constant(wideInteger, INT64_MAX));
  };
  Value isAway =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, magnitude(back), magnitude(value));
  Value down = arith::SubIOp::create(b, loc, bits, arith::ExtUIOp::create(b, loc, type, isAway));
  Value isInexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, value);
  Value odd = arith::OrIOp::create(b, loc, down, arith::ExtUIOp::create(b, loc, type, isInexact));
  // The bits of NaN are no magnitude.
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  odd = arith::SelectOp::create(b, loc, isNan, bits, odd);
  return arith::BitcastOp::create(b, loc, f32, odd);
}

Value Rounder::dropLowBits(Value value, bool isSigned) {
  Type type = value.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width <= 53)
    return value;
  auto constantOf = [&](const APInt &number) -> Value {
    Attribute element = b.getIntegerAttr(getElementTypeOrSelf(type), number);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, element));
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(element));
  };
  Value zero = constantOf(APInt::getZero(width));
  // Of what is 2^(low + 16) or more, the lowest bits only tell whether it is more than the rest:
  // one bit does. Then at most 49 bits count.
  for (unsigned low = 16; low + 16 < width; low += 32) {
    Type fewer = withElement(type, b.getIntegerType(low + 16));
    Value cut = arith::TruncIOp::create(b, loc, fewer, value);
    Value back = isSigned ? arith::ExtSIOp::create(b, loc, type, cut).getResult()
                          : arith::ExtUIOp::create(b, loc, type, cut).getResult();
    Value isLarge = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, back, value);
    APInt mask = APInt::getLowBitsSet(width, low);
    Value rest = arith::AndIOp::create(b, loc, value, constantOf(mask));
    Value hasRest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, zero);
    Value sticky = arith::SelectOp::create(b, loc, hasRest,
                                           constantOf(APInt::getOneBitSet(width, low - 1)), zero);
    Value upper = arith::AndIOp::create(b, loc, value, constantOf(~mask));
    Value dropped = arith::OrIOp::create(b, loc, upper, sticky);
    value = arith::SelectOp::create(b, loc, isLarge, dropped, value);
  }
  return value;
}

void xetile::lowerNarrow(RewriterBase &b, Operation *op) {
  Location loc = op->getLoc();
  b.setInsertionPoint(op);
  Rounder rounder(b, loc);
  Type type = op->getResult(0).getType();
  if (isa<arith::TruncFOp>(op)) {
    Value value = op->getOperand(0);
    if (getElementTypeOrSelf(value.getType()).isF64())
      value = rounder.toOdd(value);
    Value result = isBf16(type) ? rounder.toBf16(value)
                                : arith::TruncFOp::create(b, loc, type, value).getResult();
    b.replaceOp(op, result);
    return;
  }
  if (isa<arith::ExtFOp>(op)) {
    b.replaceOp(op, rounder.fromBf16(op->getOperand(0), getElementTypeOrSelf(type)));
    return;
  }
  // The same op on f32; of integers that f32 does not have on f64.
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isBf16(operand.getType()) ? rounder.fromBf16(operand, b.getF32Type())
                                                 : operand);
  Type computed = type;
  if (isBf16(type)) {
    bool isLarge = getElementTypeOrSelf(operands[0].getType()).isInteger() &&
                   getElementTypeOrSelf(operands[0].getType()).getIntOrFloatBitWidth() > 24;
    computed = isLarge ? withElement(type, b.getF64Type()) : withElement(type, b.getF32Type());
    if (isLarge)
      operands[0] = rounder.dropLowBits(operands[0], isa<arith::SIToFPOp>(op));
  }
  Operation *other =
      b.create(loc, op->getName().getIdentifier(), operands, computed, op->getAttrs());
  Value result = other->getResult(0);
  if (getElementTypeOrSelf(computed).isF64() && computed != type)
    result = rounder.toOdd(result);
  b.replaceOp(op, isBf16(type) ? rounder.toBf16(result) : result);
}

Value xetile::roundToBf16(RewriterBase &b, Location loc, Value value, bool isNanShort) {
  return Rounder(b, loc).toBf16(value, isNanShort);
}
