//===- SharedBlocks.cpp - shared memory in the order of registers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: loads and stores of tiles in blocks, in buffers of shared memory that nothing else accesses.
// Out: xegpu.load_matrix and store_matrix with subgroup_block_io, one for each block. Refused:
// nothing; other buffers are accessed element by element.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/ToXeGPU/SharedBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/Target/Xe/ToXeGPU/KnownMultiple.h"
#include "xetile/Target/Xe/ToXeGPU/LocalTiles.h"

using namespace mlir;
using namespace xetile;

// Lanes of a block access, and bits of a word of the matrix unit's operand B.
static constexpr int64_t kLanes = 16, kPackedBits = 32;

/// True if a product takes the value, or a slice of it, as its right operand.
static bool feedsRightOperand(Value value) {
  for (OpOperand &use : value.getUses()) {
    auto product = dyn_cast<TileMmaOp>(use.getOwner());
    if (product && product.getB() == value)
      return true;
    if (isa<TilePackOp, TileUnpackOp, vector::ExtractStridedSliceOp>(use.getOwner()) &&
        feedsRightOperand(use.getOwner()->getResult(0)))
      return true;
  }
  return false;
}

/// The buffers of shared memory below `root` that are whole: nobody sees them but through tiles.
static SmallVector<Value> findBuffers(Operation *root) {
  SmallVector<Value> buffers;
  root->walk([&](Operation *op) {
    if (isa<memref::AllocaOp, memref::AllocOp>(op))
      buffers.push_back(op->getResult(0));
    if (auto function = dyn_cast<gpu::GPUFuncOp>(op))
      llvm::append_range(buffers, function.getWorkgroupAttributions());
  });
  llvm::erase_if(buffers, [](Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    return getMemorySpace(type) != MemorySpace::SLM || type.getRank() != 2 ||
           !type.hasStaticShape() || !type.getLayout().isIdentity();
  });
  return buffers;
}

/// The access by a tile that is described once for it, if it is one of whole blocks inside the
/// buffer.
static Operation *getBlockAccess(InitTileOp init, const SurfaceVersions &versions) {
  TileType tile = init.getTile().getType();
  if (!init->hasOneUse() || tile.getInnerBlocks().empty() || tile.isColumnMajor() ||
      tile.isScattered() || !init.getStaticBaseStrides().empty())
    return nullptr;
  Operation *access = *init->user_begin();
  if (!isa<LoadTileOp, StoreTileOp>(access))
    return nullptr;
  std::array<bool, 2> inside = versions.getInside(access);
  if (!inside[0] || !inside[1])
    return nullptr;
  for (auto [offset, side] : llvm::zip_equal(init.getMixedOffsets(), tile.getInnerBlocks()))
    if (getKnownMultiple(offset) % uint64_t(side))
      return nullptr;
  return access;
}

void SharedBlocks::run(Operation *root, const SurfaceVersions &versions) {
  for (Value buffer : findBuffers(root)) {
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<Operation *> found;
    std::optional<SharedBlock> block;
    bool isWhole = true, isPacked = false;
    for (Operation *user : buffer.getUsers()) {
      auto init = dyn_cast<InitTileOp>(user);
      Operation *access = init ? getBlockAccess(init, versions) : nullptr;
      if (!access) {
        isWhole = false;
        break;
      }
      ArrayRef<int64_t> sides = init.getTile().getType().getInnerBlocks();
      if (!block)
        block = SharedBlock{sides[0], sides[1], 1};
      isWhole &= block->rows == sides[0] && block->columns == sides[1];
      if (auto load = dyn_cast<LoadTileOp>(access))
        isPacked |= feedsRightOperand(load.getValue());
      found.push_back(access);
    }
    Type element = type.getElementType();
    int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
    if (!block || !isWhole || type.getDimSize(0) % block->rows ||
        type.getDimSize(1) % block->columns || block->columns % kLanes ||
        !llvm::is_contained({8, 16, 32}, bits))
      continue;
    if (isPacked && bits < kPackedBits)
      block->pack = kPackedBits / bits;
    int64_t word = block->columns / kLanes * block->pack * bits;
    if (!llvm::is_contained({8, 16, 32}, word) || block->rows % block->pack)
      continue;
    for (Operation *access : found)
      accesses[access] = *block;
  }
}

