//===- TiedValues.cpp - values that must be cut alike --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/TiedValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;

namespace xetile {

bool isElementwiseOnVectors(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
         isa<VectorType>(op->getResult(0).getType());
}

/// Position `index` of a loop: initial value, argument, yielded value and result.
static void appendLoopCarried(scf::ForOp loop, unsigned index, SmallVectorImpl<Value> &tied) {
  tied.append({loop.getInitArgs()[index], loop.getRegionIterArg(index),
               loop.getBody()->getTerminator()->getOperand(index), loop.getResult(index)});
}

/// Loop-carried values of the "before" region: init value, block argument and yielded value.
static void appendBeforeCondition(scf::WhileOp loop, unsigned index, SmallVectorImpl<Value> &tied) {
  tied.append({loop.getInits()[index], loop.getBeforeArguments()[index],
               loop.getYieldOp().getOperand(index)});
}

/// Those of the "after" region: the condition's operand, block argument and result.
static void appendBehindCondition(scf::WhileOp loop, unsigned index, SmallVectorImpl<Value> &tied) {
  tied.append({loop.getConditionOp().getArgs()[index], loop.getAfterArguments()[index],
               loop.getResult(index)});
}

/// Position `index` of scf.if or scf.index_switch: the result and what each branch yields.
static void appendBranches(Operation *branch, unsigned index, SmallVectorImpl<Value> &tied) {
  tied.push_back(branch->getResult(index));
  for (Region &region : branch->getRegions())
    if (!region.empty())
      tied.push_back(region.front().getTerminator()->getOperand(index));
}

static void appendOfArgument(BlockArgument argument, SmallVectorImpl<Value> &tied) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned index = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (index >= loop.getNumInductionVars())
      appendLoopCarried(loop, index - loop.getNumInductionVars(), tied);
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (argument.getOwner() == loop.getBeforeBody())
      appendBeforeCondition(loop, index, tied);
    else
      appendBehindCondition(loop, index, tied);
  }
}

static void appendOfYield(Operation *parent, unsigned index, SmallVectorImpl<Value> &tied) {
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    appendLoopCarried(loop, index, tied);
  else if (auto loop = dyn_cast<scf::WhileOp>(parent))
    appendBeforeCondition(loop, index, tied);
  else if (isa<scf::IfOp, scf::IndexSwitchOp>(parent))
    appendBranches(parent, index, tied);
}

/// Operands and result of an elementwise operation that have `value`'s shape: not the condition of
/// a select.
static void appendElementwise(Operation *op, Value value, SmallVectorImpl<Value> &tied) {
  auto shape = cast<VectorType>(value.getType()).getShape();
  auto append = [&](Value other) {
    auto vector = dyn_cast<VectorType>(other.getType());
    if (vector && vector.getShape() == shape)
      tied.push_back(other);
  };
  llvm::for_each(op->getOperands(), append);
  llvm::for_each(op->getResults(), append);
}

SmallVector<Value> getTiedValues(Value value) {
  SmallVector<Value> tied;
  bool isVector = isa<VectorType>(value.getType());
  if (Operation *op = value.getDefiningOp()) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      appendLoopCarried(loop, index, tied);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      appendBehindCondition(loop, index, tied);
    else if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
      appendBranches(op, index, tied);
    else if (isVector && isElementwiseOnVectors(op))
      appendElementwise(op, value, tied);
  } else {
    appendOfArgument(cast<BlockArgument>(value), tied);
  }
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    unsigned index = use.getOperandNumber();
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      if (index >= loop.getNumControlOperands())
        appendLoopCarried(loop, index - loop.getNumControlOperands(), tied);
    } else if (auto loop = dyn_cast<scf::WhileOp>(user)) {
      appendBeforeCondition(loop, index, tied);
    } else if (auto condition = dyn_cast<scf::ConditionOp>(user)) {
      if (index > 0)
        appendBehindCondition(condition->getParentOfType<scf::WhileOp>(), index - 1, tied);
    } else if (isa<scf::YieldOp>(user)) {
      appendOfYield(user->getParentOp(), index, tied);
    } else if (isVector && isElementwiseOnVectors(user)) {
      appendElementwise(user, value, tied);
    }
  }
  return tied;
}

void cloneVectorConstantsPerUse(Operation *root) {
  SmallVector<arith::ConstantOp> constants;
  root->walk([&](arith::ConstantOp constant) {
    auto vector = dyn_cast<VectorType>(constant.getType());
    if (vector && vector.getRank() == 2 && !constant->use_empty() && !constant->hasOneUse())
      constants.push_back(constant);
  });
  for (arith::ConstantOp constant : constants) {
    OpBuilder builder(constant);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(constant->getUses())))
      use.set(builder.clone(*constant)->getResult(0));
  }
}

} // namespace xetile
