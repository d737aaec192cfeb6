//===- Uniformity.cpp - what all that run code do alike ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/Uniformity.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;

namespace xetile {

bool Uniformity::isAnyDivergent(ValueRange values) const {
  return llvm::any_of(values, [&](Value value) { return isDivergent(value); });
}

void Uniformity::add(ValueRange values, const Rules &rules) {
  for (Value value : values)
    if (!rules.isShared || !rules.isShared(value))
      divergent.insert(value);
}

void Uniformity::addWhere(ValueRange sources, ValueRange results, const Rules &rules) {
  for (auto [source, result] : llvm::zip(sources, results))
    if (isDivergent(source))
      add(result, rules);
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
  return doubtUnknown && op->getNumRegions() > 0;
}

void Uniformity::visit(Operation *op, const Rules &rules) {
  bool isDivergentControl = isControlDivergent(op);
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        addWhere(region.front().getTerminator()->getOperands(), op->getResults(), rules);
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    addWhere(loop.getInitArgs(), loop.getRegionIterArgs(), rules);
    addWhere(loop.getBody()->getTerminator()->getOperands(), loop.getRegionIterArgs(), rules);
    addWhere(loop.getRegionIterArgs(), loop.getResults(), rules);
    if (isAnyDivergent({loop.getLowerBound(), loop.getStep()}))
      add(loop.getInductionVar(), rules);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    addWhere(loop.getInits(), loop.getBeforeArguments(), rules);
    addWhere(loop.getYieldOp()->getOperands(), loop.getBeforeArguments(), rules);
    addWhere(loop.getConditionOp().getArgs(), loop.getAfterArguments(), rules);
    addWhere(loop.getConditionOp().getArgs(), loop.getResults(), rules);
  } else if (op->getNumRegions() > 0 && doubtUnknown) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        add(block.getArguments(), rules);
  } else if (rules.isDivergent(op).value_or(isAnyDivergent(op->getOperands()))) {
    add(op->getResults(), rules);
  }
  if (isDivergentControl)
    add(op->getResults(), rules);
}

Uniformity::Uniformity(Operation *scope, const Rules &rules)
    : scope(scope), doubtUnknown(rules.doubtUnknown) {
  size_t before;
  do {
    before = divergent.size();
    for (Region &region : scope->getRegions()) {
      // Block arguments of unstructured control flow are not analysed.
      if (doubtUnknown)
        for (Block &block : llvm::drop_begin(region, region.empty() ? 0 : 1))
          add(block.getArguments(), rules);
      region.walk([&](Operation *op) { visit(op, rules); });
    }
  } while (divergent.size() != before);
}

Operation *Uniformity::findDivergentParent(Operation *op) const {
  while (op != scope) {
    Operation *parent = op->getParentOp();
    if (!parent)
      return nullptr;
    if (doubtUnknown && op->getBlock() != &op->getParentRegion()->front())
      return parent; // behind a branch
    if (parent == scope)
      return nullptr;
    if (isControlDivergent(parent))
      return parent;
    op = parent;
  }
  return nullptr;
}

Uniformity findUniformityOfSubgroups(Operation *scope) {
  auto isDivergent = [](Operation *op) -> std::optional<bool> {
    if (isa<gpu::ThreadIdOp, gpu::SubgroupIdOp, gpu::LaneIdOp, gpu::GlobalIdOp>(op))
      return true;
    // A workgroup's vectors are one value for all of its subgroups.
    if (isMemoryEffectFree(op) ||
        isa_and_present<XeTileDialect, xegpu::XeGPUDialect>(op->getDialect()) ||
        isa<memref::LoadOp, memref::AllocaOp, memref::AllocOp>(op))
      return std::nullopt;
    return true;
  };
  return Uniformity(scope, {isDivergent});
}

} // namespace xetile
