//===- SplitDescriptors.cpp - one descriptor for each use -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeGPU where several ops share a create_nd_tdesc. Out: each load, store and prefetch has its
// own. Refused: nothing; descriptors that loops carry stay shared.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/IR/Builders.h"
#include "xetile/Target/Xe/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SPLITDESCRIPTORS
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

struct SplitDescriptors : xetile::impl::SplitDescriptorsBase<SplitDescriptors> {
  using SplitDescriptorsBase::SplitDescriptorsBase;

  void runOnOperation() override {
    SmallVector<xegpu::CreateNdDescOp> descriptors;
    getOperation().walk([&](xegpu::CreateNdDescOp op) { descriptors.push_back(op); });
    for (xegpu::CreateNdDescOp descriptor : descriptors) {
      OpBuilder builder(descriptor);
      bool first = true;
      for (OpOperand &use : llvm::make_early_inc_range(descriptor->getUses())) {
        if (!isa<xegpu::LoadNdOp, xegpu::StoreNdOp, xegpu::PrefetchNdOp>(use.getOwner()))
          continue;
        if (!first)
          use.set(builder.clone(*descriptor)->getResult(0));
        first = false;
      }
    }
  }
};

} // namespace
