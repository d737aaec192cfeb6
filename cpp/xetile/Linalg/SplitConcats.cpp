//===- SplitConcats.cpp - concatenations of few tensors at once -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tensor.concat of any number of tensors. Out: the same of at most `most`, some of which are
// concatenations. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SPLITCONCATS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct SplitConcats : xetile::impl::SplitConcatsBase<SplitConcats> {
  using SplitConcatsBase::SplitConcatsBase;

  void runOnOperation() override {
    if (most < 2) {
      getOperation()->emitError("most: expected 2 or more, got ") << most.getValue();
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::ConcatOp> ops;
    getOperation()->walk([&](tensor::ConcatOp op) { ops.push_back(op); });
    for (tensor::ConcatOp op : ops)
      split(rewriter, op);
  }

private:
  void split(RewriterBase &b, tensor::ConcatOp op) {
    SmallVector<Value> pieces(op.getInputs());
    if (pieces.size() <= most)
      return;
    b.setInsertionPoint(op);
    while (pieces.size() > most) {
      SmallVector<Value> joined;
      for (size_t first = 0; first < pieces.size(); first += most) {
        ArrayRef<Value> group =
            ArrayRef(pieces).slice(first, std::min<size_t>(most, pieces.size() - first));
        joined.push_back(
            group.size() == 1
                ? group.front()
                : tensor::ConcatOp::create(b, op.getLoc(), op.getDim(), group).getResult());
      }
      pieces = std::move(joined);
    }
    b.replaceOpWithNewOp<tensor::ConcatOp>(op, op.getType(), op.getDim(), pieces);
  }
};
} // namespace
