//===- LinalgToVectorLoops.cpp - linalg ops on memrefs to vector code --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on memrefs. Out: loops of vectors, edges masked.
// Refused: nothing; ops that read against the grain are left for the lowering to scalar loops.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "xetile/Target/Cpu/Lowering/VectorBits.h"
#include "xetile/Target/Cpu/Lowering/VectorLoops/VectorLoops.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_LINALGTOVECTORLOOPS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct LinalgToVectorLoops : xetile::impl::LinalgToVectorLoopsBase<LinalgToVectorLoops> {
  using LinalgToVectorLoopsBase::LinalgToVectorLoopsBase;

  void runOnOperation() override {
    if (failed(checkVectorBits(vectorBits, &getContext())))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    // Copies between strided memory would call a function of a runtime library, which is not there.
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    for (memref::CopyOp op : copies) {
      auto from = dyn_cast<MemRefType>(op.getSource().getType());
      auto to = dyn_cast<MemRefType>(op.getTarget().getType());
      if (!from || !to || (from.getLayout().isIdentity() && to.getLayout().isIdentity()))
        continue;
      rewriter.setInsertionPoint(op);
      linalg::makeMemRefCopyOp(rewriter, op.getLoc(), op.getSource(), op.getTarget());
      rewriter.eraseOp(op);
    }
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (linalg::LinalgOp op : ops) {
      FailureOr<int64_t> bits = vectorBitsFor(op, vectorBits);
      if (failed(bits))
        return signalPassFailure();
      if (std::optional<VectorPlan> plan = planVectors(op, *bits))
        emitVectorLoops(rewriter, op, *plan);
    }
  }
};
} // namespace
