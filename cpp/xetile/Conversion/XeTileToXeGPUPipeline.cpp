//===- XeTileToXeGPUPipeline.cpp - levels 1 to 4, and all of 1 to 6 ------------===//
// In: gpu.modules of XeTile at workgroup level (or subgroup level), host code that launches them.
// Out: XeGPU of the hardware's sizes; for xetile-lower-to-binary what xetile-lower-xegpu-to-binary gives.
// Refused: what the single passes refuse.
//===----------------------------------------------------------------------===//
#include "xetile/Conversion/XeTileToXeGPUPipeline.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "xetile/Binary/Passes.h"
#include "xetile/Conversion/Passes.h"
#include "xetile/Conversion/XeGPUToBinaryPipeline.h"
#include "xetile/Transforms/Passes.h"

using namespace mlir;

namespace xetile {

void buildLowerToSubgroup(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createInferWgMap());
  device.addPass(createWgToSg());
  device.addPass(createCSEPass());
  device.addPass(createCanonicalizerPass());
}

void buildLowerToXeGPU(OpPassManager &pm) {
  buildLowerToSubgroup(pm);
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertXeTileToXeGPU());
  device.addPass(createCanonicalizerPass());
  // Descriptors have no offsets and leave the loops; equal ones become one.
  device.addPass(createLoopInvariantCodeMotionPass());
  device.addPass(createCSEPass());
}

namespace {
struct LowerToXeGPUOptions : PassPipelineOptions<LowerToXeGPUOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("Chip to compile for"),
                           llvm::cl::init("pvc")};
};
} // namespace

void registerXeTilePipelines() {
  PassPipelineRegistration<>("xetile-lower-to-subgroup",
                             "Distribute workgroup-level XeTile over subgroups (levels 1 to 2)",
                             buildLowerToSubgroup);
  PassPipelineRegistration<LowerToXeGPUOptions>(
      "xetile-lower-to-xegpu",
      "Lower XeTile at workgroup or subgroup level to XeGPU operations of the hardware's sizes "
      "(levels 1 to 4)",
      [](OpPassManager &pm, const LowerToXeGPUOptions &options) {
        AttachTargetOptions target;
        target.chip = options.chip;
        pm.addPass(createAttachTarget(target));
        buildLowerToXeGPU(pm);
      });
}

} // namespace xetile
