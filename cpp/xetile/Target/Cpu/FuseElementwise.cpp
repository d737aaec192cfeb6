//===- FuseElementwise.cpp - chains of elementwise ops to one each ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on tensors. Out: an elementwise op with one use is part of the op that uses it,
// and results that nobody uses are gone. Refused: nothing; what stands in loops stays as it is:
// those were made with care for memory.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;

static bool isInFunction(Operation *op) {
  return op && isa<func::FuncOp>(op->getParentOp()) &&
         op->getBlock() == &op->getParentRegion()->front();
}

namespace {
struct FuseElementwise : xetile::impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (isInFunction(op))
        ops.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *use) {
      Operation *producer = use->get().getDefiningOp();
      return isInFunction(producer) && isInFunction(use->getOwner()) && producer->hasOneUse();
    });
    GreedyRewriteConfig config;
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
        .enableFolding(false)
        .enableConstantCSE(false);
    (void)applyOpPatternsGreedily(ops, std::move(patterns), config);
  }
};
} // namespace
