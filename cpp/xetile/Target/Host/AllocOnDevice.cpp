//===- AllocOnDevice.cpp - memory that kernels alone use -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: memref.alloc of which launches alone know, and copies, and loops and branches that hand it
// on. Out: gpu.alloc, freed behind the last of them; copies by gpu.memcpy, also of the few numbers
// that the host reads. Refused: nothing; what the host writes or hands on stays in its memory.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "xetile/Target/Host/DeviceMemory.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_ALLOCONDEVICE
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

/// Elements of an array of which the host reads some: it copies all of them.
constexpr int64_t kMostRead = 64;

/// Values that may be the same memory, and what uses it.
struct Class {
  SmallVector<memref::AllocOp> allocs;
  SmallVector<Operation *> users;
  SmallVector<memref::LoadOp> loads;
  SmallVector<memref::CopyOp> copies;
};

bool isControl(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(op);
}

/// gpu.memcpy takes contiguous memory only.
bool isCopiedByRuntime(memref::CopyOp op) {
  auto from = dyn_cast<MemRefType>(op.getSource().getType());
  auto to = dyn_cast<MemRefType>(op.getTarget().getType());
  return from && to && from.getLayout().isIdentity() && to.getLayout().isIdentity();
}

bool mayRead(memref::LoadOp op) {
  MemRefType type = op.getMemRefType();
  return type.hasStaticShape() && type.getNumElements() <= kMostRead &&
         type.getLayout().isIdentity();
}

/// Adds `user` of `value`; false if memory of the device does not serve it.
bool addUser(Operation *user, Value value, Class &members) {
  members.users.push_back(user);
  if (isa<gpu::LaunchFuncOp, memref::DimOp, arith::SelectOp>(user) || isControl(user))
    return true;
  if (user->hasTrait<OpTrait::IsTerminator>())
    return isControl(user->getParentOp());
  if (auto load = dyn_cast<memref::LoadOp>(user)) {
    members.loads.push_back(load);
    return mayRead(load);
  }
  if (auto copy = dyn_cast<memref::CopyOp>(user)) {
    members.copies.push_back(copy);
    return isCopiedByRuntime(copy);
  }
  return isa<memref::DeallocOp>(user)
             ? value.getDefiningOp<memref::AllocOp>() != nullptr
             : isa<ViewLikeOpInterface>(user) && user->getNumResults() == 1 &&
                   isa<MemRefType>(user->getResult(0).getType());
}

/// True if the value is no memory by itself, but what others of its class hand on.
bool isHandedOn(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return isControl(value.getParentBlock()->getParentOp());
  return isControl(op) || isa<ViewLikeOpInterface, arith::SelectOp>(op);
}

/// All that uses the memory of `alloc`; nothing if something else than launches does, or if it is
/// the caller's in some runs.
std::optional<Class> classOf(memref::AllocOp alloc, const xetile::MemoryClasses &classes) {
  Class found;
  for (Value value : classes.membersOf(alloc)) {
    if (auto made = value.getDefiningOp<memref::AllocOp>()) {
      if (!made.getType().getLayout().isIdentity())
        return std::nullopt;
      found.allocs.push_back(made);
    } else if (!isHandedOn(value) || !isa<MemRefType>(value.getType())) {
      return std::nullopt;
    }
    for (Operation *user : value.getUsers())
      if (!addUser(user, value, found))
        return std::nullopt;
  }
  if (llvm::none_of(found.users, llvm::IsaPred<gpu::LaunchFuncOp>))
    return std::nullopt;
  return found;
}

/// The last of the ops in the block of `alloc` that use its memory; null if others do.
Operation *lastUser(memref::AllocOp alloc, const xetile::MemoryClasses &classes) {
  Block *block = alloc->getBlock();
  Operation *last = nullptr;
  for (Value value : classes.reachedFrom(alloc))
    for (Operation *user : value.getUsers()) {
      Operation *here = block->findAncestorOpInBlock(*user);
      // Of other blocks it is not known which comes last.
      if (!here || here == block->getTerminator())
        return nullptr;
      if (!isa<memref::DeallocOp>(user) && (!last || last->isBeforeInBlock(here)))
        last = here;
    }
  return last;
}

struct AllocOnDevice : xetile::impl::AllocOnDeviceBase<AllocOnDevice> {
  void runOnOperation() override {
    xetile::MemoryClasses classes(getOperation());
    std::vector<std::pair<Class, SmallVector<Operation *>>> moved;
    llvm::SmallPtrSet<Operation *, 16> seen;
    getOperation()->walk([&](memref::AllocOp op) {
      if (seen.contains(op))
        return;
      std::optional<Class> members = classOf(op, classes);
      if (!members)
        return;
      SmallVector<Operation *> ends;
      for (memref::AllocOp alloc : members->allocs) {
        seen.insert(alloc);
        ends.push_back(lastUser(alloc, classes));
      }
      if (llvm::all_of(ends, [](Operation *end) { return end != nullptr; }))
        moved.emplace_back(*members, ends);
    });
    for (auto &[members, ends] : moved) {
      for (memref::LoadOp load : members.loads)
        readBack(load);
      for (auto [alloc, end] : llvm::zip_equal(members.allocs, ends))
        move(alloc, end);
    }
    // Both sides of a copy may be on the device.
    llvm::SetVector<Operation *> copies;
    for (auto &[members, ends] : moved)
      copies.insert_range(members.copies);
    for (Operation *copy : copies)
      copyByRuntime(cast<memref::CopyOp>(copy));
  }

private:
  /// Copies what `load` reads to the host; the function has memory for it.
  void readBack(memref::LoadOp load) {
    OpBuilder builder = OpBuilder::atBlockBegin(&getOperation().getBody().front());
    Value place = memref::AllocaOp::create(builder, load.getLoc(), load.getMemRefType());
    builder.setInsertionPoint(load);
    gpu::MemcpyOp::create(builder, load.getLoc(), TypeRange(), ValueRange(), place,
                          load.getMemRef());
    load.getMemrefMutable().assign(place);
  }

  static void copyByRuntime(memref::CopyOp copy) {
    OpBuilder builder(copy);
    gpu::MemcpyOp::create(builder, copy.getLoc(), TypeRange(), ValueRange(), copy.getTarget(),
                          copy.getSource());
    copy.erase();
  }

  static void move(memref::AllocOp op, Operation *last) {
    OpBuilder builder(op);
    auto onDevice = gpu::AllocOp::create(builder, op.getLoc(), op.getType(), /*asyncToken=*/Type(),
                                         /*asyncDependencies=*/ValueRange(), op.getDynamicSizes(),
                                         op.getSymbolOperands());
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
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
