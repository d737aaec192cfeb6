//===- SharedBlocks.cpp - shared memory in the order of registers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: loads and stores of tiles in blocks, in buffers of shared memory that nothing else accesses.
// Out: xegpu.load_matrix and store_matrix, one for each block: with subgroup_block_io of rows, of a
// matrix by columns for the matrix unit's operand B. Refused: nothing; other buffers are accessed
// element by element.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/ToXeGPU/SharedBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/Target/Xe/KnownMultiple.h"
#include "xetile/Target/Xe/ToXeGPU/LocalTiles.h"

using namespace mlir;
using namespace xetile;

// Lanes of a block access, and the most bits of a column that a lane moves at once.
static constexpr int64_t kLanes = 16, kColumnBits = 256;

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

/// True if lanes can have columns of the block in words of 32 bits.
static bool hasColumnsOfWords(const SharedBlock &block, int64_t bits) {
  int64_t column = block.rows * bits;
  return block.columns % kLanes == 0 && llvm::isPowerOf2_64(column) && column % 32 == 0 &&
         column <= kColumnBits;
}

void SharedBlocks::run(Operation *root, const SurfaceVersions &versions) {
  for (Value buffer : findBuffers(root)) {
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<Operation *> found;
    std::optional<SharedBlock> block;
    bool isWhole = true, isRight = false;
    for (Operation *user : buffer.getUsers()) {
      auto init = dyn_cast<InitTileOp>(user);
      Operation *access = init ? getBlockAccess(init, versions) : nullptr;
      if (!access) {
        isWhole = false;
        break;
      }
      ArrayRef<int64_t> sides = init.getTile().getType().getInnerBlocks();
      if (!block)
        block = SharedBlock{sides[0], sides[1], /*byColumns=*/false};
      isWhole &= block->rows == sides[0] && block->columns == sides[1];
      if (auto load = dyn_cast<LoadTileOp>(access))
        isRight |= feedsRightOperand(load.getValue());
      found.push_back(access);
    }
    Type element = type.getElementType();
    int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
    if (!block || !isWhole || type.getDimSize(0) % block->rows ||
        type.getDimSize(1) % block->columns || block->columns % kLanes ||
        !llvm::is_contained({8, 16, 32}, bits))
      continue;
    block->byColumns = isRight && hasColumnsOfWords(*block, bits);
    int64_t word = block->columns / kLanes * bits;
    if (!block->byColumns && !llvm::is_contained({8, 16, 32}, word))
      continue;
    for (Operation *access : found)
      accesses[access] = *block;
  }
}

namespace {
/// The rows or columns of memory that blocks of a tile are.
class BlockPlaces {
public:
  BlockPlaces(OpBuilder &builder, Location loc, TileType tile, Value memory, ValueRange offsets,
              const SharedBlock &block)
      : builder(builder), loc(loc), tile(tile), block(block) {
    auto type = cast<MemRefType>(memory.getType());
    gridColumns = type.getDimSize(1) / block.columns;
    linesOfBlock = block.byColumns ? block.columns : block.rows;
    int64_t length = block.byColumns ? block.rows : block.columns,
            lines = type.getNumElements() / length;
    SmallVector<int64_t, 2> shape = {lines, length};
    xegpu::MemLayoutAttr layout;
    if (block.byColumns) {
      shape = {length, lines};
      layout = xegpu::MemLayoutAttr::get(builder.getContext(),
                                         builder.getDictionaryAttr(builder.getNamedAttr(
                                             "stride", builder.getI64ArrayAttr({1, length}))));
    }
    auto matrix =
        xegpu::MemDescType::get(builder.getContext(), shape, type.getElementType(), layout);
    descriptor = xegpu::CreateMemDescOp::create(builder, loc, matrix, memory);
    // Offsets are whole blocks.
    Value row = times(divided(offsets[0], block.rows), gridColumns * linesOfBlock);
    Value column = times(divided(offsets[1], block.columns), linesOfBlock);
    start = builder.createOrFold<arith::AddIOp>(loc, row, column);
  }

  void forEach(function_ref<void(ArrayRef<OpFoldResult> place, int64_t number)> visit) {
    int64_t number = 0;
    OpFoldResult zero = builder.getIndexAttr(0);
    for (int64_t row = 0; row < tile.getDimSize(0) / block.rows; ++row)
      for (int64_t column = 0; column < tile.getDimSize(1) / block.columns; ++column) {
        Value delta = index((row * gridColumns + column) * linesOfBlock);
        OpFoldResult place = builder.createOrFold<arith::AddIOp>(loc, start, delta);
        if (block.byColumns)
          visit({zero, place}, number++);
        else
          visit({place, zero}, number++);
      }
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
  int64_t gridColumns, linesOfBlock;
  Value start;
};
} // namespace

SmallVector<Value> SharedBlocks::load(OpBuilder &builder, LoadTileOp op, Value memory,
                                      ValueRange offsets, const SharedBlock &block) {
  Location loc = op.getLoc();
  TileType tile = op.getTile().getType();
  BlockPlaces places(builder, loc, tile, memory, offsets, block);
  auto type = VectorType::get({block.rows, block.columns}, tile.getElementType());
  SmallVector<Value> blocks;
  places.forEach([&](ArrayRef<OpFoldResult> place, int64_t) {
    auto load = xegpu::LoadMatrixOp::create(builder, loc, type, places.descriptor, place,
                                            xegpu::DistributeLayoutAttr());
    if (!block.byColumns)
      load.setSubgroupBlockIoAttr(builder.getUnitAttr());
    blocks.push_back(load.getRes());
  });
  return blocks;
}

void SharedBlocks::store(OpBuilder &builder, StoreTileOp op, Value memory, ValueRange offsets,
                         ValueRange blocks, const SharedBlock &block) {
  Location loc = op.getLoc();
  BlockPlaces places(builder, loc, op.getTile().getType(), memory, offsets, block);
  places.forEach([&](ArrayRef<OpFoldResult> place, int64_t number) {
    auto store = xegpu::StoreMatrixOp::create(builder, loc, blocks[number], places.descriptor,
                                              place, xegpu::DistributeLayoutAttr());
    if (!block.byColumns)
      store.setSubgroupBlockIoAttr(builder.getUnitAttr());
  });
}
