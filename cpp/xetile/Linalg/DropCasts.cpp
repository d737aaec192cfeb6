//===- DropCasts.cpp - concatenations of what has known sizes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tensor.concat of tensors that tensor.cast gave sizes of a run. Out: the same of what was
// cast. Refused: nothing; other casts stay, for canonicalization.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_DROPCASTS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct DropCasts : xetile::impl::DropCastsBase<DropCasts> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::ConcatOp> ops;
    getOperation()->walk([&](tensor::ConcatOp op) { ops.push_back(op); });
    for (tensor::ConcatOp op : ops)
      drop(rewriter, op);
  }

private:
  static void drop(RewriterBase &b, tensor::ConcatOp op) {
    SmallVector<Value> inputs(op.getInputs());
    SmallVector<tensor::CastOp> casts;
    for (Value &input : inputs)
      if (auto cast = input.getDefiningOp<tensor::CastOp>();
          cast && tensor::preservesStaticInformation(cast.getType(), cast.getSource().getType())) {
        casts.push_back(cast);
        input = cast.getSource();
      }
    if (casts.empty())
      return;
    b.setInsertionPoint(op);
    Value all = tensor::ConcatOp::create(b, op.getLoc(), op.getDim(), inputs);
    if (all.getType() != op.getType())
      all = tensor::CastOp::create(b, op.getLoc(), op.getType(), all);
    b.replaceOp(op, all);
    for (tensor::CastOp cast : casts)
      if (cast->use_empty())
        b.eraseOp(cast);
  }
};
} // namespace
