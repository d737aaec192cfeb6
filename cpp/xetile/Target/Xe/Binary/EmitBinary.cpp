//===- EmitBinary.cpp - gpu.module in the LLVM dialect to gpu.binary --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules with a #xevm.target and LLVM dialect only. Out: gpu.binaries of SPIR-V and
// machine code. Refused: other ops, leftover casts, other subgroup sizes, SPIR-V that does not
// validate, a required but missing ocloc.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVM/XeVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/XeVM/XeVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "xetile/Facts/MachineFacts.h"
#include "xetile/Target/Xe/Binary/KernelName.h"
#include "xetile/Target/Xe/Binary/Ocloc.h"
#include "xetile/Target/Xe/Lanes/RegisterEstimate.h"
#include "xetile/Target/Xe/Llvm/Builtins.h"
#include "xetile/Target/Xe/Llvm/CacheControls.h"
#include "xetile/Target/Xe/Llvm/SpirvCodegen.h"
#include "xetile/Target/Xe/Llvm/VectorPieces.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace xetile {
#define GEN_PASS_DEF_EMITBINARY
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

struct EmitBinary : xetile::impl::EmitBinaryBase<EmitBinary> {
  using EmitBinaryBase::EmitBinaryBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    EmitBinaryBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerXeVMDialectTranslation(registry);
    xevm::registerXeVMTargetInterfaceExternalModels(registry);
  }

  void runOnOperation() override;

private:
  LogicalResult findTools();
  LogicalResult checkModule(gpu::GPUModuleOp module);
  LogicalResult checkCalls(gpu::GPUModuleOp module, const xetile::TargetInfo &target);
  LogicalResult setSubgroupSize(gpu::GPUModuleOp module, const xetile::TargetInfo &target);
  FailureOr<std::string> emitSpirv(gpu::GPUModuleOp module, xevm::XeVMTargetAttr target,
                                   std::string &forMachineCode);
  FailureOr<Attribute> emitNative(gpu::GPUModuleOp module, xevm::XeVMTargetAttr target,
                                  StringRef chip, StringRef spirv);
  LogicalResult dump(gpu::GPUModuleOp module, const Twine &suffix, StringRef bytes);
  LogicalResult emit(gpu::GPUModuleOp module);

  std::optional<std::string> oclocPath;
};

LogicalResult EmitBinary::findTools() {
  if (native != "auto" && native != "require" && native != "off")
    return getOperation().emitError()
           << "option native is '" << native << "', expected 'auto', 'require' or 'off'";
  for (const std::string &chip : nativeChips)
    if (auto why = xetile::checkChip(chip))
      return getOperation().emitError() << "option native-chips: " << *why;
  if (native == "off")
    return success();
  oclocPath = xetile::findOcloc(ocloc);
  if (oclocPath || native == "auto")
    return success();
  return getOperation().emitError()
         << "machine code is required but " << xetile::explainNoOcloc(ocloc);
}

