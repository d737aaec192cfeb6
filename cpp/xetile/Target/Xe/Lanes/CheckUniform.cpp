//===- CheckUniform.cpp - control flow that all lanes of a subgroup take -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules on a subgroup's vectors. Out: the same. Refused: operations on vectors and
// barriers below conditions and bounds that may differ from lane to lane.
#include "xetile/Target/Xe/Lanes/CheckUniform.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Transforms/Uniformity.h"

using namespace mlir;
using namespace xetile;

namespace {

/// Ids of work-items over a multiple of the subgroup's size are those of subgroups.
bool isSubgroupId(Operation *op, unsigned subgroupSize) {
  if (!isa<arith::DivUIOp, arith::DivSIOp, arith::ShRUIOp>(op))
    return false;
  APInt by;
  if (!op->getOperand(0).getDefiningOp<gpu::ThreadIdOp>() ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&by)))
    return false;
  uint64_t divisor =
      isa<arith::ShRUIOp>(op) ? uint64_t(1) << by.getLimitedValue(63) : by.getZExtValue();
  return divisor && divisor % subgroupSize == 0;
}

/// The divergence that an operation has of its own; nothing where it is that of its operands.
std::optional<bool> givesLanesTheirOwn(Operation *op, unsigned subgroupSize) {
  // Work-items of a subgroup follow one another along x.
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return id.getDimension() == gpu::Dimension::x;
  if (isa<gpu::LaneIdOp, gpu::ShuffleOp, memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op))
    return true;
  return isSubgroupId(op, subgroupSize) ? std::optional(false) : std::nullopt;
}

bool isCollective(Operation *op) {
  if (isa<gpu::BarrierOp, xegpu::NbarrierArriveOp, xegpu::NbarrierWaitOp>(op))
    return true;
  if (isa<gpu::GPUFuncOp, func::FuncOp>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      op->getNumRegions())
    return false;
  auto isShared = [](Type type) { return isa<VectorType, xegpu::TensorDescType>(type); };
  return llvm::any_of(op->getOperandTypes(), isShared) ||
         llvm::any_of(op->getResultTypes(), isShared);
}

LogicalResult checkFunction(Operation *function, unsigned subgroupSize) {
  auto isDivergent = [&](Operation *op) { return givesLanesTheirOwn(op, subgroupSize); };
  // Vectors are the subgroup's: each lane has its part of the one value.
  auto isShared = [](Value value) { return isa<VectorType>(value.getType()); };
  Uniformity uniformity(function, {isDivergent, isShared, /*doubtUnknown=*/false});
  auto refuse = [&](Operation *op) -> WalkResult {
    Operation *parent = isCollective(op) ? uniformity.findDivergentParent(op) : nullptr;
    if (!parent)
      return success();
    InFlightDiagnostic error = op->emitOpError(
        "is done by all lanes of a subgroup together, but stands in control flow that differs "
        "from lane to lane; expected a condition that is the same for the subgroup, or a mask");
    error.attachNote(parent->getLoc()) << "the control flow";
    return error;
  };
  return failure(function->walk(refuse).wasInterrupted());
}

} // namespace

LogicalResult xetile::checkUniform(gpu::GPUModuleOp module, unsigned subgroupSize) {
  for (Operation &op : *module.getBody())
    if (isa<gpu::GPUFuncOp, func::FuncOp>(op) && failed(checkFunction(&op, subgroupSize)))
      return failure();
  return success();
}
