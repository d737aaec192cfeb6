//===- Bf16AsBits.cpp - bf16 in memory and registers as integers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the LLVM dialect, nothing computed in bf16. Out: the same, bf16 being i16; operands of
// intrinsics stay, by bitcasts. Refused: bf16 in other dialects; by the verifier, arithmetic on it.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/Target/Cpu/Passes.h"
#include "xetile/Target/Host/Bf16Bits.h"

namespace xetile {
#define GEN_PASS_DEF_BF16ASBITS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct Bf16AsBits : xetile::impl::Bf16AsBitsBase<Bf16AsBits> {
  void runOnOperation() override {
    AttrTypeReplacer replacer = getBf16BitsReplacer(&getContext());
    auto onHost = [](Operation *op) {
      return isa<gpu::GPUModuleOp>(op) ? WalkResult::skip() : WalkResult::advance();
    };
    auto hasBf16 = [&](Operation *op) {
      auto changes = [&](Type type) { return replacer.replace(type) != type; };
      return llvm::any_of(op->getOperandTypes(), changes) ||
             llvm::any_of(op->getResultTypes(), changes) ||
             replacer.replace(op->getAttrDictionary()) != op->getAttrDictionary();
    };
    WalkResult lowered = getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (isa_and_present<LLVM::LLVMDialect>(op->getDialect()) || !hasBf16(op))
        return WalkResult::advance();
      op->emitOpError("has values of bf16 and is not of the LLVM dialect: lower it first");
      return WalkResult::interrupt();
    });
    if (lowered.wasInterrupted())
      return signalPassFailure();
    // Instructions on bf16 want their types: what they take and give is cast.
    SmallVector<std::pair<OpOperand *, Type>> taken;
    SmallVector<OpResult> given;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<LLVM::CallIntrinsicOp>(op)) {
        for (OpOperand &operand : op->getOpOperands())
          if (replacer.replace(operand.get().getType()) != operand.get().getType())
            taken.push_back({&operand, operand.get().getType()});
        for (OpResult result : op->getResults())
          if (replacer.replace(result.getType()) != result.getType())
            given.push_back(result);
      }
      return onHost(op);
    });
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<LLVM::CallIntrinsicOp, gpu::GPUModuleOp>(op))
        replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                   /*replaceTypes=*/true);
      return onHost(op);
    });
    OpBuilder b(&getContext());
    for (OpResult result : given) {
      b.setInsertionPointAfter(result.getOwner());
      Value casted =
          LLVM::BitcastOp::create(b, result.getLoc(), replacer.replace(result.getType()), result);
      result.replaceAllUsesExcept(casted, casted.getDefiningOp());
    }
    for (auto [operand, type] : taken) {
      b.setInsertionPoint(operand->getOwner());
      operand->set(LLVM::BitcastOp::create(b, operand->getOwner()->getLoc(), type, operand->get()));
    }
  }
};
} // namespace