LogicalResult EmitBinary::checkModule(gpu::GPUModuleOp module) {
  if (auto why = xetile::checkKernelName(module.getName()))
    return module.emitOpError() << *why;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      if (auto why = xetile::checkKernelName(function.getName()))
        return function.emitOpError() << *why;
  WalkResult result = module.walk([&](Operation *op) {
    if (op == module.getOperation() || isa_and_nonnull<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError() << "is left in device code, expected only the LLVM dialect: lower it before "
                      << getArgument();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Vectors of functions that others define stay as they are; wide ones elsewhere are split.
std::optional<Type> findWideVector(LLVM::CallOp call) {
  auto isWide = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && !xetile::isLegalCount(unsigned(vector.getNumElements()));
  };
  for (TypeRange types : {TypeRange(call.getOperandTypes()), TypeRange(call.getResultTypes())})
    for (Type type : types)
      if (isWide(type))
        return type;
  return std::nullopt;
}

LogicalResult EmitBinary::checkCalls(gpu::GPUModuleOp module, const xetile::TargetInfo &target) {
  WalkResult result = module.walk([&](LLVM::CallOp call) {
    std::optional<StringRef> name = call.getCallee();
    auto callee = name ? module.lookupSymbol<LLVM::LLVMFuncOp>(*name) : nullptr;
    if (!callee || !callee.isExternal() || name->starts_with("llvm."))
      return WalkResult::advance();
    if (auto why = xetile::whyNoBuiltin(target, *name)) {
      call.emitOpError() << "calls '" << *name << "', which " << target.chip
                         << " does not have: " << *why;
      return WalkResult::interrupt();
    }
    if (std::optional<Type> wide = findWideVector(call)) {
      call.emitOpError() << "passes " << *wide << " from or to '" << *name
                         << "', which is defined elsewhere; SPIR-V has vectors of 2, 3, 4, 8 and "
                            "16 elements: pass it in several, or in memory";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult EmitBinary::setSubgroupSize(gpu::GPUModuleOp module,
                                          const xetile::TargetInfo &target) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      continue;
    std::optional<uint32_t> size = function.getIntelReqdSubGroupSize();
    if (size && *size != target.subgroupSize)
      return function.emitOpError() << "requires subgroups of " << *size << " lanes, expected "
                                    << target.subgroupSize << " on " << target.chip;
    function.setIntelReqdSubGroupSize(target.subgroupSize);
  }
  return success();
}

LogicalResult EmitBinary::dump(gpu::GPUModuleOp module, const Twine &suffix, StringRef bytes) {
  if (dumpDir.empty())
    return success();
  std::error_code code = llvm::sys::fs::create_directories(dumpDir);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      continue;
    SmallString<128> path(dumpDir);
    llvm::sys::path::append(path, xetile::fileNameOfKernel(function.getName()) + suffix);
    if (!code) {
      llvm::raw_fd_ostream stream(path, code);
      if (!code) {
        stream << bytes;
        stream.flush();
        code = stream.error();
        stream.clear_error();
      }
    }
    if (code)
      return module.emitOpError() << "cannot write " << path.str() << ": " << code.message();
  }
  return success();
}

/// Of a function's type, by the universal limits of SPIR-V.
constexpr size_t kMaxArguments = 255;

/// Wide vectors are several arguments by now.
LogicalResult checkArguments(gpu::GPUModuleOp module, const llvm::Module &llvmModule) {
  for (const llvm::Function &function : llvmModule) {
    if (function.arg_size() <= kMaxArguments)
      continue;
    Operation *op = module.lookupSymbol(function.getName());
    return (op ? op : module)->emitOpError("has ")
           << function.arg_size() << " arguments in SPIR-V, whose functions take at most "
           << kMaxArguments
           << "; a memref is three and two for each of its dimensions, a vector one for each "
              "block: "
              "expected fewer memrefs, and vectors to be loaded where they are used";
  }
  return success();
}

/// `forMachineCode` is the same, with cache hints where they are asked for.
FailureOr<std::string> EmitBinary::emitSpirv(gpu::GPUModuleOp module, xevm::XeVMTargetAttr target,
                                             std::string &forMachineCode) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, module.getName());
  if (!llvmModule)
    return module.emitOpError("cannot be translated to LLVM IR"), failure();
  auto fail = [&](const Twine &what, StringRef why) -> FailureOr<std::string> {
    return module.emitOpError() << what << ": " << why;
  };
  xetile::SpirvOptions options;
  options.level = static_cast<unsigned>(target.getO());
  options.prefetchPayloads = prefetchPayloads;
  options.blockPayloads = prefetchPayloads && !cacheControls;
  const xetile::MachineFacts *facts = xetile::lookupMachineFacts(xetile::chipOf(target));
  options.hasMessageOffsets = facts && facts->hasMessageOffsets;
  if (auto why = xetile::optimizeForSpirv(*llvmModule, target.getTriple(), options))
    return fail("cannot be prepared for SPIR-V", *why);
  if (failed(checkArguments(module, *llvmModule)))
    return failure();
  if (!dumpDir.empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << *llvmModule;
    if (failed(dump(module, ".ll", text)))
      return failure();
  }
  std::string spirv;
  if (auto why = xetile::translateToSpirv(*llvmModule, spirv))
    return fail("cannot be translated to SPIR-V", *why);
  if (failed(dump(module, ".spv", spirv)))
    return failure();
  if (auto why = xetile::validateSpirv(spirv))
    return fail("became SPIR-V that is not valid", *why);
  forMachineCode = spirv;
  if (!cacheControls || !oclocPath)
    return spirv;
  if (auto why = xetile::translateToSpirv(*llvmModule, forMachineCode, /*withCacheControls=*/true))
    return fail("cannot be translated to SPIR-V with cache hints", *why);
  if (auto why = xetile::validateSpirv(xetile::withoutCacheControls(forMachineCode)))
    return fail("became SPIR-V with cache hints that is not valid", *why);
  return spirv;
}

/// The register estimate of the lowering to lanes, of the kernel that needs most.
struct Estimate {
  LLVM::LLVMFuncOp kernel;
  int64_t registers = 0;
  StringRef values;

  explicit Estimate(gpu::GPUModuleOp module) {
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      auto facts = function->getAttrOfType<DictionaryAttr>(xetile::registerEstimateAttr);
      auto number = facts ? facts.getAs<IntegerAttr>("registers") : nullptr;
      auto text = facts ? facts.getAs<StringAttr>("values") : nullptr;
      if (number && text && number.getInt() > registers) {
        kernel = function;
        registers = number.getInt();
        values = text.getValue();
      }
    }
  }

  void warn(const Twine &what, unsigned there) const {
    auto function = kernel; // the location alone: notes would hold the whole function
    mlir::emitWarning(function.getLoc())
        << what << ": vectors of " << registers << " registers live at once, of " << there
        << " that a thread has: " << values << "; smaller tiles or steps need fewer";
  }
};

FailureOr<Attribute> EmitBinary::emitNative(gpu::GPUModuleOp module, xevm::XeVMTargetAttr target,
                                            StringRef chip, StringRef spirv) {
  SmallVector<StringRef> kernels;
  bool lineTables = false;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()))
      kernels.push_back(function.getName());
    lineTables |= !!function.getLoc()->findInstanceOf<FusedLocWith<LLVM::DISubprogramAttr>>();
  }
  const xetile::TargetInfo &device = *xetile::lookupTarget(chip);
  xetile::OclocJob job = {spirv, device.oclocDevice, kernels, largeRegisterFile};
  job.lineTables = lineTables;
  // Where it cannot but spill, one run of the compiler is spared; it may order loads better than
  // they stand here, so by a margin.
  Estimate estimate(module);
  if (job.registers == xetile::RegisterFile::Auto &&
      estimate.registers > device.registersPerThread + device.registersPerThread / 4)
    job.registers = xetile::RegisterFile::Large;
  xetile::NativeBinary binary;
  if (auto why = xetile::runOcloc(*oclocPath, job, binary)) {
    module.emitOpError() << "cannot be compiled to machine code: " << *why;
    return failure();
  }
  if (binary.spillBytes && estimate.kernel)
    estimate.warn("spills " + Twine(binary.spillBytes) + " bytes of a thread on " + chip,
                  binary.registers);
  if (failed(dump(module, "." + chip + ".bin", binary.bytes)))
    return failure();
  Builder builder(&getContext());
  DictionaryAttr properties = builder.getDictionaryAttr({
      builder.getNamedAttr("chip", builder.getStringAttr(chip)),
      builder.getNamedAttr("kind", builder.getStringAttr("native")),
      builder.getNamedAttr("registers", builder.getI64IntegerAttr(binary.registers)),
      builder.getNamedAttr("spill", builder.getI64IntegerAttr(binary.spillBytes)),
  });
  return Attribute(gpu::ObjectAttr::get(target, gpu::CompilationTarget::Binary,
                                        builder.getStringAttr(binary.bytes), properties));
}

