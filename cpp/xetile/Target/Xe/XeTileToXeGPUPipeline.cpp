//===- XeTileToXeGPUPipeline.cpp - levels 1 to 4, and all of 1 to 6 ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules of XeTile at workgroup level (or subgroup level), host code that launches them.
// Out: XeGPU of the hardware's sizes; for xetile-lower-to-binary what xetile-lower-xegpu-to-binary
// gives. Refused: what the single passes refuse.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/XeTileToXeGPUPipeline.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/XeGPUToBinaryPipeline.h"
#include "xetile/Transforms/Passes.h"

using namespace mlir;

namespace xetile {

void buildLowerToSubgroup(OpPassManager &pm) {
  pm.addPass(createCheckDistribution());
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createInferWgMap());
  device.addPass(createWgToSg());
  device.addPass(createCSEPass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createLazyMaxima());
}

void buildBlocking(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createBlocking());
  // Offsets that do not change leave the loops; packing what was just unpacked so goes.
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
}

void buildConvertToXeGPU(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertXeTileToXeGPU());
  device.addPass(createCanonicalizerPass());
  // Descriptors have no offsets and leave the loops; equal ones become one.
  device.addPass(createLoopInvariantCodeMotionPass());
  device.addPass(createCSEPass());
}

namespace {
struct ToXeGPUOptions : PassPipelineOptions<ToXeGPUOptions>, ChipOptions {};
struct ToBinaryOptions : PassPipelineOptions<ToBinaryOptions>,
                         ChipOptions,
                         HostOptions,
                         BinaryOptions {};

void lowerToXeGPU(OpPassManager &pm, const ChipOptions &options) {
  buildAttachTarget(pm, options.chip, options.optLevel);
  buildLowerToSubgroup(pm);
  buildBlocking(pm);
  buildConvertToXeGPU(pm);
}
} // namespace

void registerXeTilePipelines() {
  PassPipelineRegistration<>("xetile-lower-to-subgroup",
                             "Distribute workgroup-level XeTile over subgroups (levels 1 to 2)",
                             buildLowerToSubgroup);
  PassPipelineRegistration<ToXeGPUOptions>(
      "xetile-lower-to-xegpu",
      "Lower XeTile at workgroup or subgroup level to XeGPU operations of the hardware's sizes "
      "(levels 1 to 4)",
      [](OpPassManager &pm, const ToXeGPUOptions &options) { lowerToXeGPU(pm, options); });
  PassPipelineRegistration<ToBinaryOptions>(
      "xetile-lower-to-binary",
      "Lower XeTile at workgroup or subgroup level to gpu.binary and the host code to the LLVM "
      "dialect (levels 1 to 6)",
      [](OpPassManager &pm, const ToBinaryOptions &options) {
        lowerToXeGPU(pm, options);
        buildLowerXeGPUToBinary(pm, XeGPULevel::Instruction, options, options);
      });
}

} // namespace xetile
