//===- ShareScratch.cpp - one allocation for the scratch of a block ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: memref.alloc and gpu.alloc of static sizes, freed in their block. Out: parts of one
// allocation of each kind that ends with the last of them; those whose uses do not overlap in time
// share bytes. Of the device, they are made before the loops around. Refused: nothing; what else
// there is stays as it is.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "xetile/IR/BytesOf.h"
#include "xetile/Target/Host/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_SHARESCRATCH
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

/// A line of the cache, and a vector of any width.
constexpr int64_t kAlignment = 64;

/// A device hands out at most a part of its memory at once (CL_DEVICE_MAX_MEM_ALLOC_SIZE: often a
/// quarter, at least 128 MiB). What is larger has an allocation of its own.
constexpr int64_t kMostOnDevice = 128 << 20;

/// No machine has larger buffers; sums of sizes cannot overflow 64 bits.
constexpr int64_t kMostAtOnce = int64_t(1) << 40;

struct Buffer {
  Operation *alloc;
  Operation *dealloc;
  int64_t bytes;
  /// Places in the block of the ops that use it first and last.
  unsigned first, last;
  int64_t offset = 0;
};

bool isPlain(memref::AllocOp op) { return op.getAlignment().value_or(1) <= kAlignment; }

bool isPlain(gpu::AllocOp op) {
  return !op.getAsyncToken() && op.getAsyncDependencies().empty() && !op.getHostShared();
}

bool isPlain(gpu::DeallocOp op) { return !op.getAsyncToken() && op.getAsyncDependencies().empty(); }

Value allocate(OpBuilder &builder, memref::AllocOp like, MemRefType type) {
  return memref::AllocOp::create(builder, like.getLoc(), type,
                                 builder.getI64IntegerAttr(kAlignment));
}

/// The runtime aligns memory of the device to a page.
Value allocate(OpBuilder &builder, gpu::AllocOp like, MemRefType type) {
  return gpu::AllocOp::create(builder, like.getLoc(), type, /*asyncToken=*/Type(),
                              /*asyncDependencies=*/ValueRange(), /*dynamicSizes=*/ValueRange(),
                              /*symbolOperands=*/ValueRange())
      .getMemref();
}

void free(OpBuilder &builder, memref::AllocOp like, Value all) {
  memref::DeallocOp::create(builder, like.getLoc(), all);
}

void free(OpBuilder &builder, gpu::AllocOp like, Value all) {
  gpu::DeallocOp::create(builder, like.getLoc(), TypeRange(), ValueRange(), all);
}

struct ShareScratch : xetile::impl::ShareScratchBase<ShareScratch> {
  void runOnOperation() override {
    shareAll<memref::AllocOp, memref::DeallocOp>();
    shareAll<gpu::AllocOp, gpu::DeallocOp>();
    getOperation()->walk(takeOutOfLoops);
  }

private:
  template <typename Alloc, typename Dealloc> void shareAll() {
    BufferViewFlowAnalysis views(getOperation());
    llvm::MapVector<Block *, SmallVector<Buffer>> blocks;
    DenseMap<Block *, DenseMap<Operation *, unsigned>> places;
    getOperation()->walk([&](Alloc op) {
      Block *block = op->getBlock();
      auto [known, isNew] = places.try_emplace(block);
      if (isNew)
        for (auto [place, inside] : llvm::enumerate(*block))
          known->second[&inside] = place;
      if (std::optional<Buffer> buffer =
              describe<Dealloc>(op, views.resolve(op.getMemref()), known->second))
        blocks[block].push_back(*buffer);
    });
    for (auto &[block, buffers] : blocks)
      if (buffers.size() > 1)
        share<Alloc>(buffers);
  }

  /// The device hands out memory once for all steps: it is slow at that.
  static void takeOutOfLoops(gpu::AllocOp op) {
    if (!isPlain(op) || !op->getOperands().empty())
      return;
    SmallVector<gpu::DeallocOp> frees;
    for (Operation *user : op.getMemref().getUsers())
      if (auto free = dyn_cast<gpu::DeallocOp>(user))
        frees.push_back(free);
    if (frees.size() != 1 || !isPlain(frees.front()) || frees.front()->getBlock() != op->getBlock())
      return;
    Operation *loop = nullptr;
    for (Operation *around = op->getParentOp();
         isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(around);
         around = around->getParentOp())
      if (isa<LoopLikeOpInterface>(around))
        loop = around;
    if (!loop)
      return;
    op->moveBefore(loop);
    frees.front()->moveAfter(loop);
  }

