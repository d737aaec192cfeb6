//===- InlineAllocaScopes.cpp - bodies of parallel loops without a scope -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: memref.alloca_scope, which convert-scf-to-openmp puts around bodies. Out: the bodies, the
// stack restored behind those that allocate. Refused: nothing. A scope has one block, so that loops
// inside cannot become branches; upstream inlines none with an op whose effects it does not know.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_INLINEALLOCASCOPES
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;

static bool allocates(memref::AllocaScopeOp scope) {
  return scope
      .walk([](Operation *op) {
        return isa<memref::AllocaOp, LLVM::AllocaOp>(op) ? WalkResult::interrupt()
                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

static void inlineScope(IRRewriter &b, memref::AllocaScopeOp scope) {
  Location loc = scope.getLoc();
  Block *body = &scope.getBodyRegion().front();
  Operation *end = body->getTerminator();
  if (allocates(scope)) {
    b.setInsertionPoint(scope);
    Value stack =
        LLVM::StackSaveOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext())).getResult();
    b.setInsertionPointAfter(scope);
    LLVM::StackRestoreOp::create(b, loc, stack);
  }
  SmallVector<Value> results(end->getOperands());
  b.eraseOp(end);
  b.inlineBlockBefore(body, scope);
  b.replaceOp(scope, results);
}

namespace {
struct InlineAllocaScopes : xetile::impl::InlineAllocaScopesBase<InlineAllocaScopes> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Inner ones first.
    getOperation()->walk([&](memref::AllocaScopeOp scope) { inlineScope(rewriter, scope); });
  }
};
} // namespace
