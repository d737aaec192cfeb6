//===- Bf16ToI16.cpp - bf16 values as the integers that hold their bits -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: device code in the LLVM dialect that moves bf16 values. Out: the same on i16.
// Refused: operations that compute with bf16: they were to be widened to f32 before.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/Target/Host/Bf16Bits.h"
#include "xetile/Target/Xe/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_BF16TOI16
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

bool isBf16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

/// True for operations on bit patterns.
bool movesBits(Operation *op) {
  return isa<LLVM::AddressOfOp, LLVM::AllocaOp, LLVM::BitcastOp, LLVM::BrOp, LLVM::CallOp,
             LLVM::CondBrOp, LLVM::ConstantOp, LLVM::ExtractElementOp, LLVM::ExtractValueOp,
             LLVM::FreezeOp, LLVM::GEPOp, LLVM::GlobalOp, LLVM::InsertElementOp,
             LLVM::InsertValueOp, LLVM::LLVMFuncOp, LLVM::LoadOp, LLVM::PoisonOp, LLVM::ReturnOp,
             LLVM::SelectOp, LLVM::ShuffleVectorOp, LLVM::StoreOp, LLVM::SwitchOp, LLVM::UndefOp,
             LLVM::ZeroOp>(op);
}

LogicalResult check(Operation *op) {
  if (llvm::none_of(op->getOperandTypes(), isBf16) && llvm::none_of(op->getResultTypes(), isBf16))
    return success();
  // A bitcast of a bf16 to itself or to other elements is one of i16 then.
  if (movesBits(op))
    return success();
  return op->emitOpError("has bf16 values, which SPIR-V has no arithmetic for; expected f32 here, "
                         "with arith.extf before and arith.truncf behind");
}

struct Bf16ToI16 : xetile::impl::Bf16ToI16Base<Bf16ToI16> {
  using Bf16ToI16Base::Bf16ToI16Base;

  void runOnOperation() override {
    if (getOperation()->walk([](Operation *op) { return WalkResult(check(op)); }).wasInterrupted())
      return signalPassFailure();
    getBf16BitsReplacer(&getContext())
        .recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                      /*replaceTypes=*/true);
  }
};

} // namespace
