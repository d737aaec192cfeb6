//===- AllocOnDevice.cpp - memory that kernels alone use -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: memref.alloc of which launches alone know. Out: gpu.alloc, freed behind the last of them.
// Refused: nothing; what the host reads, writes or hands on stays in its memory.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_ALLOCONDEVICE
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

/// All that uses `memory`, views of it included; nothing if something else than launches and
/// memref.dealloc does.
std::optional<SmallVector<Operation *>> usersOnDevice(Value memory) {
  SmallVector<Operation *> users;
  SmallVector<Value> open{memory};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (Operation *user : value.getUsers()) {
      users.push_back(user);
      if (isa<gpu::LaunchFuncOp>(user) || (isa<memref::DeallocOp>(user) && value == memory))
        continue;
      if (!isa<ViewLikeOpInterface>(user) || user->getNumResults() != 1 ||
          !isa<MemRefType>(user->getResult(0).getType()))
        return std::nullopt;
      open.push_back(user->getResult(0));
    }
  }
  return users;
}

struct AllocOnDevice : xetile::impl::AllocOnDeviceBase<AllocOnDevice> {
  void runOnOperation() override {
    SmallVector<memref::AllocOp> allocations;
    getOperation()->walk([&](memref::AllocOp op) { allocations.push_back(op); });
    for (memref::AllocOp op : allocations)
      if (op.getType().getLayout().isIdentity())
        if (std::optional<SmallVector<Operation *>> users = usersOnDevice(op); users)
          move(op, *users);
  }

private:
  static void move(memref::AllocOp op, ArrayRef<Operation *> users) {
    Block *block = op->getBlock();
    Operation *last = nullptr;
    for (Operation *user : users) {
      Operation *here = block->findAncestorOpInBlock(*user);
      // Of other blocks it is not known which comes last.
      if (!here)
        return;
      if (!isa<memref::DeallocOp>(user) && (!last || last->isBeforeInBlock(here)))
        last = here;
    }
    if (!last || llvm::none_of(users, llvm::IsaPred<gpu::LaunchFuncOp>))
      return;
    OpBuilder builder(op);
    auto onDevice = gpu::AllocOp::create(builder, op.getLoc(), op.getType(), /*asyncToken=*/Type(),
                                         /*asyncDependencies=*/ValueRange(), op.getDynamicSizes(),
                                         op.getSymbolOperands());
    for (Operation *user : users)
      if (isa<memref::DeallocOp>(user))
        user->erase();
    op.getResult().replaceAllUsesWith(onDevice.getMemref());
    op.erase();
    builder.setInsertionPointAfter(last);
    gpu::DeallocOp::create(builder, onDevice.getLoc(), TypeRange(), ValueRange(),
                           onDevice.getMemref());
  }
};

} // namespace
