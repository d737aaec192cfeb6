//===- InlineMath.cpp - functions of f32 as polynomials ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: exp, expm1, tanh, erf, log and log1p of f32, on scalars and vectors. Out: arith, math.fma and
// AVX-512's scalef, a few dozen instructions without a branch. Refused: nothing; other ops are
// the caller's.
//===----------------------------------------------------------------------===//
// A call of libmvec saves all vector registers and waits for each result; these chains overlap.
// Every step is an op of IEEE arithmetic on one element: a result is the same in a full vector, in
// the last one of a row and as a scalar. Arguments of all bit patterns are within the bounds that
// the documentation of xetile-lower-math states; test/python/targets/cpu/test_inline_math.py looks
// at them.
//
// scripts/math_coefficients.py fits and prints the coefficients.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Lowering/InlineMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "xetile/Target/Cpu/Lowering/FloatBuilder.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace xetile;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLog2e = 0x1.715476p+0f, kLn2 = 0x1.62e43p-1f;
/// ln 2 in two parts: products of the first with a small integer are exact.
constexpr float kLn2High = 0x1.63p-1f, kLn2Low = -0x1.bd0106p-13f;
/// Added to a number of up to 22 bits, it leaves the nearest integer in the last bits.
constexpr float kRound = 0x1.8p+23f;
constexpr int64_t kAvx512Lanes = 16;
constexpr StringLiteral kScale = "llvm.x86.avx512.mask.scalef.ps.512";
/// The bits of sqrt(1/2), of 4, of sign and exponent.
constexpr int32_t kHalfRoot = 0x3f3504f3, kFour = 0x40800000;
constexpr int32_t kExponent = -0x00800000;

// Coefficients from the lowest power on.

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2: 0.06 and 0.25 of 2^-24 off e^r and e^r - 1.
constexpr float kExp[] = {0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558bcp-5f, 0x1.1239c6p-7f,
                          0x1.6a4154p-10f};
constexpr float kExpm1[] = {0x1.fffffep-2f, 0x1.5554b2p-3f, 0x1.555702p-5f, 0x1.1226a6p-7f,
                            0x1.6b8cb2p-10f};
/// (log(1 + f) - f + f^2 / 2) / f^3 for 1 + f from sqrt(1/2) to sqrt(2): 0.1 of 2^-24 off.
constexpr float kLog[] = {0x1.555554p-2f, -0x1.000228p-2f, 0x1.99a022p-3f, -0x1.5471f8p-3f,
                          0x1.22d824p-3f, -0x1.0d8718p-3f, 0x1.0568fep-3f, -0x1.38c94ep-4f};
/// erf(x) / x as a quotient in x^2 for |x| <= kErfEnd, where erf rounds to 1: 0.4 of 2^-24 off. The
/// scale is one of many tried, with the least error after all roundings.
constexpr float kErfEnd = 3.92f;
constexpr float kErfAbove[] = {0x1.873da2p+0f, 0x1.0899dep-2f,  0x1.24dcc2p-4f,
                               0x1.4f7d1ep-8f, 0x1.947c34p-12f, 0x1.73332cp-19f};
constexpr float kErfBelow[] = {-0x1.5aba64p+0f, -0x1.5c6662p-1f,  -0x1.3cee4cp-3f,
                               -0x1.4ccd8cp-6f, -0x1.9db5b2p-10f, -0x1.afc94ep-15f};

class Inliner : FloatBuilder {
public:
  Inliner(RewriterBase &rewriter, Operation *op, bool hasScale)
      : FloatBuilder(rewriter, op->getLoc(), op->getResult(0).getType()) {
    b.setInsertionPoint(op);
    auto vector = dyn_cast<VectorType>(type);
    scales = hasScale && vector && vector.getNumElements() == kAvx512Lanes;
  }

