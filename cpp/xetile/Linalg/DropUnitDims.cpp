//===- DropUnitDims.cpp - linalg ops without dimensions of size one ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on tensors. Out: those of a function's first block have no loops of one step, and
// no operands of sizes one. Refused: nothing; what stands in loops stays as it is.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Linalg/InFunction.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Linalg/Simplify.h"

namespace xetile {
#define GEN_PASS_DEF_DROPUNITDIMS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

LogicalResult xetile::dropUnitDims(Operation *root) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) {
    if (isInFunction(op))
      ops.push_back(op);
  });
  IRRewriter rewriter(root->getContext());
  linalg::ControlDropUnitDims options;
  for (linalg::GenericOp op : ops) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::DropUnitDimsResult> smaller = linalg::dropUnitDims(rewriter, op, options);
    if (failed(smaller))
      continue;
    keepMark(op, smaller->resultOp);
    rewriter.replaceOp(op, smaller->replacements);
  }
  // Reshapes of reshapes, and those of memory that only gives a size.
  RewritePatternSet patterns(root->getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, root->getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, root->getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, root->getContext());
  return applyPatternsGreedily(root, std::move(patterns));
}

namespace {
struct DropUnitDims : xetile::impl::DropUnitDimsBase<DropUnitDims> {
  void runOnOperation() override {
    if (failed(dropUnitDims(getOperation())))
      signalPassFailure();
  }
};
} // namespace
