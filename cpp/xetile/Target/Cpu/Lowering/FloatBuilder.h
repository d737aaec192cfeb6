//===- FloatBuilder.h - arithmetic and bits of f32 ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_LOWERING_FLOATBUILDER_H
#define XETILE_TARGET_CPU_LOWERING_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "xetile/Target/Cpu/Lowering/ExpandMath.h"
#include "llvm/ADT/STLExtras.h"

namespace xetile {

/// Makes ops on f32 of type `type`, a scalar or a vector, and on its bits, as 32-bit integers of
/// type `bits`, where `b` is.
struct FloatBuilder {
  using Value = mlir::Value;
  using Is = mlir::arith::CmpFPredicate;

  FloatBuilder(mlir::RewriterBase &b, mlir::Location loc, mlir::Type type)
      : b(b), loc(loc), type(type), bits(withElement(type, b.getI32Type())) {}

  Value number(float value) { return constant(type, b.getF32FloatAttr(value)); }
  Value integer(int32_t value) { return constant(bits, b.getI32IntegerAttr(value)); }

  Value fma(Value left, Value right, Value sum) {
    return mlir::math::FmaOp::create(b, loc, left, right, sum);
  }
  Value add(Value left, Value right) { return mlir::arith::AddFOp::create(b, loc, left, right); }
  Value sub(Value left, Value right) { return mlir::arith::SubFOp::create(b, loc, left, right); }
  Value mul(Value left, Value right) { return mlir::arith::MulFOp::create(b, loc, left, right); }
  Value div(Value left, Value right) { return mlir::arith::DivFOp::create(b, loc, left, right); }
  Value is(Is predicate, Value left, Value right) {
    return mlir::arith::CmpFOp::create(b, loc, predicate, left, right);
  }
  Value select(Value which, Value yes, Value no) {
    return mlir::arith::SelectOp::create(b, loc, which, yes, no);
  }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, loc, x); }

  Value bitsOf(Value x) { return mlir::arith::BitcastOp::create(b, loc, bits, x); }
  Value ofBits(Value x) { return mlir::arith::BitcastOp::create(b, loc, type, x); }
  /// The power of two whose biased exponent is in the last of the bits `x`.
  Value powerOfTwo(Value x) {
    return ofBits(mlir::arith::ShLIOp::create(b, loc, x, integer(kDigits)));
  }

  /// A polynomial; coefficients from the lowest power on.
  Value horner(Value x, mlir::ArrayRef<float> coefficients) {
    Value sum = number(coefficients.back());
    for (float coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  /// The same by halves of the powers, whose instructions need not wait for one another: worth the
  /// products, one for each halving, where a polynomial is long.
  Value byHalves(Value x, mlir::ArrayRef<float> coefficients) {
    auto sums = llvm::map_to_vector(
        coefficients, [&](float coefficient) -> Value { return number(coefficient); });
    for (Value power = x;; power = mul(power, power)) {
      decltype(sums) pairs;
      for (size_t low = 0; low < sums.size(); low += 2)
        pairs.push_back(low + 1 < sums.size() ? fma(sums[low + 1], power, sums[low]) : sums[low]);
      if (pairs.size() == 1)
        return pairs.front();
      sums = pairs;
    }
  }

  /// Bits behind an exponent.
  static constexpr int32_t kDigits = 23;

  mlir::RewriterBase &b;
  mlir::Location loc;
  mlir::Type type, bits;

private:
  Value constant(mlir::Type of, mlir::TypedAttr value) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(of))
      value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(value));
    return mlir::arith::ConstantOp::create(b, loc, value);
  }
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOWERING_FLOATBUILDER_H
