//===- DropPacking.cpp - no packing of elements that fill a register word ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeGPU of lanes. Out: load_nd of elements of 32 bits and more without {packed}.
// Refused: nothing.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/Target/Xe/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_DROPPACKING
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

struct DropPacking : xetile::impl::DropPackingBase<DropPacking> {
  using DropPackingBase::DropPackingBase;

  void runOnOperation() override {
    getOperation().walk([](xegpu::LoadNdOp load) {
      Type element = load.getTensorDescType().getElementType();
      if (load.getPacked() && element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 32)
        load.removePackedAttr();
    });
  }
};

} // namespace
