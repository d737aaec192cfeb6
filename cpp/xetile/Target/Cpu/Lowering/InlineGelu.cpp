//===- InlineGelu.cpp - GELU of which few bits are kept ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: x (1 + erf(x / sqrt 2)) / 2 of f32, rounded to bf16 or f16. Out: arith and math.fma, about
// twenty instructions. Refused: nothing; where f32 is kept, or asked for otherwise, ops stay.
//===----------------------------------------------------------------------===//
// With t = |x| and P(x) the share of a normal distribution below x, which is (1 + erf(x / sqrt 2))
// / 2, P(-t) is 2^(t H(t) - 1) with a polynomial H, and P(t) is 1 - P(-t). So nothing cancels out:
// the relative error of results is below 2^-13 for bf16 and 2^-17 for f16 wherever these have all
// their bits, below -6, where GELU is less than 2^-27, below 2^-11. Every step is an op of IEEE
// arithmetic on one element, as in InlineMath.cpp.
//
// scripts/math_coefficients.py fits and prints the coefficients.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Target/Cpu/Lowering/FloatBuilder.h"
#include "xetile/Target/Cpu/Lowering/NarrowFloats.h"
#include "xetile/Target/Cpu/Lowering/VectorBits.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>
#include <optional>

namespace xetile {
#define GEN_PASS_DEF_INLINEGELU
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Coefficients of H from the lowest power on, for t < `end`: from there on P(-t) t rounds to zero
/// in f16, and is below 2^-121 for bf16.
struct Fit {
  float end;
  ArrayRef<float> exponent;
};

constexpr float kBf16[] = {-0x1.2683a4p+0f,  -0x1.d77b24p-2f, -0x1.acf19p-5f,   0x1.03d31cp-7f,
                           -0x1.b55f26p-11f, 0x1.d8e532p-15f, -0x1.23e2eep-19f, 0x1.3697f8p-25f};
constexpr float kF16[] = {-0x1.26b3bp+0f,   -0x1.d5b8e8p-2f, -0x1.b74196p-5f, 0x1.0f7c76p-7f,
                          -0x1.c0b1e6p-11f, 0x1.9d273ap-15f, -0x1.16bb8ap-20f};
constexpr float kBf16End = 12.9f, kF16End = 5.8f;

/// 2^r / 2 for |r| <= 1/2, from the lowest power on: exact for r = 0, or halves of the least
/// subnormal numbers would not be rounded to even.
constexpr float kPower[] = {0x1p-1f, 0x1.62e12cp-2f, 0x1.ec036ep-4f, 0x1.c9fc74p-6f,
                            0x1.3a057cp-8f};

/// Added to a number of up to 22 bits, it leaves the nearest integer in the last bits, and the bias
/// of exponents.
constexpr float kRound = 0x1.8p+23f + 127;
/// Of factors that programs write with fewer digits than f32 has.
constexpr double kTolerance = 1e-6, kHalfRoot = 0.70710678118654752;
/// Deeper products are no GELU, or one of many ways to write it.
constexpr unsigned kMaxFactors = 4;

} // namespace

static std::optional<double> numberOf(Value value) {
  // Upstream folds no conversion of a constant that rounds it.
  if (auto rounded = value.getDefiningOp<arith::TruncFOp>())
    return numberOf(rounded.getIn());
  APFloat known(0.0);
  if (!matchPattern(value, m_ConstantFloat(&known)))
    return std::nullopt;
  bool losesInfo;
  known.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return known.convertToDouble();
}

/// From f32 to bf16 or f16, to nearest even.
static bool isNarrowing(arith::TruncFOp op) {
  Type to = getElementTypeOrSelf(op.getType());
  return !op.getRoundingmodeAttr() && getElementTypeOrSelf(op.getIn().getType()).isF32() &&
         (to.isBF16() || to.isF16()) && !isa<TensorType>(op.getType());
}

static bool isNear(double value, double expected) {
  return std::abs(value / expected - 1) < kTolerance;
}

namespace {

/// A product of a constant and something else.
struct Scaled {
  double factor;
  Value value;
};

} // namespace

static Scaled splitFactor(Value value) {
  if (auto product = value.getDefiningOp<arith::MulFOp>()) {
    if (auto factor = numberOf(product.getRhs()))
      return {*factor, product.getLhs()};
    if (auto factor = numberOf(product.getLhs()))
      return {*factor, product.getRhs()};
  }
  if (auto quotient = value.getDefiningOp<arith::DivFOp>())
    if (auto divisor = numberOf(quotient.getRhs()))
      return {1 / *divisor, quotient.getLhs()};
  return {1, value};
}

/// x, and w, of w (1 + erf(x / sqrt 2)), which may be written as w erfc(-x / sqrt 2).
static std::optional<Scaled> matchShare(Value value) {
  if (auto complement = value.getDefiningOp<math::ErfcOp>()) {
    auto [factor, x] = splitFactor(complement.getOperand());
    if (auto negated = x.getDefiningOp<arith::NegFOp>())
      factor = -factor, x = negated.getOperand();
    if (isNear(factor, -kHalfRoot))
      return Scaled{1, x};
    return std::nullopt;
  }
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return std::nullopt;
  for (auto [one, other] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    auto summand = numberOf(one);
    auto [weight, function] = splitFactor(other);
    auto erf = function.getDefiningOp<math::ErfOp>();
    if (!summand || !erf || !isNear(weight, *summand))
      continue;
    auto [factor, x] = splitFactor(erf.getOperand());
    if (isNear(factor, kHalfRoot))
      return Scaled{weight, x};
  }
  return std::nullopt;
}

