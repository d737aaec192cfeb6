//===- TileAccess.cpp - accesses to tiles by 2D block messages ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tile, its matrix and its place. Out: xegpu.create_nd_tdesc, load_nd, store_nd, prefetch_nd.
// Refused: nothing; hasMessage tells whether blocks are messages.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/ToXeGPU/TileAccess.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace xetile;

CacheHints CacheHints::get(MLIRContext *context, xegpu::CachePolicy l1, xegpu::CachePolicy l3) {
  return {xegpu::CachePolicyAttr::get(context, l1), xegpu::CachePolicyAttr::get(context, l3)};
}

CacheHints CacheHints::forLoads(MLIRContext *context) {
  return get(context, xegpu::CachePolicy::CACHED, xegpu::CachePolicy::CACHED);
}

CacheHints CacheHints::forStores(MLIRContext *context) {
  return get(context, xegpu::CachePolicy::WRITE_BACK, xegpu::CachePolicy::WRITE_BACK);
}

CacheHints CacheHints::forPrefetches(MLIRContext *context, int32_t locality) {
  using Policy = xegpu::CachePolicy;
  switch (locality) {
  case 3:
    return get(context, Policy::CACHED, Policy::CACHED);
  case 2:
    return get(context, Policy::UNCACHED, Policy::CACHED);
  case 1:
    return get(context, Policy::STREAMING, Policy::CACHED);
  default:
    return get(context, Policy::STREAMING, Policy::UNCACHED);
  }
}

TileAccess::TileAccess(OpBuilder &builder, Location loc, TileType tile, const Surface &surface,
                       ValueRange offsets, const TargetInfo &target, std::array<bool, 2> inside)
    : builder(builder), loc(loc), tile(tile), surface(surface), offsets(offsets), target(target),
      inside(inside) {
  ArrayRef<int64_t> block = tile.getInnerBlocks();
  blockRows = block.empty() ? tile.getDimSize(0) : block[0];
  blockColumns = block.empty() ? tile.getDimSize(1) : block[1];
  gridRows = tile.getDimSize(0) / blockRows;
  gridColumns = tile.getDimSize(1) / blockColumns;
}

VectorType TileAccess::getBlockType() const {
  return VectorType::get({blockRows, blockColumns}, tile.getElementType());
}

