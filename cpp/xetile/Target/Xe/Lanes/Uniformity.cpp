//===- Uniformity.cpp - control flow that all lanes of a subgroup take -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules on a subgroup's vectors. Out: the same. Refused: operations on vectors and
// barriers below conditions and bounds that may differ from lane to lane.
#include "xetile/Target/Xe/Lanes/Uniformity.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace {

class Analysis {
public:
  explicit Analysis(unsigned subgroupSize) : lanes(subgroupSize) {}

  LogicalResult check(Operation *function) {
    // What loops carry may become different only after one round.
    while (changed) {
      changed = false;
      function->walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
    }
    WalkResult result = function->walk([&](Operation *op) { return WalkResult(refuse(op)); });
    return failure(result.wasInterrupted());
  }

private:
  bool differs(Value value) const { return different.contains(value); }
  void mark(Value value) {
    // Vectors are the subgroup's: each lane has its part of the one value.
    if (!isa<VectorType>(value.getType()))
      changed |= different.insert(value).second;
  }

  /// Ids of work-items over a multiple of the subgroup's size are those of subgroups.
  bool isSubgroupId(Operation *op) const {
    if (!isa<arith::DivUIOp, arith::DivSIOp, arith::ShRUIOp>(op))
      return false;
    APInt by;
    if (!op->getOperand(0).getDefiningOp<gpu::ThreadIdOp>() ||
        !matchPattern(op->getOperand(1), m_ConstantInt(&by)))
      return false;
    uint64_t divisor =
        isa<arith::ShRUIOp>(op) ? uint64_t(1) << by.getLimitedValue(63) : by.getZExtValue();
    return divisor && divisor % lanes == 0;
  }

  void visit(Operation *op) {
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
      // Work-items of a subgroup follow one another along x.
      if (id.getDimension() == gpu::Dimension::x)
        mark(id);
      return;
    }
    if (isa<gpu::LaneIdOp>(op))
      return mark(op->getResult(0));
    if (isa<gpu::ShuffleOp>(op)) {
      for (Value result : op->getResults())
        mark(result);
      return;
    }
    if (isSubgroupId(op))
      return;
    auto pass = [&](ValueRange from, ValueRange to) {
      for (auto [source, target] : llvm::zip(from, to))
        if (differs(source))
          mark(target);
    };
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      bool bounds =
          differs(loop.getLowerBound()) || differs(loop.getUpperBound()) || differs(loop.getStep());
      if (bounds) {
        mark(loop.getInductionVar());
        for (Value result : loop.getResults())
          mark(result);
      }
      pass(loop.getInitArgs(), loop.getRegionIterArgs());
      pass(loop.getYieldedValues(), loop.getRegionIterArgs());
      pass(loop.getRegionIterArgs(), loop.getResults());
      return;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (differs(branch.getCondition()))
        for (Value result : branch.getResults())
          mark(result);
      if (branch.getNumResults()) {
        pass(branch.thenYield().getOperands(), branch.getResults());
        pass(branch.elseYield().getOperands(), branch.getResults());
      }
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      pass(loop.getInits(), loop.getBeforeArguments());
      pass(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
      pass(loop.getConditionOp().getArgs(), loop.getAfterArguments());
      pass(loop.getConditionOp().getArgs(), loop.getResults());
      if (differs(loop.getConditionOp().getCondition()))
        for (Value result : loop.getResults())
          mark(result);
      return;
    }
    if (isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op))
      return mark(op->getResult(0));
    bool takesVector =
        llvm::any_of(op->getOperandTypes(), [](Type type) { return isa<VectorType>(type); });
    if (takesVector &&
        !llvm::any_of(op->getOperands(), [&](Value value) { return differs(value); }))
      return; // what is taken out of a vector is the same for all
    if (llvm::any_of(op->getOperands(), [&](Value value) { return differs(value); }))
      for (Value result : op->getResults())
        mark(result);
  }

  static bool isCollective(Operation *op) {
    if (isa<gpu::BarrierOp, xegpu::NbarrierArriveOp, xegpu::NbarrierWaitOp>(op))
      return true;
    if (isa<gpu::GPUFuncOp, func::FuncOp>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
        op->getNumRegions())
      return false;
    auto isShared = [](Type type) { return isa<VectorType, xegpu::TensorDescType>(type); };
    return llvm::any_of(op->getOperandTypes(), isShared) ||
           llvm::any_of(op->getResultTypes(), isShared);
  }

  LogicalResult refuse(Operation *op) const {
    if (!isCollective(op))
      return success();
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp()) {
      bool leaves = false;
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        leaves = differs(loop.getLowerBound()) || differs(loop.getUpperBound()) ||
                 differs(loop.getStep());
      else if (auto branch = dyn_cast<scf::IfOp>(parent))
        leaves = differs(branch.getCondition());
      else if (auto loop = dyn_cast<scf::WhileOp>(parent))
        leaves = differs(loop.getConditionOp().getCondition());
      if (!leaves)
        continue;
      InFlightDiagnostic error = op->emitOpError(
          "is done by all lanes of a subgroup together, but stands in control flow that differs "
          "from lane to lane; expected a condition that is the same for the subgroup, or a mask");
      error.attachNote(parent->getLoc()) << "the control flow";
      return error;
    }
    return success();
  }

  unsigned lanes;
  bool changed = true;
  DenseSet<Value> different;
};

} // namespace

LogicalResult xetile::checkUniform(gpu::GPUModuleOp module, unsigned subgroupSize) {
  for (Operation &op : *module.getBody())
    if (isa<gpu::GPUFuncOp, func::FuncOp>(op) && failed(Analysis(subgroupSize).check(&op)))
      return failure();
  return success();
}
