//===- Erf.cpp - the error function in few instructions --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: math.erf of f32, of numbers or vectors. Out: two polynomials, a power of 2 and a choice.
// Refused: nothing; other types stay as they are.
//
// Below 1 erf(x) = x P(x x), from there on 1 - 2^Q(|x|), where Q approximates log2(erfc). Both were
// fitted for the least largest relative error of the result, by iterated weighted least squares on
// Chebyshev points; in f32 it is 1.7e-7, the distance of two numbers is 1.2e-7.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/Erf.h"
#include "mlir/IR/TypeUtilities.h"
#include "xetile/Target/Nvidia/F32Builder.h"

using namespace mlir;
using xetile::hopper::F32Builder;

namespace {

constexpr float kSmall[] = {1.1283791065216064F,    -0.3761262595653534F,  0.1128358542919159F,
                            -0.026853810995817184F, 0.005188327748328447F, -0.0008010192541405559F,
                            7.853857823647559e-05F};
constexpr float kLarge[] = {-0.000510313780978322F, -1.6259750127792358F, -0.9207650423049927F,
                            -0.14865146577358246F,  0.03145840764045715F, -0.004240951966494322F,
                            0.00026772613637149334F};
constexpr float kBorder = 1.0F, kOne = 4.0F; // from there on erf is 1 in f32

struct ErfPattern : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    F32Builder b(op, rewriter);
    Value x = op.getOperand(), size = math::AbsFOp::create(b, x);
    Value square = b.multiply(x, x);
    Value small = b.multiply(x, b.polynomial(kSmall, square));
    // A NaN stays one.
    Value limited = arith::MinimumFOp::create(b, size, b.number(kOne));
    // Of no less than 4: 2^-26.
    Value rest = b.flushedPower(b.polynomial(kLarge, limited));
    Value large = arith::SubFOp::create(b, b.number(1.0F), rest);
    large = math::CopySignOp::create(b, large, x);
    Value isSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, b.number(kBorder));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isSmall, small, large);
    return success();
  }
};

} // namespace

void xetile::hopper::populateErf(RewritePatternSet &patterns) {
  patterns.add<ErfPattern>(patterns.getContext(), /*benefit=*/2);
}
