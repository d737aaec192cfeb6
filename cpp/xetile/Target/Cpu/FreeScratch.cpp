//===- FreeScratch.cpp - free allocations where their block ends -------------===//
// In: memref.alloc, as bufferization leaves it. Out: a memref.dealloc for each at the end of its
// block. Refused: nothing; what the block's terminator hands on is kept.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_FREESCRATCH
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct FreeScratch : xetile::impl::FreeScratchBase<FreeScratch> {
  void runOnOperation() override {
    BufferViewFlowAnalysis views(getOperation());
    SmallVector<memref::AllocOp> allocations;
    getOperation()->walk([&](memref::AllocOp op) { allocations.push_back(op); });
    for (memref::AllocOp op : allocations) {
      Block *block = op->getBlock();
      if (!block->mightHaveTerminator())
        continue;
      Operation *end = block->getTerminator();
      BufferViewFlowAnalysis::ValueSetT aliases = views.resolve(op.getResult());
      bool freed = false, leaves = false;
      for (Value alias : aliases)
        for (Operation *user : alias.getUsers()) {
          freed |= isa<memref::DeallocOp>(user);
          leaves |= user == end;
        }
      if (freed || leaves)
        continue;
      OpBuilder builder(end);
      memref::DeallocOp::create(builder, op.getLoc(), op.getResult());
    }
  }
};
} // namespace
