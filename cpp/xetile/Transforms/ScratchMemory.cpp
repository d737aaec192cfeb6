//===- ScratchMemory.cpp - shared local memory for what subgroups exchange -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/ScratchMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "xetile/IR/XeTileOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xetile {

static constexpr int64_t kAlignment = 64; // of each buffer, one cache line

int64_t getBufferBytes(ArrayRef<int64_t> shape, Type element) {
  return llvm::alignTo(llvm::product_of(shape) * element.getIntOrFloatBitWidth() / 8, kAlignment);
}

int64_t getOtherSharedBytes(Operation *scope) {
  int64_t bytes = 0;
  auto add = [&](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    if (memref && memref.hasStaticShape() && memref.getElementType().isIntOrIndexOrFloat() &&
        getMemorySpace(memref) == MemorySpace::SLM)
      bytes += memref.getNumElements() *
               (memref.getElementType().isIndex() ? 64 : memref.getElementTypeBitWidth()) / 8;
  };
  scope->walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::AllocaOp>(op))
      add(op->getResult(0).getType());
  });
  if (auto function = dyn_cast<gpu::GPUFuncOp>(scope))
    for (BlockArgument argument : function.getWorkgroupAttributions())
      add(argument.getType());
  return bytes;
}

Value ScratchMemory::create(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                            Type element) {
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                              builder.getI64IntegerAttr(int64_t(MemorySpace::SLM)));
  Operation *op = place.createAtStart(
      builder, [&] { return memref::AllocaOp::create(builder, loc, type).getOperation(); });
  buffers.push_back(cast<memref::AllocaOp>(op));
  return op->getResult(0);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

namespace {

/// Buffers that subgroups may still be reading or writing, for all that the others know.
struct Pending {
  explicit Pending(unsigned numBuffers) : reads(numBuffers), writes(numBuffers) {}
  void clear() {
    reads.reset();
    writes.reset();
  }
  void merge(const Pending &other) {
    reads |= other.reads;
    writes |= other.writes;
  }
  bool operator==(const Pending &other) const {
    return reads == other.reads && writes == other.writes;
  }
  llvm::BitVector reads, writes;
};

struct Access {
  unsigned buffer;
  bool isWrite;
};

/// The buffers of one workgroup's code, and the barriers that they need.
class Placement {
public:
  Placement(Operation *scope, ArrayRef<memref::AllocaOp> buffers,
            const llvm::DenseSet<Operation *> &guards)
      : scope(scope), buffers(buffers), guards(guards), neighbours(buffers.size()),
        overlaps(buffers.size(), llvm::BitVector(buffers.size())) {
    for (unsigned number = 0; number < buffers.size(); ++number) {
      memref::AllocaOp buffer = buffers[number];
      collectAccesses(number, buffer.getResult());
      overlaps[number].set(number);
    }
  }

  void run(int64_t limit) {
    Pending none(buffers.size());
    walk(scope->getRegion(0), none, /*insert=*/false); // finds neighbours
    place(limit);
    Pending start(buffers.size());
    walk(scope->getRegion(0), start, /*insert=*/true);
    allocate();
  }

private:
  void collectAccesses(unsigned number, Value memory) {
    for (Operation *user : memory.getUsers()) {
      if (isa<memref::TransposeOp, InitTileOp>(user))
        collectAccesses(number, user->getResult(0));
      else
        accesses[user] = {number, isa<StoreTileOp, vector::TransferWriteOp>(user)};
    }
  }

  /// True if an access needs a barrier after the pending ones.
  bool needsBarrier(const Access &access, const Pending &pending) {
    if (!access.isWrite)
      return pending.writes.anyCommon(overlaps[access.buffer]);
    // The pieces of one buffer that the subgroups write do not meet, or are equal.
    llvm::BitVector others = pending.writes;
    others.reset(access.buffer);
    return pending.reads.anyCommon(overlaps[access.buffer]) ||
           others.anyCommon(overlaps[access.buffer]);
  }

  void visit(Operation *op, Operation *place, Pending &pending, bool insert) {
    auto found = accesses.find(op);
    if (found == accesses.end())
      return;
    Access access = found->second;
    if (access.isWrite) {
      llvm::BitVector &others = neighbours[access.buffer];
      others.resize(buffers.size());
      others |= pending.reads;
      others |= pending.writes;
    }
    if (needsBarrier(access, pending)) {
      if (insert) {
        OpBuilder builder(place);
        gpu::BarrierOp::create(builder, op->getLoc());
      }
      pending.clear();
    }
    (access.isWrite ? pending.writes : pending.reads).set(access.buffer);
  }

