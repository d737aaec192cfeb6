//===- XeTarget.cpp - Intel GPUs as targets -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the device table. Out: a target for each chip: a schedule's kernel is distributed, lowered to
// XeGPU, to lanes, to SPIR-V; its host code to the LLVM dialect. Refused: chips without 2D block
// messages.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/XeTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Target/Host/CallerInterface.h"
#include "xetile/Target/Host/Passes.h"
#include "xetile/Target/Passes.h"
#include "xetile/Target/Target.h"
#include "xetile/Target/Xe/XeGPUToBinaryPipeline.h"
#include "xetile/Target/Xe/XeTileToXeGPUPipeline.h"

using namespace mlir;
using namespace xetile;

namespace {

struct XeOptions : TargetOptions, OptimizationOptions, BinaryOptions {};

/// A schedule takes all computations to kernels; nothing behind it lowers others.
void checkScheduled(OpPassManager &pm) {
  CheckLoweredOptions options;
  options.scope = "host";
  options.forbid = {"bufferization", "linalg", "tensor"};
  options.after = "the schedule";
  options.hint = "expected a schedule that takes it to a kernel";
  pm.addPass(createCheckLowered(options));
}

/// Host code as on every target: arguments that never change, results in memory of the caller.
/// Functions on tensors had no other meaning; what they became is called so from C.
void addCallerInterface(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createCarryBuffers());
  // Before constants that loops read are copied for these.
  pm.addPass(createKeepConstants());
  pm.addPass(createCopyForLoops());
  buildCallerInterface(pm);
}

Target makeTarget(const TargetInfo &device) {
  auto level = [](StringLiteral name, StringLiteral action,
                  std::function<void(OpPassManager &, const XeOptions &)> add) -> Level {
    return {name, action, add ? withOptions(add) : AddPasses()};
  };
  Target target;
  target.name = device.chip.str();
  target.description = device.description.str();
  target.device = &device;
  target.binary = "SPIR-V, and machine code where ocloc is found";
  target.makeOptions = [] { return std::make_unique<XeOptions>(); };
  target.refusal = device.checkSupported().value_or("");
  target.begin = withOptions<XeOptions>([&device](OpPassManager &pm, const XeOptions &options) {
    buildAttachTarget(pm, device.chip, options.optLevel);
  });
  target.levels = {
      level("0-linalg", "take the function",
            [](OpPassManager &pm, const XeOptions &) {
              pm.addPass(createDropCasts());
              // Asserts hold by what the same function computes, which may be split off.
              pm.addNestedPass<func::FuncOp>(createDropProvenAsserts());
              // Before bits are passed as bytes: some may be results then.
              SplitFrozenOptions frozen;
              frozen.onDevice = true;
              pm.addPass(createSplitFrozen(frozen));
              pm.addPass(createPassBitsAsBytes());
              // Sizes of views are checked as they are then.
              ReshapesToViewsOptions views;
              views.transposes = false;
              pm.addPass(createReshapesToViews(views));
              pm.addPass(createCheckSizes());
            }),
      level("1-xetile-workgroup", "apply the schedule", nullptr),
      level("2-xetile-subgroup", "distribute the kernel over subgroups",
            [](OpPassManager &pm, const XeOptions &) {
              checkScheduled(pm);
              addCallerInterface(pm);
              buildLowerToSubgroup(pm);
            }),
      level("3-xetile-blocked", "cut the kernel into blocks",
            [](OpPassManager &pm, const XeOptions &) { buildBlocking(pm); }),
      level("4-xegpu", "lower the kernel to XeGPU",
            [](OpPassManager &pm, const XeOptions &) { buildConvertToXeGPU(pm); }),
      level("5-xevm", "lower the kernel to XeVM",
            [](OpPassManager &pm, const XeOptions &) {
              // While the kernels have memrefs: they tell which arguments are written.
              pm.addNestedPass<func::FuncOp>(createAllocOnDevice());
              pm.addPass(createCopyLaunchOperands());
              pm.addNestedPass<func::FuncOp>(createShareScratch());
              buildLowerXeGPUToXeVM(pm, XeGPULevel::Instruction);
            }),
      level(
          "6-llvm", "make the kernel's binary",
          [](OpPassManager &pm, const XeOptions &options) { buildLowerXeVMToBinary(pm, options); }),
  };
  return target;
}

} // namespace

void xetile::registerXeTargets() {
  for (const TargetInfo &device : allTargets())
    registerTarget(makeTarget(device));
}