  Value exp(Value x);
  Value expm1(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value log(Value x);
  Value log1p(Value x);

private:
  /// NaN stays; so ordered, each is one instruction of x86.
  Value atMost(Value x, float limit) {
    Value most = number(limit);
    return select(is(Is::OLT, most, x), most, x);
  }
  Value atLeast(Value x, float limit) {
    Value least = number(limit);
    return select(is(Is::OGT, least, x), least, x);
  }
  Value copySign(Value x, Value sign) { return math::CopySignOp::create(b, loc, x, sign); }

  Value addBits(Value left, Value right) { return arith::AddIOp::create(b, loc, left, right); }
  Value subBits(Value left, Value right) { return arith::SubIOp::create(b, loc, left, right); }
  Value andBits(Value left, Value right) { return arith::AndIOp::create(b, loc, left, right); }

  /// x = n ln(2) + rest with |rest| <= ln(2) / 2. The last bits of `biased` are those of n + bias.
  struct Reduced {
    Value rest, n, biased;
  };
  Reduced reduce(Value x, int bias) {
    Value round = number(kRound + float(bias));
    Value shifted = fma(x, number(kLog2e), round);
    Value n = sub(shifted, round);
    Value rest = fma(n, number(-kLn2Low), fma(n, number(-kLn2High), x));
    return {rest, n, bitsOf(shifted)};
  }
  /// x 2^n for n from -150 to 130, rounded once. AVX-512 has an instruction for it; elsewhere in
  /// two steps, of which the first is exact, as 2^n may be no number. `biased` is n + 2 * 127.
  Value scale(Value x, Value n, Value biased) {
    if (scales) {
      // Not by upstream's x86vector.avx512.mask.scalef, whose operands have each other's names.
      constexpr int32_t kRoundAsUsual = 4;
      Value all = arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(-1));
      Value mode = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(kRoundAsUsual));
      return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(kScale),
                                           ValueRange{x, n, x, all, mode})
          .getResults();
    }
    Value half = arith::ShRUIOp::create(b, loc, biased, integer(1));
    return mul(mul(x, powerOfTwo(subBits(biased, half))), powerOfTwo(half));
  }
  /// e^r - 1 of what is left.
  Value expm1OfRest(Value r) { return fma(mul(r, r), horner(r, kExpm1), r); }
  /// log(2^n (1 + f)).
  Value logOf(Value n, Value f) {
    Value tail = fma(horner(f, kLog), f, number(-0.5f));
    return fma(n, number(kLn2), fma(mul(f, f), tail, f));
  }

  bool scales;
};

} // namespace

/// n is -150 for the least subnormal number, 128 for infinity.
Value Inliner::exp(Value x) {
  Reduced of = reduce(atLeast(atMost(x, 90.0f), -105.0f), 2 * 127);
  Value one = number(1.0f);
  Value power = fma(fma(horner(of.rest, kExp), of.rest, one), of.rest, one);
  return scale(power, of.n, of.biased);
}

/// 2^n (e^r - 1) + 2^n - 1, half of it, as 2^128 is no number. That would round subnormal results,
/// and lose the sign of zero: arguments as small as their results are kept.
Value Inliner::expm1(Value x) {
  Reduced of = reduce(atLeast(atMost(x, 89.0f), -20.0f), 126);
  Value scale = powerOfTwo(of.biased);
  Value half = fma(scale, expm1OfRest(of.rest), sub(scale, number(0.5f)));
  return select(is(Is::OLT, abs(x), number(0x1p-25f)), x, add(half, half));
}

/// e / (e + 2) with e = e^2|x| - 1.
Value Inliner::tanh(Value x) {
  Value magnitude = abs(x);
  Reduced of = reduce(atMost(add(magnitude, magnitude), 20.0f), 127);
  Value scale = powerOfTwo(of.biased);
  Value e = fma(scale, expm1OfRest(of.rest), sub(scale, number(1.0f)));
  return copySign(div(e, add(e, number(2.0f))), x);
}

