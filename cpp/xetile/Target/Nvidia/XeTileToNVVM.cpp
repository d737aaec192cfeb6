//===- XeTileToNVVM.cpp - planned kernels as the code of a thread ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels with `xetile.ring`. Out: NVVM and LLVM ops for what TMA, barriers and wgmma do, arith
// for the rest. Refused: what xetile-plan-ring refuses; kernels that it has not planned.
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"
#include "xetile/Target/Nvidia/Passes.h"
#include "xetile/Target/Nvidia/SimtWriter.h"

namespace xetile {
#define GEN_PASS_DEF_CONVERTXETILETONVVM
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

KernelWriter::KernelWriter(const RingPlan &plan, gpu::GPUFuncOp kernel, OpBuilder &builder)
    : ThreadCode(kernel.getLoc(), builder), plan(plan), kernel(kernel) {}

void KernelWriter::write() {
  listChunks();
  if (plan.isSpecialized)
    return writeSpecialized();
  hoistAddresses();
  b.setInsertionPoint(plan.loop);
  beginRing();
  sums = writeLoop();
  b.setInsertionPointAfter(plan.loop);
  // The sums are there before anybody uses them.
  waitForProducts(0);
  writeStores();
  finishStores();
}

void KernelWriter::writeStores() {
  for (StoreTileOp store : plan.stores) {
    b.setInsertionPoint(store);
    storeTile(store);
  }
}

void KernelWriter::finishStores() {
  // Shared memory outlives the stores that read it.
  onlyIf(isEqual(lane, number(0)),
         [&] { NVVM::CpAsyncBulkWaitGroupOp::create(b, uint32_t(0), UnitAttr()); });
}

namespace {
struct ConvertXeTileToNVVM : xetile::impl::ConvertXeTileToNVVMBase<ConvertXeTileToNVVM> {
  using ConvertXeTileToNVVMBase::ConvertXeTileToNVVMBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (kernel.isKernel() && failed(lower(kernel)))
        return signalPassFailure();
  }

private:
  static bool isOfThreads(gpu::GPUFuncOp kernel) {
    auto pipeline = kernel->getAttrOfType<DictionaryAttr>(kRingAttr).getAs<StringAttr>("pipeline");
    return pipeline && pipeline == "threads";
  }

  static LogicalResult lower(gpu::GPUFuncOp kernel) {
    if (!kernel->hasAttr(kRingAttr))
      return kernel.emitOpError("has no plan: run xetile-plan-ring before");
    if (isOfThreads(kernel)) {
      FailureOr<SimtPlan> plan = planSimt(kernel);
      if (failed(plan))
        return failure();
      OpBuilder builder(kernel);
      SimtWriter(*plan, kernel, builder).write();
      return success();
    }
    FailureOr<RingPlan> plan = planRing(kernel);
    if (failed(plan))
      return failure();
    OpBuilder builder(kernel);
    KernelWriter(*plan, kernel, builder).write();
    for (StoreTileOp store : plan->stores)
      store.erase();
    eraseVectors(*plan);
    return success();
  }

  /// Erases the ops on a workgroup's vectors, which nothing uses any more.
  static void eraseVectors(const RingPlan &plan) {
    auto isPlanned = [&](Operation *op) {
      return op == plan.loop ||
             llvm::any_of(plan.online, [&](const OnlineLoop &online) { return op == online.loop; });
    };
    SmallVector<Operation *> ops;
    for (Operation &op : plan.loop->getBlock()->without_terminator())
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && (isPlanned(op) || isMemoryEffectFree(op) || isa<LoadTileOp>(op)))
        op->erase();
  }
};
} // namespace
