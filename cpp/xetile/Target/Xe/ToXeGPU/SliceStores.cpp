//===- SliceStores.cpp - copies that do not fit the registers -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: store_tile on 2D vectors, tiles that are described where they are used.
// Out: what is computed element by element from loads of the same place, and does not fit, goes
// through the registers by rows. Refused: nothing; what else does not fit, BlockChoice refuses.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "xetile/Target/Xe/ToXeGPU/Blocks.h"
#include "xetile/Target/Xe/ToXeGPU/LocalTiles.h"
#include "xetile/Target/Xe/ToXeGPU/Slices.h"
#include "xetile/Transforms/TiedValues.h"

using namespace mlir;
using namespace xetile;

// More belongs in a loop.
static constexpr int64_t kMaxParts = 64;
// Rows of a store's messages.
static constexpr int64_t kRows = 8;

static int64_t getRowBytes(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  return type.getDimSize(1) * memoryBits(type.getElementType()) / 8;
}

/// True if rows of `load` may be read after earlier rows of `store` are written: both are at one
/// place of one matrix, or of two arguments of the kernel, which are the same memory or share none.
static bool isAtSamePlace(LoadTileOp load, StoreTileOp store) {
  InitTileOp from = getLocalInit(load), to = getLocalInit(store);
  auto isArgument = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner()->isEntryBlock() && isa<MemRefType>(value.getType());
  };
  Value source = from.getSource(), target = to.getSource();
  return (source == target || (isArgument(source) && isArgument(target))) &&
         source.getType() == target.getType() &&
         from.getTile().getType() == to.getTile().getType() &&
         from.getMixedOffsets() == to.getMixedOffsets() &&
         llvm::equal(from.getBaseShape(), to.getBaseShape()) &&
         llvm::equal(from.getBaseStrides(), to.getBaseStrides()) &&
         from.getStaticBaseShape() == to.getStaticBaseShape() &&
         from.getStaticBaseStrides() == to.getStaticBaseStrides();
}

/// Adds the bytes that a row of each load takes, and of each value beside; false where `value` is
/// made of anything but loads of the place of `store` and constants.
static bool addRowBytes(Value value, StoreTileOp store, int64_t &bytes) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  bytes += getRowBytes(value);
  if (auto load = dyn_cast<LoadTileOp>(op))
    return load->getBlock() == store->getBlock() && isAtSamePlace(load, store);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isElementwiseOnVectors(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isa<VectorType>(operand.getType()) || addRowBytes(operand, store, bytes);
         });
}

/// As many rows as fit, 0 where that is none or too few.
static int64_t fitRows(int64_t rows, int64_t rowBytes, int64_t available) {
  int64_t size = available / rowBytes / kRows * kRows;
  while (size > 0 && rows % size)
    size -= kRows;
  return size * kMaxParts < rows ? 0 : size;
}

void xetile::sliceStore(StoreTileOp op, const TargetInfo &target) {
  auto type = cast<VectorType>(op.getValue().getType());
  int64_t available = int64_t(target.largeRegisters) * target.registerBytes, rowBytes = 0;
  if (type.getDimSize(0) * getRowBytes(op.getValue()) <= available ||
      !canSlice(op.getValue(), op) || !addRowBytes(op.getValue(), op, rowBytes))
    return;
  int64_t rows = type.getDimSize(0), size = fitRows(rows, rowBytes, available);
  if (size == 0)
    return;
  // Behind it: what is written there, canSlice does not see.
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfter(op);
  Value value = op.getValue();
  for (int64_t from = 0; from < rows; from += size) {
    Value part = slice(builder, value, 0, from, size, op);
    Value tile = sliceTile(builder, getLocalInit(op), 0, from, size);
    StoreTileOp::create(builder, op.getLoc(), part, tile);
  }
  op.erase();
  eraseUnused(value);
}
