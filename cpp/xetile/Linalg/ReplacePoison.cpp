//===- ReplacePoison.cpp - poison to tensors that hold anything, and zeros ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: ub.poison of tensors and numbers, which folding makes, too. Out: tensor.empty of the same
// sizes, which may hold anything, as poison may; zeros.
// Refused: tensors with sizes known at run time only: nothing tells them.
//
// Upstream's bufferization knows no memory for poison, and its folding of tensor.from_elements
// takes poison for a number and crashes.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "xetile/IR/PlaceOf.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_REPLACEPOISON
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct ReplacePoison : xetile::impl::ReplacePoisonBase<ReplacePoison> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    WalkResult result = getOperation()->walk([&](ub::PoisonOp op) -> WalkResult {
      if (op.getType().isIntOrIndexOrFloat()) {
        rewriter.setInsertionPoint(op);
        rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getZeroAttr(op.getType()));
        return WalkResult::advance();
      }
      if (!isa<TensorType>(op.getType()))
        return WalkResult::advance();
      auto type = dyn_cast<RankedTensorType>(op.getType());
      if (!type || !type.hasStaticShape())
        return emitError(xetile::placeOf(op))
               << "'" << op->getName() << "' op has the type " << op.getType()
               << ", whose sizes nothing tells: expected static sizes, or a tensor.empty with "
                  "sizes";
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, type, ValueRange());
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
