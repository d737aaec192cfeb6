//===- CheckBlockAccesses.cpp - 2D block messages that the device takes -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules with xevm.blockload2d, blockstore2d and blockprefetch2d. Out: the same.
// Refused: block shapes outside the device's limits; surfaces of constant extent that its 2D unit
// cannot take.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKBLOCKACCESSES
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

std::optional<uint64_t> constant(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getZExtValue();
}

/// Unknown extents are taken for good ones: the widest surface that is legal.
template <typename Op>
std::optional<std::string> checkSurface(Op op, const xetile::TargetInfo &target) {
  uint64_t width = constant(op.getBaseWidth()).value_or(target.surface.minWidthBytes);
  uint64_t pitch = constant(op.getBasePitch()).value_or(target.surface.maxExtent);
  uint64_t height = constant(op.getBaseHeight()).value_or(1);
  return target.checkSurface(width, height, pitch, op.getElemSizeInBits());
}

std::optional<std::string> check(Operation *op, const xetile::TargetInfo &target) {
  if (auto load = dyn_cast<xevm::BlockLoad2dOp>(op)) {
    if (auto why = target.check2DBlockLoad(load.getElemSizeInBits(), load.getTileWidth(),
                                           load.getTileHeight(), load.getVBlocks(),
                                           load.getTranspose(), load.getPackRegister()))
      return why;
    return checkSurface(load, target);
  }
  if (auto store = dyn_cast<xevm::BlockStore2dOp>(op)) {
    if (auto why = target.check2DBlockStore(store.getElemSizeInBits(), store.getTileWidth(),
                                            store.getTileHeight()))
      return why;
    return checkSurface(store, target);
  }
  if (auto prefetch = dyn_cast<xevm::BlockPrefetch2dOp>(op)) {
    if (auto why =
            target.check2DBlockPrefetch(prefetch.getElemSizeInBits(), prefetch.getTileWidth(),
                                        prefetch.getTileHeight(), prefetch.getVBlocks()))
      return why;
    return checkSurface(prefetch, target);
  }
  return std::nullopt;
}

struct CheckBlockAccesses : xetile::impl::CheckBlockAccessesBase<CheckBlockAccesses> {
  using CheckBlockAccessesBase::CheckBlockAccessesBase;

  void runOnOperation() override {
    xevm::XeVMTargetAttr attr = xetile::findTargetAttr(getOperation());
    if (!attr) {
      getOperation().emitOpError("has no #xevm.target: run xetile-attach-target first");
      return signalPassFailure();
    }
    StringRef chip = xetile::chipOf(attr);
    if (auto why = xetile::checkChip(chip)) {
      getOperation().emitOpError() << *why;
      return signalPassFailure();
    }
    const xetile::TargetInfo &target = *xetile::lookupTarget(chip);
    WalkResult result = getOperation().walk([&](Operation *op) {
      std::optional<std::string> why = check(op, target);
      if (!why)
        return WalkResult::advance();
      op->emitOpError() << "cannot run on " << chip << ": " << *why;
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