Value TileAccess::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value TileAccess::asValue(OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

Value TileAccess::plus(Value value, int64_t delta) {
  return delta == 0 ? value : builder.createOrFold<arith::AddIOp>(loc, value, index(delta));
}

void TileAccess::forEachBlock(function_ref<void(int64_t, int64_t, int64_t)> visit) {
  for (int64_t row = 0; row < gridRows; ++row)
    for (int64_t column = 0; column < gridColumns; ++column)
      visit(row * gridColumns + column, row * blockRows, column * blockColumns);
}

BlockShape TileAccess::getMessage(BlockAccess access) const {
  unsigned bits = memoryBits(tile.getElementType());
  BlockShape shape{bits, unsigned(blockColumns), unsigned(blockRows)};
  bool isLoad = access == BlockAccess::Load;
  if (surface.isColumnMajor) {
    std::swap(shape.width, shape.height);
    shape.transpose = isLoad;
    return shape;
  }
  // Neighbours come with one message.
  for (unsigned blocks : {4u, 2u})
    if (isLoad && gridColumns % blocks == 0 &&
        !target.check2DBlockLoad(bits, shape.width, shape.height, blocks, false, false)) {
      shape.blocks = blocks;
      break;
    }
  return shape;
}

bool TileAccess::hasMessage(BlockAccess access) const {
  if (tile.getMemorySpace() != MemorySpace::Global || tile.getInnerBlocks().empty())
    return false;
  BlockShape shape = getMessage(access);
  if (access == BlockAccess::Store)
    return !surface.isColumnMajor &&
           !target.check2DBlockStore(shape.elemBits, shape.width, shape.height);
  if (!shape.transpose)
    return !target.check2DBlockLoad(shape.elemBits, shape.width, shape.height, shape.blocks, false,
                                    false);
  // Narrow elements are transposed as the 32-bit words that they share.
  unsigned bits = std::max(32u, shape.elemBits), pack = bits / shape.elemBits;
  return shape.width % pack == 0 && !target.check2DBlockLoad(bits, shape.width / pack, shape.height,
                                                             1, /*transpose=*/true, false);
}

/// A descriptor of the tile's whole matrix for messages of one shape.
Value TileAccess::createDescriptor(const BlockShape &shape, bool checksBounds) {
  auto type = xegpu::TensorDescType::get({shape.height, shape.width}, tile.getElementType(),
                                         /*array_length=*/int(shape.blocks), checksBounds,
                                         xegpu::MemorySpace::Global);
  auto memref = dyn_cast<TypedValue<MemRefType>>(surface.source);
  SmallVector<int64_t> strides;
  int64_t offset = ShapedType::kDynamic;
  bool isPlain = memref && !surface.isColumnMajor && surface.pitch && surface.step &&
                 succeeded(memref.getType().getStridesAndOffset(strides, offset)) &&
                 !ShapedType::isDynamic(offset);
  if (isPlain && memref.getType().hasStaticShape())
    return xegpu::CreateNdDescOp::create(builder, loc, type, memref);
  Surface all = surface.withAllParts(builder, loc);
  SmallVector<OpFoldResult> sizes{all.height, all.width};
  SmallVector<OpFoldResult> pitches{all.pitch, builder.getIndexAttr(1)};
  // Where rows are not what the memref's type says they are, its address stands for it.
  Value source = isPlain && offset == 0 ? surface.source : surface.createAddress(builder, loc);
  return xegpu::CreateNdDescOp::create(builder, loc, type, source, sizes, pitches);
}

SmallVector<OpFoldResult> TileAccess::getMessagePlace(int64_t row, int64_t column) {
  SmallVector<OpFoldResult> result{getAsOpFoldResult(place(0, row)),
                                   getAsOpFoldResult(place(1, column))};
  if (surface.isColumnMajor)
    std::swap(result[0], result[1]);
  return result;
}

SmallVector<Value> TileAccess::loadMessages(TypedAttr padding) {
  BlockShape shape = getMessage(BlockAccess::Load);
  bool isRowInside = tile.getDimSize(0) == 1 && isInside(0) && isInside(1);
  Value descriptor = createDescriptor(shape, /*checksBounds=*/!isRowInside);
  CacheHints hints = CacheHints::forLoads(builder.getContext());
  SmallVector<int64_t> loadedShape{blockRows, blockColumns};
  if (shape.blocks > 1)
    loadedShape.insert(loadedShape.begin(), shape.blocks);
  auto loadedType = VectorType::get(loadedShape, tile.getElementType());
  DenseI64ArrayAttr transpose;
  if (shape.transpose)
    transpose = builder.getDenseI64ArrayAttr({1, 0});
  SmallVector<Value> blocks(getNumBlocks());
  forEachBlock([&](int64_t number, int64_t row, int64_t column) {
    if (number % shape.blocks != 0)
      return;
    Value loaded =
        xegpu::LoadNdOp::create(builder, loc, loadedType, descriptor, getMessagePlace(row, column),
                                /*packed=*/UnitAttr(), transpose, hints.l1, hints.l1, hints.l3,
                                /*layout=*/xegpu::DistributeLayoutAttr());
    for (unsigned part = 0; part < shape.blocks; ++part) {
      Value block = loaded;
      if (shape.blocks > 1)
        block = vector::ExtractOp::create(builder, loc, loaded, part);
      if (padding)
        block = fillPadding(block, createMask(row, column + part * blockColumns), padding);
      blocks[number + part] = block;
    }
  });
  return blocks;
}

void TileAccess::storeMessages(ValueRange blocks) {
  if (std::optional<TileAccess> folded = foldedStore())
    return folded->storeMessages(foldBlocks(blocks));
  Value descriptor = createDescriptor(getMessage(BlockAccess::Store));
  CacheHints hints = CacheHints::forStores(builder.getContext());
  forEachBlock([&](int64_t number, int64_t row, int64_t column) {
    xegpu::StoreNdOp::create(builder, loc, blocks[number], descriptor, getMessagePlace(row, column),
                             hints.l1, hints.l1, hints.l3,
                             /*layout=*/xegpu::DistributeLayoutAttr());
  });
}

void TileAccess::prefetchMessages(const BlockShape &shape, ArrayRef<BlockMessage> messages,
                                  const CacheHints &hints) {
  Value descriptor = createDescriptor(shape);
  for (const BlockMessage &message : messages)
    xegpu::PrefetchNdOp::create(builder, loc, descriptor, getMessagePlace(message.row, message.col),
                                hints.l1, hints.l1, hints.l3,
                                /*layout=*/xegpu::DistributeLayoutAttr());
}
