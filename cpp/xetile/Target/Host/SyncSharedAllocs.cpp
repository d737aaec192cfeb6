//===- SyncSharedAllocs.cpp - shared memory is allocated at once ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: asynchronous gpu.alloc host_shared, as gpu-async-region makes them. Out: synchronous ones.
// Refused: nothing.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SYNCSHAREDALLOCS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

struct SyncSharedAllocs : xetile::impl::SyncSharedAllocsBase<SyncSharedAllocs> {
  using SyncSharedAllocsBase::SyncSharedAllocsBase;

  void runOnOperation() override {
    getOperation().walk([](gpu::AllocOp alloc) {
      // With several dependencies there is no one token to pass on; gpu-async-region makes one.
      if (!alloc.getHostShared() || !alloc.getAsyncToken() ||
          alloc.getAsyncDependencies().size() != 1)
        return;
      OpBuilder builder(alloc);
      auto shared = gpu::AllocOp::create(builder, alloc.getLoc(), alloc.getType(),
                                         /*asyncToken=*/Type(), /*asyncDependencies=*/ValueRange(),
                                         alloc.getDynamicSizes(), alloc.getSymbolOperands(),
                                         /*hostShared=*/true);
      alloc.getMemref().replaceAllUsesWith(shared.getMemref());
      alloc.getAsyncToken().replaceAllUsesWith(alloc.getAsyncDependencies().front());
      alloc.erase();
    });
  }
};

} // namespace
