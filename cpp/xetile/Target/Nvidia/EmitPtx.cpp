//===- EmitPtx.cpp - gpu.module in the LLVM dialect to PTX ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules of LLVM and NVVM ops. Out: gpu.binaries of PTX, with what launches ask for.
// Refused: other dialects; calls of functions that are defined nowhere, which the driver would
// miss.
//===----------------------------------------------------------------------===//
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/Passes.h"
#include "xetile/Target/Nvidia/PtxCodegen.h"
#include "xetile/Target/Nvidia/RingPlan.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace xetile {
#define GEN_PASS_DEF_EMITPTX
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using xetile::kMapsAttr;
using xetile::kRingAttr;
using namespace xetile::hopper;

namespace {
struct EmitPtx : xetile::impl::EmitPtxBase<EmitPtx> {
  using EmitPtxBase::EmitPtxBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    EmitPtxBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void runOnOperation() override {
    for (auto module : llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(check(module)) || failed(emit(module)))
        return signalPassFailure();
  }

private:
  static LogicalResult check(gpu::GPUModuleOp module) {
    WalkResult result = module.walk([&](Operation *op) {
      bool isKnown = op == module.getOperation() ||
                     isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect());
      if (!isKnown)
        op->emitOpError("is left in device code, expected the LLVM and NVVM dialects: lower it "
                        "before xetile-emit-ptx");
      auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
      bool isMissing =
          function && function.isExternal() && !function.getSymName().starts_with("llvm.");
      if (isMissing)
        function.emitOpError("is called in device code and defined nowhere; expected its code in "
                             "the module, or operations of arith and math");
      return isKnown && !isMissing ? WalkResult::advance() : WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult emit(gpu::GPUModuleOp module) {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
    if (!code)
      return module.emitOpError("cannot be translated to LLVM IR");
    xetile::Result<std::string> ptx = xetile::hopper::makePtx(*code);
    if (!ptx)
      return module.emitOpError() << ptx.error().message;
    OpBuilder b(module);
    SmallVector<NamedAttribute> kernels;
    for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
      if (auto ring = kernel->getAttrOfType<DictionaryAttr>(kRingAttr)) {
        auto maps = kernel->getAttrOfType<ArrayAttr>(kMapsAttr);
        kernels.push_back(b.getNamedAttr(
            kernel.getSymName(),
            b.getDictionaryAttr({b.getNamedAttr("ring", ring),
                                 b.getNamedAttr("maps", maps ? maps : b.getArrayAttr({}))})));
      }
    auto target =
        NVVM::NVVMTargetAttr::get(b.getContext(), 3, "nvptx64-nvidia-cuda", kChip, kFeatures);
    auto object = gpu::ObjectAttr::get(b.getContext(), target, gpu::CompilationTarget::Assembly,
                                       b.getStringAttr(*ptx), b.getDictionaryAttr(kernels),
                                       gpu::KernelTableAttr());
    gpu::BinaryOp::create(b, module.getLoc(), module.getName(), Attribute(),
                          b.getArrayAttr({object}));
    module.erase();
    return success();
  }
};
} // namespace