/// x P / Q, and from 1/2 on 1 - (Q - x P) / Q: most of the roundings of P and Q cancel if the
/// difference is taken by coefficients. kErfBelow has -Q.
Value Inliner::erf(Value x) {
  Value inside = atMost(abs(x), kErfEnd), square = mul(inside, inside);
  Value isLarge = is(Is::OGE, inside, number(0.5f)), zero = number(0.0f);
  ArrayRef<float> above(kErfAbove), below(kErfBelow);
  Value lower = horner(square, below.drop_front(2));
  auto difference = [&](Value p, Value q) { return fma(inside, p, select(isLarge, q, zero)); };
  Value upper = difference(horner(square, above.drop_front(2)), lower);
  for (size_t power : {1, 0}) {
    Value q = number(below[power]);
    upper = fma(upper, square, difference(number(above[power]), q));
    lower = fma(lower, square, q);
  }
  Value result = sub(select(isLarge, number(1.0f), zero), div(upper, lower));
  return copySign(atMost(result, 1.0f), x);
}

/// x = 2^n (1 + f), of subnormal numbers after a multiplication.
Value Inliner::log(Value x) {
  Value isSmall = is(Is::OLT, x, number(std::numeric_limits<float>::min()));
  Value normal = bitsOf(select(isSmall, mul(x, number(0x1p+23f)), x));
  Value above = subBits(normal, integer(kHalfRoot));
  Value exponent = arith::ShRSIOp::create(b, loc, above, integer(kDigits));
  Value n = arith::SIToFPOp::create(b, loc, type, exponent);
  n = select(isSmall, sub(n, number(23.0f)), n);
  Value significand = ofBits(subBits(normal, andBits(above, integer(kExponent))));
  Value result = logOf(n, sub(significand, number(1.0f)));
  Value zero = number(0.0f);
  Value outside = select(is(Is::OEQ, x, zero), number(-kInfinity),
                         number(std::numeric_limits<float>::quiet_NaN()));
  result = select(is(Is::OLT, x, number(kInfinity)), result, x);
  return select(is(Is::OLE, x, zero), outside, result);
}

/// 1 + x = 2^n (1 + f): n is that of the rounded sum, f is x / 2^n + (1 / 2^n - 1), rounded once. A
/// quarter of 4 / 2^n, as 1 / 2^128 is subnormal.
Value Inliner::log1p(Value x) {
  Value one = number(1.0f);
  Value above = subBits(bitsOf(add(x, one)), integer(kHalfRoot));
  Value power = andBits(above, integer(kExponent));
  Value scaled = ofBits(subBits(bitsOf(x), power));
  Value rest = fma(ofBits(subBits(integer(kFour), power)), number(0.25f), number(-1.0f));
  Value exponent = arith::ShRSIOp::create(b, loc, above, integer(kDigits));
  Value n = arith::SIToFPOp::create(b, loc, type, exponent);
  // The sign is that of zero, too.
  Value result = copySign(logOf(n, add(scaled, rest)), x);
  Value least = number(-1.0f);
  Value outside = select(is(Is::OEQ, x, least), number(-kInfinity),
                         number(std::numeric_limits<float>::quiet_NaN()));
  result = select(is(Is::OLT, x, number(kInfinity)), result, x);
  return select(is(Is::OLE, x, least), outside, result);
}

bool xetile::inlineMath(RewriterBase &rewriter, Operation *op, bool hasScale) {
  if (op->getNumOperands() != 1 || !getElementTypeOrSelf(op->getOperand(0).getType()).isF32())
    return false;
  Inliner inliner(rewriter, op, hasScale);
  Value x = op->getOperand(0);
  Value result = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case([&](math::ExpOp) { return inliner.exp(x); })
                     .Case([&](math::ExpM1Op) { return inliner.expm1(x); })
                     .Case([&](math::TanhOp) { return inliner.tanh(x); })
                     .Case([&](math::ErfOp) { return inliner.erf(x); })
                     .Case([&](math::LogOp) { return inliner.log(x); })
                     .Case([&](math::Log1pOp) { return inliner.log1p(x); })
                     .Default(Value());
  if (!result)
    return false;
  rewriter.replaceOp(op, result);
  return true;
}
