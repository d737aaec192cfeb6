//===- FreeScratch.cpp - free allocations where their block ends -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: memref.alloc, as bufferization leaves it. Out: a memref.dealloc for each at the end of its
// block, or of the function where that is its first block. Refused: nothing; what is handed on or
// used by other blocks is kept.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_FREESCRATCH
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct FreeScratch : xetile::impl::FreeScratchBase<FreeScratch> {
  void runOnOperation() override {
    BufferViewFlowAnalysis views(getOperation());
    SmallVector<memref::AllocOp> allocations;
    getOperation()->walk([&](memref::AllocOp op) { allocations.push_back(op); });
    for (memref::AllocOp op : allocations)
      if (canFree(op, views.resolve(op.getResult())))
        for (Operation *end : endsOf(op->getBlock())) {
          OpBuilder builder(end);
          memref::DeallocOp::create(builder, op.getLoc(), op.getResult());
        }
  }

private:
  /// Where the memory of a block is not needed any more: a region's first block lasts as long as
  /// the region, another until its own end.
  static SmallVector<Operation *> endsOf(Block *block) {
    SmallVector<Operation *> ends;
    for (Block &other : *block->getParent()) {
      bool isEnd = block->isEntryBlock() ? other.hasNoSuccessors() : &other == block;
      if (isEnd && other.mightHaveTerminator())
        ends.push_back(other.getTerminator());
    }
    return ends;
  }

  static bool canFree(memref::AllocOp op, const BufferViewFlowAnalysis::ValueSetT &aliases) {
    Block *block = op->getBlock();
    SmallVector<Operation *> ends = endsOf(block);
    for (Value alias : aliases)
      for (Operation *user : alias.getUsers())
        if (isa<memref::DeallocOp>(user) || llvm::is_contained(ends, user) ||
            (!block->isEntryBlock() && !block->findAncestorOpInBlock(*user)))
          return false;
    return true;
  }
};
} // namespace