namespace {
/// The rows of memory that blocks of a tile are.
class BlockPlaces {
public:
  BlockPlaces(OpBuilder &builder, Location loc, TileType tile, Value memory, ValueRange offsets,
              const SharedBlock &block)
      : builder(builder), loc(loc), tile(tile), block(block) {
    auto type = cast<MemRefType>(memory.getType());
    gridColumns = type.getDimSize(1) / block.columns;
    rowsOfBlock = block.rows / block.pack;
    int64_t columns = block.columns * block.pack;
    auto matrix =
        xegpu::MemDescType::get(builder.getContext(), {type.getNumElements() / columns, columns},
                                type.getElementType(), xegpu::MemLayoutAttr());
    descriptor = xegpu::CreateMemDescOp::create(builder, loc, matrix, memory);
    // Offsets are whole blocks.
    Value row = times(divided(offsets[0], block.rows), gridColumns * rowsOfBlock);
    Value column = times(divided(offsets[1], block.columns), rowsOfBlock);
    start = builder.createOrFold<arith::AddIOp>(loc, row, column);
  }

  VectorType getRowsType() const {
    return VectorType::get({rowsOfBlock, block.columns * block.pack}, tile.getElementType());
  }

  void forEach(function_ref<void(ArrayRef<OpFoldResult> place, int64_t number)> visit) {
    int64_t number = 0;
    for (int64_t row = 0; row < tile.getDimSize(0) / block.rows; ++row)
      for (int64_t column = 0; column < tile.getDimSize(1) / block.columns; ++column) {
        Value delta = index((row * gridColumns + column) * rowsOfBlock);
        OpFoldResult place = builder.createOrFold<arith::AddIOp>(loc, start, delta);
        visit({place, builder.getIndexAttr(0)}, number++);
      }
  }

  /// A block from the rows of memory, and the reverse.
  Value unpack(Value rows) {
    if (block.pack == 1)
      return rows;
    Type element = tile.getElementType();
    Value pairs = vector::ShapeCastOp::create(
        builder, loc, VectorType::get({rowsOfBlock, block.columns, block.pack}, element), rows);
    Value sorted = vector::TransposeOp::create(builder, loc, pairs, ArrayRef<int64_t>{0, 2, 1});
    return vector::ShapeCastOp::create(
        builder, loc, VectorType::get({block.rows, block.columns}, element), sorted);
  }
  Value pack(Value whole) {
    if (block.pack == 1)
      return whole;
    Value rows = vector::ShapeCastOp::create(
        builder, loc,
        VectorType::get({rowsOfBlock, block.pack, block.columns}, tile.getElementType()), whole);
    Value sorted = vector::TransposeOp::create(builder, loc, rows, ArrayRef<int64_t>{0, 2, 1});
    return vector::ShapeCastOp::create(builder, loc, getRowsType(), sorted);
  }

  TypedValue<xegpu::MemDescType> descriptor;

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value times(Value value, int64_t factor) {
    return builder.createOrFold<arith::MulIOp>(loc, value, index(factor));
  }
  Value divided(Value value, int64_t divisor) {
    return builder.createOrFold<arith::DivUIOp>(loc, value, index(divisor));
  }

  OpBuilder &builder;
  Location loc;
  TileType tile;
  const SharedBlock &block;
  int64_t gridColumns, rowsOfBlock;
  Value start;
};
} // namespace

SmallVector<Value> SharedBlocks::load(OpBuilder &builder, LoadTileOp op, Value memory,
                                      ValueRange offsets, const SharedBlock &block) {
  Location loc = op.getLoc();
  BlockPlaces places(builder, loc, op.getTile().getType(), memory, offsets, block);
  SmallVector<Value> blocks;
  places.forEach([&](ArrayRef<OpFoldResult> place, int64_t) {
    auto load = xegpu::LoadMatrixOp::create(builder, loc, places.getRowsType(), places.descriptor,
                                            place, xegpu::DistributeLayoutAttr());
    load.setSubgroupBlockIoAttr(builder.getUnitAttr());
    blocks.push_back(places.unpack(load.getRes()));
  });
  return blocks;
}

void SharedBlocks::store(OpBuilder &builder, StoreTileOp op, Value memory, ValueRange offsets,
                         ValueRange blocks, const SharedBlock &block) {
  Location loc = op.getLoc();
  BlockPlaces places(builder, loc, op.getTile().getType(), memory, offsets, block);
  places.forEach([&](ArrayRef<OpFoldResult> place, int64_t number) {
    auto store =
        xegpu::StoreMatrixOp::create(builder, loc, places.pack(blocks[number]), places.descriptor,
                                     place, xegpu::DistributeLayoutAttr());
    store.setSubgroupBlockIoAttr(builder.getUnitAttr());
  });
}
