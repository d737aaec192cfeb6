//===- ForwardCopies.cpp - copies of memory that does not change ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a bufferized function that launches kernels. Out: the same without copies of allocations that
// nobody writes to any more. Refused: nothing; copies of other memory stay.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/ForwardCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "xetile/Target/Host/KernelEffects.h"

using namespace mlir;
using namespace xetile;

namespace {

enum class Access { Hands, Reads, Writes, Unknown };

Access accessOf(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
    Operation *kernel = SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernel());
    for (auto [index, operand] : llvm::enumerate(launch.getKernelOperandsMutable()))
      if (&operand == &use)
        return kernelMayWrite(kernel, index) ? Access::Writes : Access::Reads;
    return Access::Unknown;
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return use.get() == copy.getTarget() ? Access::Writes : Access::Reads;
  if (isa<memref::StoreOp>(op))
    return Access::Writes;
  if (isa<memref::LoadOp, memref::DimOp>(op))
    return Access::Reads;
  bool hands = isa<ViewLikeOpInterface, RegionBranchOpInterface, arith::SelectOp>(op) ||
               op->hasTrait<OpTrait::IsTerminator>();
  return hands ? Access::Hands : Access::Unknown;
}

class Forwarder {
public:
  Forwarder(RewriterBase &rewriter, func::FuncOp func)
      : rewriter(rewriter), func(func), views(func) {}

  /// Forwards one copy; false if there is none left.
  bool runOnce();

private:
  bool isSettled(Value root, Operation *onlyWriter = nullptr);
  bool mayForward(memref::CopyOp copy);

  RewriterBase &rewriter;
  func::FuncOp func;
  BufferViewFlowAnalysis views;
};

/// True if `value` belongs to one run of `block`; its arguments come from what ran before.
bool belongsTo(Block &block, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    if (value.getParentBlock() == &block)
      return false;
    op = value.getParentBlock()->getParentOp();
  }
  return block.findAncestorOpInBlock(*op) != nullptr;
}

/// True if `root` is an allocation that is written before it is read or handed on: by `onlyWriter`
/// alone, if that is given.
bool Forwarder::isSettled(Value root, Operation *onlyWriter) {
  auto alloc = root.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return false;
  Block &block = *alloc->getBlock();
  SmallVector<Operation *> writers, others;
  llvm::SmallPtrSet<Value, 16> seen{root};
  // In the run that allocated it, and later: loops hand it to themselves.
  SmallVector<std::pair<Value, bool>> open{{root, false}};
  while (!open.empty()) {
    auto [value, isLater] = open.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      Access access = accessOf(use);
      if (access == Access::Unknown ||
          (access == Access::Writes && (isLater || (onlyWriter && user != onlyWriter))))
        return false;
      if (!isLater && !isa<ViewLikeOpInterface>(user))
        (access == Access::Writes ? writers : others).push_back(block.findAncestorOpInBlock(*user));
    }
    if (auto found = views.find(value); found != views.end())
      for (Value next : found->second)
        if (seen.insert(next).second)
          open.push_back({next, isLater || !belongsTo(block, next)});
  }
  return llvm::all_of(writers, [&](Operation *writer) {
    return llvm::all_of(others, [&](Operation *other) { return writer->isBeforeInBlock(other); });
  });
}

bool Forwarder::mayForward(memref::CopyOp copy) {
  auto target = copy.getTarget().getDefiningOp<memref::AllocOp>();
  if (!target || target->getBlock() != copy->getBlock() ||
      copy.getSource().getType() != target.getType() || !isSettled(target, copy))
    return false;
  bool known = true, some = false;
  for (Value value : views.resolveReverse(copy.getSource())) {
    auto before = views.resolveReverse(value);
    if (before.size() > 1)
      continue;
    some = true;
    known &= isSettled(value);
  }
  return known && some;
}

bool Forwarder::runOnce() {
  memref::CopyOp found;
  func.walk([&](memref::CopyOp copy) {
    found = copy;
    return mayForward(copy) ? WalkResult::interrupt() : (found = {}, WalkResult::advance());
  });
  if (!found)
    return false;
  auto target = found.getTarget().getDefiningOp<memref::AllocOp>();
  Value source = found.getSource();
  rewriter.eraseOp(found);
  // The copy had to be behind the source; what reads it comes behind the copy.
  rewriter.replaceOp(target, source);
  return true;
}

} // namespace

void xetile::forwardCopies(RewriterBase &rewriter, func::FuncOp func) {
  while (Forwarder(rewriter, func).runOnce())
    continue;
}
