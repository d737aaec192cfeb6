//===- StreamTiles.cpp - loads of tiles past the first-level cache -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: AMX intrinsics, loads of tiles marked as streamed. Out: these as the loads that leave the
// first-level cache to others, which MLIR's dialect does not have. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/Target/Cpu/Microkernel/TileTraffic.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_STREAMTILES
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct StreamTiles : xetile::impl::StreamTilesBase<StreamTiles> {
  void runOnOperation() override {
    getOperation()->walk([](LLVM::CallIntrinsicOp call) {
      if (call->removeDiscardableAttr(xetile::kStreamedAttr) &&
          call.getIntrin() == "llvm.x86.tileloadd64.internal")
        call.setIntrin("llvm.x86.tileloaddt164.internal");
    });
  }
};
} // namespace
