//===- XeGPUToBinaryPipeline.cpp - levels 4 to 6 ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules of XeGPU at any of its levels, host code that launches them. Out: LLVM dialect
// and gpu.binaries. Refused: what a pass leaves behind (upstream's succeed with it), at the op that
// is left.
#include "xetile/Target/Xe/XeGPUToBinaryPipeline.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "xetile/Target/Host/Passes.h"
#include "xetile/Target/Passes.h"
#include "xetile/Target/Xe/Passes.h"

using namespace mlir;
using namespace xetile;

namespace {

std::unique_ptr<Pass> checkLowered(StringRef after, ArrayRef<std::string> forbid,
                                   ArrayRef<std::string> allow = {}, StringRef scope = "device") {
  CheckLoweredOptions options;
  options.scope = scope.str();
  options.forbid.assign(forbid.begin(), forbid.end());
  options.allow.assign(allow.begin(), allow.end());
  options.after = after.str();
  return createCheckLowered(options);
}

void addXeGPUPasses(OpPassManager &gpuModule, XeGPULevel level) {
  if (level == XeGPULevel::Lane) {
    gpuModule.addPass(createCheckXeGPUSupport());
    return;
  }
  gpuModule.addPass(createAssignLaneLayouts());
  gpuModule.addPass(createDistributeToLanes());
  gpuModule.addPass(createCanonicalizerPass());
  gpuModule.addPass(createCSEPass());
  gpuModule.addPass(createLoopInvariantCodeMotionPass());
  gpuModule.addPass(createCSEPass());
}

void addHostPasses(OpPassManager &pm) {
  pm.addPass(createLowerAffinePass());
  // gpu.alloc and gpu.memcpy lower only in their asynchronous form.
  pm.addNestedPass<func::FuncOp>(createGpuAsyncRegionPass());
  pm.addNestedPass<func::FuncOp>(createSyncSharedAllocs());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createExpandDynamicShapes());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createGpuToLLVMConversionPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(checkLowered("xetile-lower-xegpu-to-binary", {},
                          {"llvm", "gpu.binary", "gpu.launch_func"}, "host"));
}

} // namespace

void xetile::buildAttachTarget(OpPassManager &pm, StringRef chip, int optLevel) {
  AttachTargetOptions target;
  target.chip = chip.str();
  target.optLevel = optLevel;
  pm.addPass(createAttachTarget(target));
}

// Long: a list of passes.
void xetile::buildLowerXeGPUToXeVM(OpPassManager &pm, XeGPULevel level) {
  pm.addPass(createCheckTypes());
  if (level != XeGPULevel::Lane) {
    // Code of a lane cannot be among that of a subgroup.
    CheckLoweredOptions options;
    options.forbid = {"llvm.func"};
    options.hint = "expected gpu.func before the lowering; xegpu-op-level=lane and "
                   "xetile-lower-xevm-to-binary take device code that is lowered already";
    pm.addPass(createCheckLowered(options));
  }
  OpPassManager &distribute = pm.nest<gpu::GPUModuleOp>();
  // First of all: layouts on constants would not outlive a folding.
  if (level == XeGPULevel::Workgroup)
    distribute.addPass(createXeGPUWgToSg());
  distribute.addPass(createLowerAffinePass());
  distribute.addPass(createAllocateSharedMemory());
  distribute.addPass(createCanonicalizerPass()); // an unused value would get no layout
  addXeGPUPasses(distribute, level);
  OpPassManager &convert = pm.nest<gpu::GPUModuleOp>();
  if (level == XeGPULevel::Lane) {
    convert.addPass(createConvertXeGPUToXeVMPass());
    convert.addPass(createCanonicalizerPass()); // shows which extents are constants
  }
  convert.addPass(createCheckBlockAccesses());
  pm.addPass(checkLowered(level == XeGPULevel::Lane ? "convert-xegpu-to-xevm"
                                                    : "xetile-distribute-to-lanes",
                          {"xegpu"}));

  OpPassManager &lower = pm.nest<gpu::GPUModuleOp>();
  // Behind the last canonicalization that knows arith: it would make conversions to bf16 of two
  // steps one of one step again.
  lower.addPass(createWidenBf16());
  lower.addPass(createMathToOpenCL());
  lower.addPass(createExpandMath());
  lower.addPass(createConvertMathToXeVM());
  lower.addPass(createRoundToBf16());
  arith::ArithExpandOpsPassOptions expand; // bf16 has no SPIR-V conversions without an extension
  expand.includeBf16 = true;
  lower.addPass(arith::createArithExpandOpsPass(expand));
  lower.addPass(createExpandDynamicShapes());
  lower.addPass(memref::createExpandStridedMetadataPass());
  lower.addPass(createNarrowIndices());
  // Before control flow is lowered: it retypes all block arguments of a function, but not the
  // branches to them.
  ConvertGpuOpsToLLVMSPVOpsOptions spirv;
  spirv.use64bitIndex = true;
  lower.addPass(createConvertGpuOpsToLLVMSPVOps(spirv));
  lower.addPass(createSCFToControlFlowPass());
  lower.addPass(createLowerAffinePass());
  lower.addPass(createConvertVectorToLLVMPass());
  lower.addPass(createConvertMathToLLVMPass());
  lower.addPass(createConvertIndexToLLVMPass());
  lower.addPass(createArithToLLVMConversionPass());
  lower.addPass(createUBToLLVMConversionPass());
  // Their own passes run on builtin.module only. Without the filter the XeVM ops would go too.
  ConvertToLLVMPassOptions llvm;
  llvm.filterDialects = {"cf", "func", "memref"};
  lower.addPass(createConvertToLLVMPass(llvm));
  lower.addPass(createReconcileUnrealizedCastsPass());
  lower.addPass(createCanonicalizerPass());
  lower.addPass(createCSEPass());
  pm.addPass(checkLowered("xetile-lower-xegpu-to-xevm", {}, {"llvm", "xevm"}));
}

