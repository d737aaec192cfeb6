//===- ExpandGroups.cpp - ops around convolutions in groups -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: what pads the image of a convolution in groups, and elementwise
// ops before and behind it, have its dimensions: channels and groups apart. Reshapes stand before
// and behind them all, so that a kernel may have them with the convolution. Refused: nothing; what
// upstream's patterns cannot expand stays.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_EXPANDGROUPS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// True for a convolution whose groups have several channels each of the result.
static bool isInGroups(Operation *op) {
  auto convolution = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!convolution || !convolution.hasPureTensorSemantics())
    return false;
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(convolution);
  return succeeded(dims) && !dims->depth.empty() && !dims->outputChannel.empty();
}

/// True if a convolution in groups alone reads the dimensions that `expand` makes of a padded
/// image, or of what its sums start from. The image itself may be the end of another kernel's
/// chain, which stays whole.
static bool isBeforeGroups(tensor::ExpandShapeOp expand) {
  Operation *made = expand.getSrc().getDefiningOp();
  if (!made || !made->hasOneUse() || !expand->hasOneUse())
    return false;
  OpOperand &read = *expand->getUses().begin();
  if (!isInGroups(read.getOwner()))
    return false;
  bool isInit = cast<linalg::LinalgOp>(read.getOwner()).isDpsInit(&read);
  return isInit ? isElementwiseOnTensors(made) : isa<tensor::PadOp>(made);
}

/// True if `operand` is what a reshape reads of an op before a convolution in groups, or an
/// elementwise op behind one of a reshape.
static bool isAroundGroups(OpOperand *operand) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner()))
    return isBeforeGroups(expand);
  auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  return collapse && isElementwiseOnTensors(operand->getOwner()) &&
         comesElementwiseFrom(collapse.getSrc(), isInGroups);
}

namespace {

struct ExpandGroups : xetile::impl::ExpandGroupsBase<ExpandGroups> {
  void runOnOperation() override {
    WalkResult found = getOperation()->walk([](linalg::LinalgOp op) {
      return isInGroups(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isAroundGroups);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), plainRewrites())))
      signalPassFailure();
  }
};

} // namespace
