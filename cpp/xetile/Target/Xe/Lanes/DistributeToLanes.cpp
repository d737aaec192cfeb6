//===- DistributeToLanes.cpp - from vectors of a subgroup to those of its lanes ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules with xetile.lanes on all operations that give vectors. Out: what one lane does:
// vectors of one dimension, XeVM and LLVM operations. Refused: operations without a lowering,
// collective operations in control flow that lanes may leave.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "xetile/Target/Xe/Lanes/RegisterEstimate.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"

namespace xetile {
#define GEN_PASS_DEF_DISTRIBUTETOLANES
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

struct DistributeToLanes : xetile::impl::DistributeToLanesBase<DistributeToLanes> {
  using DistributeToLanesBase::DistributeToLanesBase;

  void runOnOperation() override {
    const xetile::TargetInfo *target = xetile::findTarget(getOperation());
    if (!target)
      return signalPassFailure();
    // While vectors are those of a subgroup: they are what fills its registers.
    xetile::attachRegisterEstimates(getOperation(), *target);
    if (failed(xetile::lowerToLanes(getOperation(), *target, printCosts)))
      signalPassFailure();
  }
};

} // namespace