void xetile::buildLowerXeVMToBinary(OpPassManager &pm, const BinaryOptions &options) {
  pm.addPass(createCheckTypes());
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertXeVMToLLVMPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  device.addPass(createBf16ToI16());
  if (options.lineTables)
    pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
  EmitBinaryOptions emit;
  emit.native = options.native;
  emit.nativeChips.assign(options.nativeChips.begin(), options.nativeChips.end());
  emit.largeRegisterFile = options.largeRegisterFile;
  emit.cacheControls = options.cacheControls;
  emit.prefetchPayloads = options.prefetchPayloads;
  emit.ocloc = options.ocloc;
  emit.dumpDir = options.dumpDir;
  pm.addPass(createEmitBinary(emit));
  addHostPasses(pm);
}

void xetile::buildLowerXeGPUToBinary(OpPassManager &pm, XeGPULevel level, const HostOptions &host,
                                     const BinaryOptions &binary) {
  // Before the kernels lose their memrefs: they tell which arguments are written.
  if (host.copyOperands)
    pm.addPass(createCopyLaunchOperands());
  buildLowerXeGPUToXeVM(pm, level);
  buildLowerXeVMToBinary(pm, binary);
}

namespace {
struct ToXeVMOptions : PassPipelineOptions<ToXeVMOptions>, ChipOptions, LevelOptions {};
struct XeVMToBinaryOptions : PassPipelineOptions<XeVMToBinaryOptions>, BinaryOptions {};
struct ToBinaryOptions : PassPipelineOptions<ToBinaryOptions>,
                         ChipOptions,
                         LevelOptions,
                         HostOptions,
                         BinaryOptions {};
} // namespace

void xetile::registerXeGPUToBinaryPipelines() {
  PassPipelineRegistration<ToXeVMOptions>(
      "xetile-lower-xegpu-to-xevm",
      "Lower the XeGPU ops of every gpu.module to XeVM and LLVM ops (levels 4 to 5)",
      [](OpPassManager &pm, const ToXeVMOptions &options) {
        buildAttachTarget(pm, options.chip, options.optLevel);
        buildLowerXeGPUToXeVM(pm, options.level);
      });
  PassPipelineRegistration<XeVMToBinaryOptions>(
      "xetile-lower-xevm-to-binary",
      "Lower gpu.modules of XeVM and LLVM ops to gpu.binary and their host code to the LLVM "
      "dialect (levels 5 to 6)",
      [](OpPassManager &pm, const XeVMToBinaryOptions &options) {
        buildLowerXeVMToBinary(pm, options);
      });
  PassPipelineRegistration<ToBinaryOptions>(
      "xetile-lower-xegpu-to-binary",
      "Lower gpu.modules of XeGPU to gpu.binary and their host code to the LLVM dialect (levels 4 "
      "to 6)",
      [](OpPassManager &pm, const ToBinaryOptions &options) {
        buildAttachTarget(pm, options.chip, options.optLevel);
        buildLowerXeGPUToBinary(pm, options.level, options, options);
      });
}
