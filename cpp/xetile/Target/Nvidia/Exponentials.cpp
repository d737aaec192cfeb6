//===- Exponentials.cpp - exp and tanh by the power of 2 of the hardware ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: math.exp and math.tanh of f32, of numbers or vectors. Out: ex2.approx, whose relative error
// is 2^-22.5, and a few products. Refused: nothing; other types stay as they are.
//
// exp(x) = 2^h (1 + c ln 2), where h is x log2(e) in f32, and c what h lacks of it: without c an
// error of h, which grows with x, is one of the exponent. Where less will do, it is the square of
// 2^(h / 2), which no instruction has to keep from being 0 below 2^-126.
// tanh(x) = x (1 + s P(s)) below 0.6 with s = x x, and 1 - 2 / (2^(2 |x| log2(e)) + 1) from there
// on. P was fitted for the least largest relative error of the result, by iterated weighted least
// squares on Chebyshev points: 8.3e-8; in f32 that of tanh is 2.7e-7.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/Exponentials.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "xetile/Target/Nvidia/F32Builder.h"

using namespace mlir;
using xetile::hopper::F32Builder;

namespace {

constexpr float kLog2E = 1.4426950216293335F, kLog2ERest = 1.925963033500011e-08F;
constexpr float kLn2 = 0.6931471805599453F;
// 2^h is 0 below, and infinite above; h has no rest where it is infinite itself.
constexpr float kLowest = -104.0F, kHighest = 89.0F;
constexpr float kSmall[] = {-0.33332598209381104F, 0.13313116133213043F, -0.05221180617809296F,
                            0.01561263483017683F};
constexpr float kBorder = 0.6F;

bool isF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

/// The size of the only number in a constant.
std::optional<APFloat> sizeOfConstant(Value value) {
  FloatAttr number;
  DenseFPElementsAttr elements;
  if (matchPattern(value, m_Constant(&number)))
    return abs(number.getValue());
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return abs(elements.getSplatValue<APFloat>());
  return std::nullopt;
}

bool isAtLeast(const std::optional<APFloat> &size, float least) {
  APFloat::cmpResult order = size ? size->compare(APFloat(least)) : APFloat::cmpUnordered;
  return order == APFloat::cmpGreaterThan || order == APFloat::cmpEqual;
}

/// True if a number below 2^-126 makes no difference: all that is done with it is that a constant
/// is added, of which a unit in the last place is more.
bool isBesideConstants(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto sum = dyn_cast<arith::AddFOp>(use.getOwner());
    return sum && isAtLeast(sizeOfConstant(sum->getOperand(1 - use.getOperandNumber())), 0x1p-100F);
  });
}

struct ExpPattern : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    if (!isF32(op.getType()))
      return failure();
    F32Builder b(op, rewriter);
    bool mayFlush = isBesideConstants(op.getResult());
    if (bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn)) {
      Value high = b.multiply(op.getOperand(), b.number(mayFlush ? kLog2E : kLog2E / 2));
      Value power = b.flushedPower(high);
      rewriter.replaceOp(op, mayFlush ? power : b.multiply(power, power));
      return success();
    }
    // A NaN stays one.
    Value x = arith::MinimumFOp::create(b, op.getOperand(), b.number(kHighest));
    x = arith::MaximumFOp::create(b, x, b.number(kLowest));
    Value high = b.multiply(x, b.number(kLog2E));
    Value rest = b.fma(x, b.number(kLog2E), arith::NegFOp::create(b, high));
    rest = b.fma(x, b.number(kLog2ERest), rest);
    Value power = mayFlush ? b.flushedPower(high) : Value(math::Exp2Op::create(b, high));
    rewriter.replaceOp(op, b.multiply(power, b.fma(rest, b.number(kLn2), b.number(1.0F))));
    return success();
  }
};

struct TanhPattern : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::TanhOp op, PatternRewriter &rewriter) const override {
    if (!isF32(op.getType()))
      return failure();
    F32Builder b(op, rewriter);
    Value x = op.getOperand(), size = math::AbsFOp::create(b, x);
    Value square = b.multiply(x, x), sum = b.polynomial(kSmall, square);
    Value small = b.multiply(x, b.fma(sum, square, b.number(1.0F)));
    // Below -0.6 the formula loses a bit, and has the sign of x by itself.
    bool isNarrow = x.getDefiningOp<arith::ExtFOp>();
    // A power or a quotient below 2^-126 is nothing beside the 1.
    Value power = b.flushedPower(b.multiply(isNarrow ? x : size, b.number(2 * kLog2E)));
    Value quotient = b.flushedReciprocal(arith::AddFOp::create(b, power, b.number(1.0F)));
    Value large = b.fma(b.number(-2.0F), quotient, b.number(1.0F));
    if (!isNarrow)
      large = math::CopySignOp::create(b, large, x);
    Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, b.number(kBorder));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isSmall, small, large);
    return success();
  }
};

/// True for 1 and more, infinite or NaN: such a constant and a power.
bool isAtLeastOne(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  for (auto [constant, power] :
       {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (matchPattern(constant, m_OneFloat()) &&
        isa_and_present<math::ExpOp, math::Exp2Op>(power.getDefiningOp()))
      return true;
  return false;
}

/// c / x of f32 that only bf16 or f16 see, for c of at most 1: by div.approx, whose two units in
/// the last place of f32 they do not. Of x of 1 and more, as of a logistic function, by
/// rcp.approx.ftz. Results below 2^-126 are 0.
struct QuotientPattern : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    if (!isF32(op.getType()) || bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    std::optional<APFloat> size = sizeOfConstant(op.getLhs());
    bool isNarrowed = !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
      auto narrow = dyn_cast<arith::TruncFOp>(user);
      return narrow && getElementTypeOrSelf(narrow.getType()).getIntOrFloatBitWidth() == 16;
    });
    if (!isNarrowed || !size || size->isNaN() ||
        size->compare(APFloat(1.0F)) == APFloat::cmpGreaterThan)
      return failure();
    if (isAtLeastOne(op.getRhs())) {
      F32Builder b(op, rewriter);
      rewriter.replaceOp(op, b.multiply(op.getLhs(), b.flushedReciprocal(op.getRhs())));
      return success();
    }
    rewriter.modifyOpInPlace(op,
                             [&] { op.setFastmath(op.getFastmath() | arith::FastMathFlags::afn); });
    return success();
  }
};

} // namespace

void xetile::hopper::populateExponentials(RewritePatternSet &patterns) {
  patterns.add<ExpPattern, TanhPattern>(patterns.getContext(), /*benefit=*/2);
}

void xetile::hopper::populateQuotients(RewritePatternSet &patterns) {
  patterns.add<QuotientPattern>(patterns.getContext());
}
