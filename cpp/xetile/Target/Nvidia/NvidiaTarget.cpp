//===- NvidiaTarget.cpp - Hopper GPUs as a target -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors that a schedule tiles. Out: a target: the kernel goes to a ring of
// shared memory, to NVVM, to PTX; its host code to the LLVM dialect. Refused: what a pass leaves
// behind.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/NvidiaTarget.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Target/Host/CallerInterface.h"
#include "xetile/Target/Host/Passes.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/Passes.h"
#include "xetile/Target/Passes.h"
#include "xetile/Target/Target.h"

using namespace mlir;
using namespace xetile;

namespace {

struct NvidiaOptions : TargetOptions {
  Option<std::string> loads{
      *this, "loads",
      llvm::cl::desc("plain: without TMA, for sizes of a run whose rows are no multiples of 16 "
                     "bytes; auto: where that is known"),
      llvm::cl::init("auto")};
  Option<bool> counter{
      *this, "counter",
      llvm::cl::desc(
          "Of an attention, workgroups draw tiles from a counter instead of every so many"),
      llvm::cl::init(true)};
  Option<std::string> lazy{
      *this, "lazy",
      llvm::cl::desc(
          "Of an attention, multiply the output for a new maximum only where that is much "
          "larger: true, false, or auto, where that gains"),
      llvm::cl::init("auto")};
  Option<int64_t> groupRows{
      *this, "group-rows",
      llvm::cl::desc("Rows of tiles that workgroups walk together, for the second-level cache"),
      llvm::cl::init(8)};
  Option<bool> overlap{
      *this, "overlap",
      llvm::cl::desc(
          "Of an attention, multiply scores of the next keys before the powers of these"),
      llvm::cl::init(true)};
  Option<std::string> pipeline{
      *this, "pipeline",
      llvm::cl::desc("Who loads tiles: simple, a thread of those that multiply; specialized, a "
                     "warpgroup of its own, and workgroups walk over tiles; auto"),
      llvm::cl::init("auto")};
};

std::unique_ptr<Pass> checkLowered(StringRef scope, StringRef after, ArrayRef<std::string> forbid,
                                   ArrayRef<std::string> allow, StringRef hint = "") {
  CheckLoweredOptions options;
  options.scope = scope.str();
  options.forbid.assign(forbid.begin(), forbid.end());
  options.allow.assign(allow.begin(), allow.end());
  options.after = after.str();
  if (!hint.empty())
    options.hint = hint.str();
  return createCheckLowered(options);
}

void addAttachTarget(OpPassManager &pm) {
  GpuNVVMAttachTargetOptions target;
  target.chip = hopper::kChip.str();
  target.features = hopper::kFeatures.str();
  target.optLevel = 3;
  pm.addPass(createGpuNVVMAttachTarget(target));
}

void addPreparation(OpPassManager &pm) {
  pm.addPass(createDropCasts());
  pm.addNestedPass<func::FuncOp>(createDropProvenAsserts());
  pm.addPass(createPassBitsAsBytes());
  ReshapesToViewsOptions views;
  views.transposes = false;
  pm.addPass(createReshapesToViews(views));
  pm.addPass(createCheckSizes());
}

void addRing(OpPassManager &pm, const NvidiaOptions &options) {
  pm.addPass(checkLowered("host", "the schedule", {"bufferization", "linalg", "tensor"}, {},
                          "expected a schedule that takes it to a kernel"));
  buildCallerInterface(pm);
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  GroupWorkgroupsOptions group;
  group.rows = options.groupRows;
  device.addPass(createGroupWorkgroups(group));
  PlanRingOptions plan;
  plan.loads = options.loads;
  plan.overlap = options.overlap;
  plan.lazy = options.lazy;
  plan.counter = options.counter;
  plan.pipeline = options.pipeline;
  device.addPass(createPlanRing(plan));
}

void addNvvm(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createRelaxNarrowed());
  device.addPass(createConvertXeTileToNVVM());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  device.addPass(createLoopInvariantCodeMotionPass());
  device.addPass(createApproximateMath());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertVectorToLLVMPass());
  // Before the next one, which calls libdevice for what LLVM's intrinsics say.
  device.addPass(createConvertMathToLLVMPass());
  device.addPass(createConvertGpuOpsToNVVMOps());
  ConvertToLLVMPassOptions llvm;
  llvm.filterDialects = {"cf", "func", "memref", "arith", "math", "ub", "index"};
  device.addPass(createConvertToLLVMPass(llvm));
  device.addPass(createReconcileUnrealizedCastsPass());
  device.addPass(createPassTensorMaps());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  pm.addPass(checkLowered("device", "convert-xetile-to-nvvm", {}, {"llvm", "nvvm"}));
}

void addPtx(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertNVVMToLLVMPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createEmitPtx());
}

void addHost(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createAllocOnDevice());
  pm.addPass(createLaunchByCuda());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createExpandDynamicShapes());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(checkLowered("host", "xetile-launch-by-cuda", {}, {"llvm"}));
}

} // namespace

void xetile::registerNvidiaTarget() {
  auto level = [](StringLiteral name, StringLiteral action,
                  std::function<void(OpPassManager &, const NvidiaOptions &)> add) -> Level {
    return {name, action, add ? withOptions(add) : AddPasses()};
  };
  auto plain = [&](StringLiteral name, StringLiteral action, void (*add)(OpPassManager &)) {
    return level(name, action, [add](OpPassManager &pm, const NvidiaOptions &) { add(pm); });
  };
  Target target;
  target.name = hopper::kChip.str();
  target.description = "Nvidia H100 and H200 (Hopper)";
  target.binary = "PTX";
  target.makeOptions = [] { return std::make_unique<NvidiaOptions>(); };
  target.begin = [](OpPassManager &pm, const TargetOptions &) { addAttachTarget(pm); };
  target.chooseTiling = hopper::chooseTiling;
  target.checkTiling = hopper::checkTiling;
  target.chooseParts = hopper::chooseParts;
  target.chooseAttention = hopper::chooseAttention;
  target.checkAttention = hopper::checkAttention;
  target.chooseElementwise = hopper::chooseElementwise;
  // Measured on an H200: other workgroups compute while one waits for a row, and gains are near.
  target.mostRowsInTurn = 1;
  target.chooseScan = hopper::chooseScan;
  target.chooseConvolution = hopper::chooseConvolution;
  target.multipliesF32 = hopper::gainsBySplitting;
  target.storesOfProducts = hopper::isStored;
  target.levels = {
      plain("0-linalg", "take the function", addPreparation),
      level("1-xetile-workgroup", "apply the schedule", nullptr),
      level("2-ring", "plan the ring of tiles in shared memory", addRing),
      plain("3-nvvm", "lower the kernel to NVVM", addNvvm),
      plain("4-ptx", "make the kernel's PTX", addPtx),
      plain("5-llvm", "lower the host code", addHost),
  };
  registerTarget(std::move(target));
}
