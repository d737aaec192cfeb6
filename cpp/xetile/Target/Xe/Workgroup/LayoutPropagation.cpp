//===- LayoutPropagation.cpp - owners that follow from those of others ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the ownership of some vectors. Out: that of the vectors that operations connect them with,
// both ways, and the one that an operation wants its operands under. Refused: nothing.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Xe/Workgroup/LayoutInference.h"
#include "xetile/Transforms/WgMapInference.h"
#include "llvm/ADT/TypeSwitch.h"
#include <deque>

using namespace mlir;
using namespace xetile;

bool LayoutInference::isFree(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isFreelyDistributed(op);
}

void LayoutInference::set(Value value, const std::optional<Ownership> &ownership) {
  if (!ownership || !isShared(value) ||
      ArrayRef(ownership->shape()) != *getSharedShape(value.getType()))
    return;
  if (owners.try_emplace(value, *ownership).second)
    worklist.push_back(value);
}

/// The first that is known, and is not free to have any, holds for all.
void LayoutInference::tie(ValueRange values) {
  for (Value value : values)
    if (const Ownership *known = isFree(value) ? nullptr : lookup(value)) {
      Ownership ownership = *known;
      for (Value other : values)
        set(other, ownership);
      return;
    }
}

void LayoutInference::propagateThrough(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [result, init, argument, yielded] :
         llvm::zip_equal(loop.getResults(), loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues()))
      tie({argument, result, init, yielded});
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument, yielded] : llvm::zip_equal(
             loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
      tie({argument, init, yielded});
    for (auto [result, argument, passed] : llvm::zip_equal(
             loop.getResults(), loop.getAfterArguments(), loop.getConditionOp().getArgs()))
      tie({argument, result, passed});
    return;
  }
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (OpResult result : op->getResults()) {
      SmallVector<Value> tied{result};
      for (Region &region : op->getRegions())
        if (!region.empty())
          tied.push_back(region.front().getTerminator()->getOperand(result.getResultNumber()));
      tie(tied);
    }
    return;
  }
  if (isElementwiseOnVectors(op)) {
    SmallVector<Value> tied(op->getResults());
    llvm::append_range(tied, op->getOperands());
    tie(tied);
    return;
  }
  if (isa<xegpu::UpdateOffsetOp>(op)) {
    tie({op->getResult(0), op->getOperand(0)});
  } else if (auto atomic = dyn_cast<xegpu::AtomicRMWOp>(op)) {
    tie({atomic.getResult(), atomic.getTensorDesc(), atomic.getValue()});
  } else if (auto load = dyn_cast<xegpu::LoadGatherOp>(op)) {
    // The same rank, unless each loads a chunk.
    for (Value like : {Value(load.getSource()), load.getOffsets(), load.getMask()})
      if (like && isShared(like))
        tie({load.getValue(), like});
  }
  // From what an operation wants of its operands to those that have nothing yet, and from results.
  for (OpOperand &operand : op->getOpOperands())
    if (isShared(operand.get()) && !lookup(operand.get()))
      set(operand.get(), getWanted(operand));
  for (OpResult result : op->getResults())
    if (isShared(result) && !lookup(result))
      for (OpOperand &operand : op->getOpOperands())
        if (const Ownership *known =
                isShared(operand.get()) && !isFree(operand.get()) ? lookup(operand.get()) : nullptr)
          set(result, ownershipOfResult(operand, *known));
}

void LayoutInference::propagate() {
  // In the order in which they became known: what is stated nearer comes first.
  std::deque<Value> pending;
  while (!worklist.empty() || !pending.empty()) {
    llvm::append_range(pending, worklist);
    worklist.clear();
    Value value = pending.front();
    pending.pop_front();
    if (Operation *op = value.getDefiningOp())
      propagateThrough(op);
    else
      propagateThrough(value.getParentBlock()->getParentOp());
    for (Operation *user : llvm::to_vector(value.getUsers()))
      propagateThrough(user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() : user);
  }
}

// Long: a rule for each operation, and nothing between them.
std::optional<Ownership> LayoutInference::getWanted(OpOperand &operand) const {
  using Maybe = std::optional<Ownership>;
  Operation *op = operand.getOwner();
  if (!isShared(operand.get()))
    return std::nullopt;
  auto like = [&](const Ownership *known) { return known ? Maybe(*known) : Maybe(); };
  unsigned rank = getSharedShape(operand.get().getType())->size();
  auto withoutChunk = [&](const Ownership *known) {
    return known ? Maybe(dropChunk(*known, rank)) : Maybe();
  };
  auto ofAccess = [&](Value value) {
    if (const Ownership *stated = lookupAccess(op))
      return stated;
    return lookup(value);
  };
  return llvm::TypeSwitch<Operation *, Maybe>(op)
      .Case<xegpu::StoreNdOp, xegpu::StoreMatrixOp>([&](auto) { return like(lookupAccess(op)); })
      .Case([&](xegpu::LoadGatherOp load) { return withoutChunk(lookup(load.getValue())); })
      .Case([&](xegpu::StoreScatterOp store) { return withoutChunk(ofAccess(store.getValue())); })
      .Case([&](xegpu::PrefetchOp prefetch) {
        return prefetch.getOffsets() ? withoutChunk(ofAccess(prefetch.getOffsets())) : Maybe();
      })
      .Case([&](xegpu::AtomicRMWOp atomic) { return withoutChunk(lookup(atomic.getResult())); })
      .Case([&](xegpu::CreateDescOp create) { return withoutChunk(lookup(create.getResult())); })
      .Case([&](xegpu::UpdateOffsetOp update) { return withoutChunk(lookup(update.getResult())); })
      .Case([&](vector::TransferWriteOp write) { // its mask
        return operand.get() == write.getVector() ? Maybe() : like(lookup(write.getVector()));
      })
      .Case([&](vector::ExtractOp extract) -> Maybe {
        const Ownership *result = lookup(extract.getResult());
        if (result)
          return ownershipOfOperand(operand, *result);
        if (isa<VectorType>(extract.getResult().getType()))
          return std::nullopt;
        // Every subgroup has the number.
        Ownership whole{{}, numSubgroups};
        for (int64_t size : cast<VectorType>(operand.get().getType()).getShape())
          whole.dims.push_back(OwnedDim::whole(size));
        return whole;
      })
      .Case([&](scf::ForOp loop) {
        BlockArgument argument = loop.getTiedLoopRegionIterArg(&operand);
        return argument ? like(lookup(argument)) : Maybe();
      })
      .Case([&](scf::WhileOp loop) {
        return like(lookup(loop.getBeforeArguments()[operand.getOperandNumber()]));
      })
      .Case([&](scf::ConditionOp condition) {
        auto loop = cast<scf::WhileOp>(op->getParentOp());
        return operand.getOperandNumber() == 0
                   ? Maybe()
                   : like(lookup(loop.getAfterArguments()[operand.getOperandNumber() - 1]));
      })
      .Case([&](scf::YieldOp) {
        if (auto loop = dyn_cast<scf::WhileOp>(op->getParentOp()))
          return like(lookup(loop.getBeforeArguments()[operand.getOperandNumber()]));
        return like(lookup(op->getParentOp()->getResult(operand.getOperandNumber())));
      })
      .Default([&](Operation *) -> Maybe {
        if (op->getNumResults() != 1 || !isShared(op->getResult(0)))
          return std::nullopt;
        const Ownership *result = lookup(op->getResult(0));
        return result ? ownershipOfOperand(operand, *result) : Maybe();
      });
}
