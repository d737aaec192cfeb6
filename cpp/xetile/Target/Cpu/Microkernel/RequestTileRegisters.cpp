//===- RequestTileRegisters.cpp - ask the system for AMX ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module in the LLVM dialect. Out: where it has instructions on tile registers, a constructor
// that asks Linux to let the process use them and keeps what to say if it does not. Nothing is
// refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/Target/Cpu/Passes.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_REQUESTTILEREGISTERS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

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
/// needs no library for it. Zero if the process has them.
static Value emitRequest(OpBuilder &b, Location loc) {
  constexpr int64_t kArchPrctl = 158, kRequestPermission = 0x1023, kTileData = 18;
  auto word = b.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, word, b.getI64IntegerAttr(value));
  };
  SmallVector<Value> operands = {constant(kArchPrctl), constant(kRequestPermission),
                                 constant(kTileData)};
  auto request = LLVM::InlineAsmOp::create(
      b, loc, word, operands, "syscall", "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}",
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  return request.getRes();
}

/// The variable that entries look at before they call: null, or a text. Modules that are linked
/// together have one.
static LLVM::GlobalOp addRefusal(OpBuilder &b, Location loc) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto refusal = LLVM::GlobalOp::create(b, loc, pointer, /*isConstant=*/false, LLVM::Linkage::Weak,
                                        kRefusal, Attribute());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&refusal.getInitializerRegion());
  LLVM::ReturnOp::create(b, loc, LLVM::ZeroOp::create(b, loc, pointer).getResult());
  return refusal;
}

static LLVM::GlobalOp addText(OpBuilder &b, Location loc, StringRef name, StringRef text) {
  std::string ended = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), ended.size());
  return LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                b.getStringAttr(ended));
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
    LLVM::GlobalOp refusal = addRefusal(b, loc);
    LLVM::GlobalOp text =
        addText(b, loc, "xetile_no_tile_registers",
                "expected Linux to lend this process the tile registers of AMX, which the code "
                "uses; it refused: compile for this machine as it is, or allow arch_prctl");
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {});
    auto function = LLVM::LLVMFuncOp::create(b, loc, kName, type, LLVM::Linkage::Internal);
    LLVM::GlobalCtorsOp::create(b, loc, b.getArrayAttr({FlatSymbolRefAttr::get(function)}),
                                b.getI32ArrayAttr({0}),
                                b.getArrayAttr({LLVM::ZeroAttr::get(b.getContext())}));
    b.setInsertionPointToStart(function.addEntryBlock(b));
    Value answer = emitRequest(b, loc);
    Value zero = LLVM::ConstantOp::create(b, loc, answer.getType(), 0);
    Value lent = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, answer, zero);
    Value told = LLVM::AddressOfOp::create(b, loc, text);
    Value nothing = LLVM::ZeroOp::create(b, loc, told.getType());
    Value said = LLVM::SelectOp::create(b, loc, lent, nothing, told);
    LLVM::StoreOp::create(b, loc, said, LLVM::AddressOfOp::create(b, loc, refusal));
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }
};
} // namespace
