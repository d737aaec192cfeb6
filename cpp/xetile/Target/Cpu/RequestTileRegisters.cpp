//===- RequestTileRegisters.cpp - ask the system for AMX ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module in the LLVM dialect. Out: where it has instructions on tile registers, a constructor
// that asks Linux to let the process use them. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_REQUESTTILEREGISTERS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;

static bool hasTiles(ModuleOp module) {
  return module
      ->walk([](LLVM::CallIntrinsicOp call) {
        StringRef name = call.getIntrin();
        return name.starts_with("llvm.x86.tile") || name.starts_with("llvm.x86.tdp")
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)` as the instruction: code that is saved
/// needs no library for it.
static void emitRequest(OpBuilder &b, Location loc) {
  constexpr int64_t kArchPrctl = 158, kRequestPermission = 0x1023, kTileData = 18;
  auto word = b.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, word, b.getI64IntegerAttr(value));
  };
  SmallVector<Value> operands = {constant(kArchPrctl), constant(kRequestPermission),
                                 constant(kTileData)};
  LLVM::InlineAsmOp::create(
      b, loc, word, operands, "syscall", "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}",
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
}

namespace {
struct RequestTileRegisters : xetile::impl::RequestTileRegistersBase<RequestTileRegisters> {
  void runOnOperation() override {
    constexpr StringLiteral kName = "xetile_request_tile_registers";
    ModuleOp module = getOperation();
    if (!hasTiles(module) || module.lookupSymbol(kName))
      return;
    Location loc = module.getLoc();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {});
    auto function = LLVM::LLVMFuncOp::create(b, loc, kName, type, LLVM::Linkage::Internal);
    LLVM::GlobalCtorsOp::create(b, loc, b.getArrayAttr({FlatSymbolRefAttr::get(function)}),
                                b.getI32ArrayAttr({0}),
                                b.getArrayAttr({LLVM::ZeroAttr::get(b.getContext())}));
    b.setInsertionPointToStart(function.addEntryBlock(b));
    emitRequest(b, loc);
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }
};
} // namespace