  template <typename Dealloc, typename Alloc>
  static std::optional<Buffer> describe(Alloc op, const BufferViewFlowAnalysis::ValueSetT &aliases,
                                        const DenseMap<Operation *, unsigned> &places) {
    auto type = cast<MemRefType>(op.getMemref().getType());
    Type element = type.getElementType();
    std::optional<int64_t> bytes = xetile::bytesOf(type);
    // No view of bytes has elements of a part of one, or of the machine's width.
    if (bytes.value_or(0) == 0 || *bytes > kMostAtOnce || !type.getLayout().isIdentity() ||
        !element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0 ||
        type.getMemorySpace() || !isPlain(op))
      return std::nullopt;
    Buffer buffer = {op, {}, *bytes, 0, 0};
    bool isUsed = false;
    for (Value alias : aliases)
      for (Operation *user : alias.getUsers()) {
        if (auto dealloc = dyn_cast<Dealloc>(user)) {
          if (buffer.dealloc || dealloc->getBlock() != op->getBlock())
            return std::nullopt;
          if constexpr (std::is_same_v<Dealloc, gpu::DeallocOp>)
            if (!isPlain(dealloc))
              return std::nullopt;
          buffer.dealloc = dealloc;
          continue;
        }
        Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
        if (!here)
          return std::nullopt;
        unsigned place = places.lookup(here);
        buffer.first = isUsed ? std::min(buffer.first, place) : place;
        buffer.last = isUsed ? std::max(buffer.last, place) : place;
        isUsed = true;
      }
    return buffer.dealloc && isUsed ? std::optional(buffer) : std::nullopt;
  }

  /// Gives the largest ones their places first, each the lowest that is free as long as it lives.
  static int64_t place(ArrayRef<Buffer *> bySize) {
    int64_t total = 0;
    for (auto [number, buffer] : llvm::enumerate(bySize)) {
      SmallVector<const Buffer *> others;
      for (const Buffer *other : bySize.take_front(number))
        if (other->first <= buffer->last && buffer->first <= other->last)
          others.push_back(other);
      llvm::sort(others, [](const Buffer *a, const Buffer *b) { return a->offset < b->offset; });
      for (const Buffer *other : others) {
        if (buffer->offset + buffer->bytes <= other->offset)
          break;
        buffer->offset =
            std::max(buffer->offset,
                     static_cast<int64_t>(llvm::alignTo(other->offset + other->bytes, kAlignment)));
      }
      total = std::max(total, buffer->offset + buffer->bytes);
    }
    return total;
  }

  template <typename Alloc> static void share(MutableArrayRef<Buffer> buffers) {
    SmallVector<Buffer *> bySize;
    for (Buffer &buffer : buffers)
      bySize.push_back(&buffer);
    // Of one size: in the order of the block.
    llvm::sort(bySize, [](Buffer *a, Buffer *b) {
      return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
    });
    int64_t total = place(bySize);
    if (std::is_same_v<Alloc, gpu::AllocOp> && total > kMostOnDevice)
      return;

    // The walk found them in the order of the block.
    auto earliest = cast<Alloc>(buffers.front().alloc);
    OpBuilder builder(earliest);
    Value all = allocate(builder, earliest, MemRefType::get({total}, builder.getI8Type()));
    auto endsBefore = [](const Buffer &a, const Buffer &b) {
      return a.dealloc->isBeforeInBlock(b.dealloc);
    };
    builder.setInsertionPoint(llvm::max_element(buffers, endsBefore)->dealloc);
    free(builder, earliest, all);
    for (Buffer &buffer : buffers) {
      builder.setInsertionPoint(buffer.alloc);
      Location where = buffer.alloc->getLoc();
      Value memory = cast<Alloc>(buffer.alloc).getMemref();
      Value offset = arith::ConstantIndexOp::create(builder, where, buffer.offset);
      Value view = memref::ViewOp::create(builder, where, cast<MemRefType>(memory.getType()), all,
                                          offset, ValueRange());
      buffer.dealloc->erase();
      memory.replaceAllUsesWith(view);
      buffer.alloc->erase();
    }
  }
};
} // namespace
