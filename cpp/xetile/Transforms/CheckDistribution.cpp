//===- CheckDistribution.cpp - no subgroup does what all others do -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels on XeTile and what launches them. Out: the same.
// Refused: kernels for several subgroups that neither have a wg_map nor tell subgroups apart;
// launches with another number of subgroups than the maps of their kernel.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Transforms/Passes.h"
#include "xetile/Transforms/WorkgroupSize.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKDISTRIBUTION
#include "xetile/Transforms/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// True if the code is, or may be, subgroup-level: its results depend on the subgroup. A callee may
/// read its id, too, and an atomic update gives each subgroup another number.
static bool tellsSubgroupsApart(gpu::GPUFuncOp kernel) {
  auto tells = [](Operation *op) {
    bool isOwn = isa<gpu::SubgroupIdOp, gpu::ThreadIdOp, gpu::GlobalIdOp, CallOpInterface,
                     memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op);
    return isOwn ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel->hasAttr(kSubgroupsAttr) || kernel.walk(tells).wasInterrupted();
}

static Operation *findXeTileOp(gpu::GPUFuncOp kernel) {
  Operation *found = nullptr;
  kernel.walk([&](Operation *op) {
    found = isa_and_present<XeTileDialect>(op->getDialect()) ? op : nullptr;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// True for a kernel that reads nothing and writes single elements, as what folding left of a
/// product with zero: each subgroup may write them.
static bool onlyWritesNumbers(gpu::GPUFuncOp kernel) {
  auto visit = [](Operation *op) {
    auto init = dyn_cast<InitTileOp>(op);
    bool isNumber = isa<StoreTileOp, StoreScatterOp>(op) ||
                    (init && init.getTile().getType().getNumElements() == 1);
    return isa_and_present<XeTileDialect>(op->getDialect()) && !isNumber ? WalkResult::interrupt()
                                                                         : WalkResult::advance();
  };
  return !kernel.walk(visit).wasInterrupted();
}

namespace {
struct CheckDistribution : xetile::impl::CheckDistributionBase<CheckDistribution> {
  using CheckDistributionBase::CheckDistributionBase;

  /// `launch` is the kernel itself where that has a known_block_size.
  LogicalResult check(gpu::GPUFuncOp kernel, Operation *launch) {
    std::optional<int64_t> workItems = getWorkItems(launch);
    Operation *op = workItems ? findXeTileOp(kernel) : nullptr;
    if (!op)
      return success();
    if (WgMapAttr map = findWgMap(kernel)) {
      int64_t needed = map.getNumSubgroups() * subgroupSize;
      if (launch == kernel || *workItems == needed)
        return success(); // a kernel's own is xetile-wg-to-sg's
      return launch->emitOpError("launches @")
             << kernel.getName() << " with workgroups of " << *workItems
             << " work-items, but its wg_maps need " << map.getNumSubgroups() << " subgroups of "
             << int64_t(subgroupSize) << " = " << needed;
    }
    if (*workItems <= subgroupSize || tellsSubgroupsApart(kernel) || onlyWritesNumbers(kernel))
      return success();
    InFlightDiagnostic error =
        op->emitOpError("has no wg_map, and neither has any other value of @");
    error << kernel.getName() << ", which is launched with workgroups of " << *workItems
          << " work-items: each of its " << llvm::divideCeil(*workItems, int64_t(subgroupSize))
          << " subgroups would do all of it; expected a wg_map (on a tile's type or a tile_mma), a "
             "launch of one subgroup of "
          << int64_t(subgroupSize)
          << " work-items, or code for one subgroup that asks gpu.subgroup_id";
    if (launch != kernel)
      error.attachNote(launch->getLoc()) << "launched here";
    return error;
  }

  void runOnOperation() override {
    auto checkKernel = [&](gpu::GPUFuncOp kernel) { return WalkResult(check(kernel, kernel)); };
    if (getOperation().walk(checkKernel).wasInterrupted())
      return signalPassFailure();
    SymbolTableCollection symbols;
    auto checkLaunch = [&](gpu::LaunchFuncOp launch) -> WalkResult {
      auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(launch, launch.getKernel());
      return kernel && !kernel.getKnownBlockSize() ? check(kernel, launch) : success();
    };
    if (getOperation().walk(checkLaunch).wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
