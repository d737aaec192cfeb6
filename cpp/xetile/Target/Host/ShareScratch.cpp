//===- ShareScratch.cpp - one allocation for the scratch of a block ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: memref.alloc of static sizes with a memref.dealloc in their block. Out: parts of one
// allocation that ends with the last of them; those whose uses do not overlap in time share bytes.
// Refused: nothing; what else there is stays as it is.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

struct Buffer {
  memref::AllocOp alloc;
  memref::DeallocOp dealloc;
  int64_t bytes;
  /// Places in the block of the ops that use it first and last.
  unsigned first, last;
  int64_t offset = 0;
};

struct ShareScratch : xetile::impl::ShareScratchBase<ShareScratch> {
  void runOnOperation() override {
    BufferViewFlowAnalysis views(getOperation());
    llvm::MapVector<Block *, SmallVector<Buffer>> blocks;
    DenseMap<Block *, DenseMap<Operation *, unsigned>> places;
    getOperation()->walk([&](memref::AllocOp op) {
      Block *block = op->getBlock();
      auto [known, isNew] = places.try_emplace(block);
      if (isNew)
        for (auto [place, inside] : llvm::enumerate(*block))
          known->second[&inside] = place;
      if (std::optional<Buffer> buffer = describe(op, views.resolve(op.getResult()), known->second))
        blocks[block].push_back(*buffer);
    });
    for (auto &[block, buffers] : blocks)
      if (buffers.size() > 1)
        share(buffers);
  }

private:
  static std::optional<Buffer> describe(memref::AllocOp op,
                                        const BufferViewFlowAnalysis::ValueSetT &aliases,
                                        const DenseMap<Operation *, unsigned> &places) {
    MemRefType type = op.getType();
    Type element = type.getElementType();
    if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !element.isIntOrFloat() ||
        element.getIntOrFloatBitWidth() % 8 != 0 || type.getNumElements() == 0 ||
        op.getAlignment().value_or(1) > kAlignment || type.getMemorySpace())
      return std::nullopt;
    Buffer buffer = {op, {}, type.getNumElements() * (element.getIntOrFloatBitWidth() / 8), 0, 0};
    bool isUsed = false;
    for (Value alias : aliases)
      for (Operation *user : alias.getUsers()) {
        if (auto dealloc = dyn_cast<memref::DeallocOp>(user)) {
          if (buffer.dealloc || dealloc->getBlock() != op->getBlock())
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

  static void share(MutableArrayRef<Buffer> buffers) {
    SmallVector<Buffer *> bySize;
    for (Buffer &buffer : buffers)
      bySize.push_back(&buffer);
    // Of one size: in the order of the block.
    llvm::sort(bySize, [](Buffer *a, Buffer *b) {
      return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
    });
    int64_t total = place(bySize);

    // The walk found them in the order of the block.
    memref::AllocOp earliest = buffers.front().alloc;
    OpBuilder builder(earliest);
    Location loc = earliest.getLoc();
    auto type = MemRefType::get({total}, builder.getI8Type());
    Value all = memref::AllocOp::create(builder, loc, type, builder.getI64IntegerAttr(kAlignment));
    auto endsBefore = [](const Buffer &a, const Buffer &b) {
      return a.dealloc->isBeforeInBlock(b.dealloc);
    };
    builder.setInsertionPoint(llvm::max_element(buffers, endsBefore)->dealloc);
    memref::DeallocOp::create(builder, loc, all);
    for (Buffer &buffer : buffers) {
      builder.setInsertionPoint(buffer.alloc);
      Location where = buffer.alloc.getLoc();
      Value offset = arith::ConstantIndexOp::create(builder, where, buffer.offset);
      Value view =
          memref::ViewOp::create(builder, where, buffer.alloc.getType(), all, offset, ValueRange());
      buffer.dealloc.erase();
      buffer.alloc.replaceAllUsesWith(view);
      buffer.alloc.erase();
    }
  }
};
} // namespace
