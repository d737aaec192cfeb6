//===- ElementwiseToLinalg.cpp - elementwise ops on tensors to linalg --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: arith and math ops on tensors, tensor.splat. Out: one linalg.generic for each, linalg.fill.
// Refused: nothing.
// Upstream's pass of this purpose folds first, and its folders make constants of dynamic shape
// (of xori %x, %x), which no memory can hold.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/ElementwiseToLinalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_ELEMENTWISETOLINALG
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

bool xetile::becomesLinalg(Operation *op) {
  return isa<tensor::SplatOp>(op) ||
         (OpTrait::hasElementwiseMappableTraits(op) &&
          llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>));
}

namespace {
struct SplatToFill : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op, PatternRewriter &rewriter) const override {
    Value empty =
        tensor::EmptyOp::create(rewriter, op.getLoc(), op.getType(), op.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getInput(), empty);
    return success();
  }
};

struct ElementwiseToLinalg : xetile::impl::ElementwiseToLinalgBase<ElementwiseToLinalg> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (xetile::becomesLinalg(op))
        ops.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    patterns.add<SplatToFill>(&getContext());
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingOps)
        .enableFolding(false)
        .enableConstantCSE(false);
    (void)applyOpPatternsGreedily(ops, std::move(patterns), config);
  }
};
} // namespace