/// A factor of a product of few that `matchShare` knows, or none.
static Value findShare(Value value, unsigned depth = 0) {
  if (matchShare(value))
    return value;
  if (depth == kMaxFactors)
    return {};
  if (auto quotient = value.getDefiningOp<arith::DivFOp>())
    return findShare(quotient.getLhs(), depth + 1);
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return {};
  Value left = findShare(product.getLhs(), depth + 1);
  return left ? left : findShare(product.getRhs(), depth + 1);
}

/// Appends the factors of `value` that are no constants, and returns the product of those that are.
/// `x` is one factor, product or not.
static double collectFactors(Value value, Value x, SmallVectorImpl<Value> &factors) {
  if (auto known = numberOf(value))
    return *known;
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (product && value != x && factors.size() < kMaxFactors) {
    double left = collectFactors(product.getLhs(), x, factors);
    return left * collectFactors(product.getRhs(), x, factors);
  }
  auto [factor, rest] = value == x ? Scaled{1, value} : splitFactor(value);
  factors.push_back(rest);
  return factor;
}

/// The argument of the GELU that `value` is, or none.
static Value matchGelu(Value value) {
  Value share = findShare(value);
  if (!share)
    return {};
  auto [weight, x] = *matchShare(share);
  SmallVector<Value> factors;
  double scale = collectFactors(value, x, factors) * weight;
  if (factors.size() != 2 || !isNear(scale, 0.5) || !llvm::is_contained(factors, x) ||
      !llvm::is_contained(factors, share))
    return {};
  return x;
}

/// P(-t) as 2^(n + r) with an integer n. NaN gives 0, too, so that the product with it is NaN, as
/// that of -infinity is. Selections follow what they select at once, by comparisons that LLVM
/// leaves as they are: so they are masks of these instructions of AVX-512.
static Value inlineGelu(FloatBuilder b, Value x, const Fit &fit) {
  using Is = FloatBuilder::Is;
  Value t = b.abs(x), round = b.number(kRound), zero = b.number(0.0f);
  Value slope = b.byHalves(t, fit.exponent);
  Value shifted = b.fma(slope, t, round);
  Value rest = b.fma(slope, t, b.sub(round, shifted));
  Value below = b.mul(b.horner(rest, kPower), b.powerOfTwo(b.bitsOf(shifted)));
  below = b.select(b.is(Is::OLT, t, b.number(fit.end)), below, zero);
  Value above = b.sub(b.number(1.0f), below);
  return b.mul(x, b.select(b.is(Is::OGT, x, zero), above, below));
}

/// True where nothing but bf16 or f16 is made of `value`.
static bool isNarrowed(Value value) {
  return llvm::all_of(value.getUsers(), llvm::IsaPred<arith::TruncFOp>);
}

static void inlineGeluOf(RewriterBase &rewriter, arith::TruncFOp op) {
  Value value = op.getIn(), x = matchGelu(value);
  if (!x || !isNarrowed(value))
    return;
  bool isBf16 = getElementTypeOrSelf(op.getType()).isBF16();
  rewriter.setInsertionPoint(op);
  Location loc = x.getLoc();
  Value result = inlineGelu({rewriter, loc, x.getType()}, x,
                            isBf16 ? Fit{kBf16End, kBf16} : Fit{kF16End, kF16});
  // The only NaN of a result are those of x, and of infinity the one without a payload.
  auto extended = x.getDefiningOp<arith::ExtFOp>();
  bool isShort = extended && getElementTypeOrSelf(extended.getIn().getType()).isBF16();
  rewriter.replaceOp(
      op, isBf16 ? roundToBf16(rewriter, loc, result, isShort)
                 : arith::TruncFOp::create(rewriter, loc, op.getType(), result).getResult());
}

/// Erases `op` and what only it uses, as far as nobody uses them.
static void eraseDead(RewriterBase &rewriter, Operation *op) {
  // Each once: an operand may be used again by what is erased for another one.
  SetVector<Operation *> waiting;
  waiting.insert(op);
  while (!waiting.empty()) {
    Operation *next = waiting.pop_back_val();
    if (!isOpTriviallyDead(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *source = operand.getDefiningOp())
        waiting.insert(source);
    rewriter.eraseOp(next);
  }
}

namespace {
struct InlineGelu : xetile::impl::InlineGeluBase<InlineGelu> {
  using InlineGeluBase::InlineGeluBase;

  void runOnOperation() override {
    if (failed(checkVectorBits(vectorBits, &getContext())))
      return signalPassFailure();
    SmallVector<arith::TruncFOp> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (auto round = dyn_cast<arith::TruncFOp>(op); round && isNarrowing(round))
        ops.push_back(round);
      return WalkResult::advance();
    });
    IRRewriter rewriter(&getContext());
    for (arith::TruncFOp op : ops) {
      FailureOr<int64_t> bits = vectorBitsFor(op, vectorBits);
      if (failed(bits))
        return signalPassFailure();
      // AVX2 implies FMA.
      if (Operation *gelu = op.getIn().getDefiningOp(); gelu && *bits >= 256) {
        inlineGeluOf(rewriter, op);
        eraseDead(rewriter, gelu);
      }
    }
  }
};
} // namespace