  void walk(Region &region, Pending &pending, bool insert) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block))
        walk(&op, pending, insert);
  }

  void walk(Operation *op, Pending &pending, bool insert) {
    if (isa<gpu::BarrierOp>(op))
      return pending.clear();
    if (guards.contains(op)) {
      op->walk([&](Operation *nested) { visit(nested, op, pending, insert); });
      return;
    }
    visit(op, op, pending, insert);
    if (op->getNumRegions() == 0)
      return;
    // Accesses that are pending at the end of a loop's body are so at its beginning (loop-carried).
    bool isLoop = isa<LoopLikeOpInterface>(op);
    while (isLoop) {
      Pending around = pending;
      for (Region &region : op->getRegions())
        walk(region, around, /*insert=*/false);
      around.merge(pending);
      if (around == pending)
        break;
      pending = around;
    }
    auto branch = dyn_cast<scf::IfOp>(op);
    bool isChoice = isa<scf::IndexSwitchOp>(op) || (branch && branch.elseBlock());
    Pending after(buffers.size()), inside = pending;
    if (!isChoice)
      after = pending;
    for (Region &region : op->getRegions()) {
      if (!isLoop)
        inside = pending;
      walk(region, inside, insert);
      after.merge(inside);
    }
    pending = after;
  }

  void place(int64_t limit) {
    for (unsigned number = 0; number < buffers.size(); ++number) {
      memref::AllocaOp buffer = buffers[number];
      MemRefType type = buffer.getType();
      int64_t bytes = getBufferBytes(type.getShape(), type.getElementType());
      sizes.push_back(bytes);
      int64_t offset = 0;
      bool moved = true;
      while (moved) {
        moved = false;
        for (unsigned other = 0; other < number; ++other) {
          bool areNeighbours = isNeighbour(number, other) || isNeighbour(other, number);
          if (areNeighbours && offset < offsets[other] + sizes[other] &&
              offsets[other] < offset + bytes) {
            offset = offsets[other] + sizes[other];
            moved = true;
          }
        }
      }
      if (offset + bytes > limit)
        offset = 0; // waits for the others
      offsets.push_back(offset);
      total = std::max(total, offset + bytes);
      for (unsigned other = 0; other < number; ++other)
        if (offset < offsets[other] + sizes[other] && offsets[other] < offset + bytes) {
          overlaps[number].set(other);
          overlaps[other].set(number);
        }
    }
  }
  bool isNeighbour(unsigned a, unsigned b) {
    return neighbours[a].size() > b && neighbours[a].test(b);
  }

  /// Replaces the buffers by views of one.
  void allocate() {
    memref::AllocaOp first = buffers.front();
    OpBuilder builder(first);
    auto type = MemRefType::get(total, builder.getI8Type(), MemRefLayoutAttrInterface(),
                                builder.getI64IntegerAttr(int64_t(MemorySpace::SLM)));
    Location loc = scope->getLoc();
    Value memory =
        memref::AllocaOp::create(builder, loc, type, builder.getI64IntegerAttr(kAlignment));
    llvm::SmallDenseMap<int64_t, Value> constants;
    for (unsigned number = 0; number < buffers.size(); ++number) {
      memref::AllocaOp buffer = buffers[number];
      int64_t offset = offsets[number];
      Value &start = constants[offset];
      if (!start)
        start = arith::ConstantIndexOp::create(builder, loc, offset);
      builder.setInsertionPoint(buffer);
      Value view = memref::ViewOp::create(builder, buffer.getLoc(), buffer.getType(), memory, start,
                                          ValueRange());
      buffer.getResult().replaceAllUsesWith(view);
      builder.setInsertionPointAfter(start.getDefiningOp());
    }
    for (memref::AllocaOp buffer : buffers)
      buffer->erase();
    scope->setAttr(kSlmBytesAttr, builder.getI64IntegerAttr(total));
  }

  Operation *scope;
  ArrayRef<memref::AllocaOp> buffers;
  const llvm::DenseSet<Operation *> &guards;
  llvm::DenseMap<Operation *, Access> accesses;
  /// For each buffer those whose accesses may be pending when it is written.
  SmallVector<llvm::BitVector> neighbours;
  SmallVector<llvm::BitVector> overlaps;
  SmallVector<int64_t> offsets, sizes;
  int64_t total = 0;
};
} // namespace

void ScratchMemory::finish(int64_t limit) {
  llvm::MapVector<Operation *, SmallVector<memref::AllocaOp>> scopes;
  for (memref::AllocaOp buffer : buffers)
    scopes[SubgroupPlace::getScope(buffer)].push_back(buffer);
  for (auto &[scope, own] : scopes) {
    int64_t others = getOtherSharedBytes(scope);
    for (memref::AllocaOp buffer : own)
      others -= buffer.getType().getNumElements() * buffer.getType().getElementTypeBitWidth() / 8;
    Placement(scope, own, guards).run(limit - others);
  }
}

} // namespace xetile
