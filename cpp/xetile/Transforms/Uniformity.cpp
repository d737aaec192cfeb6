//===- Uniformity.cpp - what all subgroups of a workgroup do alike ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/Uniformity.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;

namespace xetile {

bool Uniformity::isAnyDivergent(ValueRange values) const {
  return llvm::any_of(values, [&](Value value) { return isDivergent(value); });
}

void Uniformity::add(ValueRange values) { divergent.insert_range(values); }

void Uniformity::addWhere(ValueRange sources, ValueRange results) {
  for (auto [source, result] : llvm::zip(sources, results))
    if (isDivergent(source))
      divergent.insert(result);
}

/// Operations whose results are equal in all subgroups if their operands are.
static bool keepsUniform(Operation *op) {
  if (isa<gpu::ThreadIdOp, gpu::SubgroupIdOp, gpu::LaneIdOp, gpu::GlobalIdOp>(op))
    return false;
  // A workgroup's vectors are one value for all of its subgroups.
  return isMemoryEffectFree(op) || isa_and_present<XeTileDialect>(op->getDialect()) ||
         isa<memref::LoadOp, memref::AllocaOp>(op);
}

bool Uniformity::isControlDivergent(Operation *op) const {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return isDivergent(branch.getCondition());
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(op))
    return isDivergent(choice.getArg());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return isAnyDivergent({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return isDivergent(loop.getConditionOp().getCondition());
  return op->getNumRegions() > 0;
}

void Uniformity::visit(Operation *op) {
  bool isDivergentControl = isControlDivergent(op);
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        addWhere(region.front().getTerminator()->getOperands(), op->getResults());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    addWhere(loop.getInitArgs(), loop.getRegionIterArgs());
    addWhere(loop.getBody()->getTerminator()->getOperands(), loop.getRegionIterArgs());
    addWhere(loop.getRegionIterArgs(), loop.getResults());
    if (isAnyDivergent({loop.getLowerBound(), loop.getStep()}))
      add(loop.getInductionVar());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    addWhere(loop.getInits(), loop.getBeforeArguments());
    addWhere(loop.getYieldOp()->getOperands(), loop.getBeforeArguments());
    addWhere(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    addWhere(loop.getConditionOp().getArgs(), loop.getResults());
  } else if (op->getNumRegions() > 0) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        add(block.getArguments());
  } else if (!keepsUniform(op) || isAnyDivergent(op->getOperands())) {
    add(op->getResults());
  }
  if (isDivergentControl)
    add(op->getResults());
}

Uniformity::Uniformity(Operation *scope) : scope(scope) {
  size_t before;
  do {
    before = divergent.size();
    for (Region &region : scope->getRegions()) {
      // What branches between blocks hand on is not followed.
      for (Block &block : llvm::drop_begin(region, region.empty() ? 0 : 1))
        add(block.getArguments());
      region.walk([&](Operation *op) { visit(op); });
    }
  } while (divergent.size() != before);
}

Operation *Uniformity::findDivergentParent(Operation *op) const {
  while (op != scope) {
    Operation *parent = op->getParentOp();
    if (!parent || op->getBlock() != &op->getParentRegion()->front())
      return parent; // behind a branch
    if (parent == scope)
      return nullptr;
    if (isControlDivergent(parent))
      return parent;
    op = parent;
  }
  return nullptr;
}

} // namespace xetile
