//===- TileStores.cpp - results to memory by way of shared memory ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: pairs of results in registers. Out: chunks of 64 rows x 128 bytes in two swizzled buffers of
// each warpgroup, which TMA stores. Refused: nothing; RingPlan.cpp has.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

constexpr int64_t kBufferBytes = kWgmmaM * kSwizzleBytes;

static int64_t bytesOf(StoreTileOp store) {
  return cast<VectorType>(store.getValue().getType()).getElementTypeBitWidth() / 8;
}

/// Results of 2 bytes by stmatrix: four matrices of 8 x 8, the thread addresses one of their rows.
/// Those of 4 bytes pair by pair.
void KernelWriter::fillBuffer(const Chunk &chunk, Value buffer) {
  StoreTileOp store = chunk.store;
  auto pairAt = [&](int64_t column, int64_t half) {
    return pairOf(store.getValue(), {chunk.block, column, half});
  };
  Value warpRow = mul(bitAnd(shiftRight(lane, 5), 3), 16), inWarp = bitAnd(lane, 31);
  if (bytesOf(store) == 2) {
    Value row = add(warpRow, bitAnd(inWarp, 15));
    Value rowStart = add(buffer, mul(row, kSwizzleBytes));
    for (int64_t quarter = 0; quarter < 4; ++quarter) {
      Value cell = bitXor(add(shiftRight(inWarp, 4), 2 * quarter), bitAnd(lane, 7));
      SmallVector<Value> words;
      for (int64_t part = 0; part < 4; ++part) {
        Value pair = pairAt(chunk.number * 8 + quarter * 2 + part / 2, part % 2);
        words.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), pair));
      }
      NVVM::StMatrixOp::create(
          b, at(shared, add(rowStart, shiftLeft(cell, 4))), words, NVVM::MMALayout::row,
          NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
    }
    return;
  }
  Value rowInWarp = shiftRight(inWarp, 2), place = bitAnd(inWarp, 3);
  for (int64_t half = 0; half < 2; ++half) {
    Value row = add(warpRow, add(rowInWarp, 8 * half));
    Value rowStart = add(buffer, mul(row, kSwizzleBytes));
    for (int64_t quarter = 0; quarter < 4; ++quarter) {
      Value cell = bitXor(add(shiftRight(place, 1), 2 * quarter), rowInWarp);
      Value byte = add(add(rowStart, shiftLeft(cell, 4)), shiftLeft(bitAnd(place, 1), 3));
      LLVM::StoreOp::create(b, pairAt(chunk.number * 4 + quarter, half), at(shared, byte),
                            /*alignment=*/8);
    }
  }
}

/// Rows of a chunk to a matrix whose rows TMA does not take: each warp its 16, element by element.
void KernelWriter::copyRows(const Chunk &chunk, const TilePlace &place, Value buffer, Value row,
                            Value column) {
  StoreTileOp store = chunk.store;
  int64_t bytes = bytesOf(store);
  Type element = cast<VectorType>(store.getValue().getType()).getElementType();
  Value warpRow = mul(bitAnd(shiftRight(lane, 5), 3), 16), inWarp = bitAnd(lane, 31);
  auto loop = scf::ForOp::create(b, number(0), number(16), number(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value inChunk = add(warpRow, loop.getInductionVar()), toRow = toIndex(add(row, inChunk));
  for (int64_t first = 0; first < kSwizzleBytes / bytes; first += 32) {
    Value own = add(inWarp, first), byte = mul(own, bytes);
    Value cell = bitXor(shiftRight(byte, 4), bitAnd(inChunk, 7));
    Value from =
        add(add(buffer, mul(inChunk, kSwizzleBytes)), add(shiftLeft(cell, 4), bitAnd(byte, 15)));
    Value toColumn = toIndex(add(column, own));
    onlyIf(isInside(place.source, toRow, toColumn), [&] {
      Value value = LLVM::LoadOp::create(b, element, at(shared, from), unsigned(bytes));
      Value target = elementOf(place.source, toRow, toColumn);
      LLVM::StoreOp::create(b, value, target, unsigned(bytes));
    });
  }
}

void KernelWriter::storeTile(StoreTileOp store) {
  FailureOr<TilePlace> place = placeOfTile(store, store.getTile());
  int64_t columns = kSwizzleBytes / bytesOf(store);
  bool isPlain = place->isPlain || plan.isAllPlain;
  Value map = isPlain ? Value() : makeMap(*place, columns, kWgmmaM);
  Value row = add(fromIndex(place->outerOffset), mul(warpgroup, plan.warpgroupRows()));
  Value column = fromIndex(place->innerOffset);
  Value isLeader = isEqual(lane, number(0)), barrier = add(warpgroup, 1);
  Value buffers = add(mul(warpgroup, 2 * kBufferBytes), plan.ringBytes());
  for (; numStored < chunks.size() && chunks[numStored].store == store; ++numStored) {
    const Chunk &chunk = chunks[numStored];
    Value buffer = add(buffers, int64_t(numStored % 2) * kBufferBytes);
    loadAhead(numStored + kChunksAhead);
    // TMA has read what was there two stores ago; the tile before may have ended with this buffer.
    uint32_t pending = plan.isSpecialized && numStored == 0 ? 0 : 1;
    onlyIf(isLeader, [&] { NVVM::CpAsyncBulkWaitGroupOp::create(b, pending, b.getUnitAttr()); });
    waitForAll(barrier, kWarpgroup);
    fillBuffer(chunk, buffer);
    if (isPlain) {
      waitForAll(barrier, kWarpgroup);
      copyRows(chunk, *place, buffer, add(row, chunk.block * kWgmmaM),
               add(column, chunk.number * columns));
      continue;
    }
    NVVM::FenceProxyOp::create(
        b, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
    waitForAll(barrier, kWarpgroup);
    onlyIf(isLeader, [&] {
      Value atColumn = add(column, chunk.number * columns);
      Value atRow = add(row, chunk.block * kWgmmaM);
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(b, map, at(shared, buffer),
                                                         boxOf(*place, atColumn, atRow), Value(),
                                                         NVVM::TMAStoreMode::TILE, Value());
      NVVM::CpAsyncBulkCommitGroupOp::create(b);
    });
  }
}