LogicalResult EmitBinary::emit(gpu::GPUModuleOp module) {
  xevm::XeVMTargetAttr target = xetile::findTargetAttr(module);
  if (!target)
    return module.emitOpError("has no #xevm.target: run xetile-attach-target first");
  StringRef chip = xetile::chipOf(target);
  if (auto why = xetile::checkChip(chip))
    return module.emitOpError() << *why;
  const xetile::TargetInfo &device = *xetile::lookupTarget(chip);
  if (failed(checkModule(module)) || failed(checkCalls(module, device)) ||
      failed(setSubgroupSize(module, device)))
    return failure();
  std::string forMachineCode;
  FailureOr<std::string> spirv = emitSpirv(module, target, forMachineCode);
  if (failed(spirv))
    return failure();

  OpBuilder builder(module);
  SmallVector<Attribute> objects = {
      gpu::ObjectAttr::get(target, gpu::CompilationTarget::Binary, builder.getStringAttr(*spirv))};
  SmallVector<StringRef> chips(nativeChips.begin(), nativeChips.end());
  if (chips.empty())
    chips.push_back(chip);
  Estimate estimate(module);
  if (!oclocPath && native == "auto" && estimate.registers > device.largeRegisters)
    estimate.warn("will spill on " + Twine(chip), device.largeRegisters);
  if (oclocPath)
    for (StringRef nativeChip : chips) {
      FailureOr<Attribute> object = emitNative(module, target, nativeChip, forMachineCode);
      if (failed(object))
        return failure();
      objects.push_back(*object);
    }
  gpu::BinaryOp::create(builder, module.getLoc(), module.getName(), /*offloadingHandler=*/nullptr,
                        builder.getArrayAttr(objects));
  module.erase();
  return success();
}

void EmitBinary::runOnOperation() {
  if (failed(findTools()))
    return signalPassFailure();
  for (auto module : llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
    if (failed(emit(module)))
      return signalPassFailure();
}

} // namespace
