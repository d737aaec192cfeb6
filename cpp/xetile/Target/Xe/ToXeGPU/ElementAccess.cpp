//===- ElementAccess.cpp - accesses to tiles element by element -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tile of any matrix, in global or shared memory. Out: xegpu.load, store, atomic_rmw and
// prefetch with an offset for each element. Stores and updates have a mask of those that are in the
// matrix, loads read at its edge for the others, and take the padding. Tiles that are known to be
// in a matrix of static shape: load_nd and store_nd without tests of bounds. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Xe/ToXeGPU/TileAccess.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

static constexpr int64_t kCacheLineBytes = 64, kLanes = 16;

Value TileAccess::repeat(Value scalar, VectorType type) {
  return vector::BroadcastOp::create(builder, loc,
                                     VectorType::get(type.getShape(), scalar.getType()), scalar);
}

Value TileAccess::countAlong(unsigned dim, VectorType type) {
  Type element = builder.getIndexType();
  auto all = VectorType::get(type.getShape(), element);
  int64_t size = type.getDimSize(dim);
  if (size == 1)
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(all));
  Value steps = vector::StepOp::create(builder, loc, VectorType::get({size}, element));
  if (dim == 0)
    steps = vector::ShapeCastOp::create(builder, loc, VectorType::get({size, 1}, element), steps);
  return vector::BroadcastOp::create(builder, loc, all, steps);
}

Value TileAccess::createMask(int64_t row, int64_t column) {
  VectorType type = getBlockType();
  Value mask;
  for (unsigned dim : {0, 1}) {
    if (isInside(dim))
      continue;
    Value extent = asValue(memoryDim(dim) == 0 ? surface.height : surface.width);
    Value places = arith::AddIOp::create(builder, loc, countAlong(dim, type),
                                         repeat(place(dim, dim == 0 ? row : column), type));
    // Negative ones are large without a sign.
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, places,
                                        repeat(extent, type));
    mask = mask ? arith::AndIOp::create(builder, loc, mask, holds).getResult() : holds;
  }
  return mask;
}

Value TileAccess::createMaskOrTrue(int64_t row, int64_t column) {
  if (Value mask = createMask(row, column))
    return mask;
  auto type = VectorType::get(getBlockType().getShape(), builder.getI1Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, true));
}

Value TileAccess::fillPadding(Value block, Value mask, TypedAttr padding) {
  if (!mask)
    return block;
  auto type = cast<VectorType>(block.getType());
  Attribute element = padding ? Attribute(padding) : builder.getZeroAttr(type.getElementType());
  Value fill = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, element));
  return arith::SelectOp::create(builder, loc, mask, block, fill);
}

Value TileAccess::createPlacesInside(unsigned dim, int64_t start) {
  VectorType type = getBlockType();
  Value places =
      arith::AddIOp::create(builder, loc, countAlong(dim, type), repeat(place(dim, start), type));
  Value extent = asValue(memoryDim(dim) == 0 ? surface.height : surface.width);
  Value last = builder.createOrFold<arith::SubIOp>(loc, extent, index(1));
  // Negative ones are large without a sign.
  return arith::MinUIOp::create(builder, loc, places, repeat(last, type));
}

std::pair<Value, Value> TileAccess::createPlaces(int64_t row, int64_t column, bool isClamped) {
  VectorType type = getBlockType();
  Surface all = surface.withAllParts(builder, loc);
  Value strides[2] = {asValue(memoryDim(0) == 0 ? all.pitch : all.step),
                      asValue(memoryDim(1) == 0 ? all.pitch : all.step)};
  auto times = [&](Value left, Value right) -> Value {
    return builder.createOrFold<arith::MulIOp>(loc, left, right);
  };
  auto sum = [&](Value left, Value right) -> Value {
    return builder.createOrFold<arith::AddIOp>(loc, left, right);
  };
  // Within the block: the same for all blocks, so that it leaves loops.
  Value within, start = index(0);
  for (unsigned dim : {0, 1}) {
    bool isMoved = isClamped && !isInside(dim);
    Value places =
        isMoved ? createPlacesInside(dim, dim == 0 ? row : column) : countAlong(dim, type);
    Value part = times(places, repeat(strides[dim], type));
    within = within ? sum(within, part) : part;
    if (!isMoved)
      start = sum(start, times(place(dim, dim == 0 ? row : column), strides[dim]));
  }
  if (tile.getMemorySpace() == MemorySpace::Global) {
    Value bytes = times(start, index(surface.getElementBytes()));
    Value moved = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), bytes);
    return {arith::AddIOp::create(builder, loc, surface.createAddress(builder, loc), moved),
            within};
  }
  // Shared memory has no addresses in integers: its buffer in one dimension.
  auto memref = cast<TypedValue<MemRefType>>(surface.source);
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  auto flat = MemRefType::get({ShapedType::kDynamic}, tile.getElementType(), AffineMap(),
                              memref.getType().getMemorySpace());
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  OpFoldResult size = getAsOpFoldResult(times(asValue(all.height), asValue(all.pitch)));
  Value buffer =
      memref::ReinterpretCastOp::create(builder, loc, flat, metadata.getBaseBuffer(), zero,
                                        ArrayRef<OpFoldResult>{size}, ArrayRef<OpFoldResult>{one});
  start = sum(start, asValue(metadata.getConstifiedMixedOffset()));
  return {buffer, sum(within, repeat(start, type))};
}

bool TileAccess::isRowsInside() const {
  if (!isInside(0) || !isInside(1) || surface.isColumnMajor || !surface.step ||
      getConstantIntValue(surface.step) != 1 || tile.getMemorySpace() != MemorySpace::Global)
    return false;
  OpFoldResult parts[] = {surface.height, surface.width, surface.pitch};
  std::optional<int64_t> sides[3];
  for (auto [side, part] : llvm::zip_equal(sides, parts))
    if (!part || !(side = getConstantIntValue(part)))
      return false;
  // Later passes tell by the same limits that it is no block access.
  int64_t bytes = surface.getElementBytes();
  uint64_t width = llvm::SaturatingMultiply<uint64_t>(*sides[1], bytes);
  uint64_t pitch = llvm::SaturatingMultiply<uint64_t>(*sides[2], bytes);
  return bytes > 0 && target.checkSurface(width, *sides[0], pitch, unsigned(bytes) * 8).has_value();
}

SmallVector<Value> TileAccess::loadRows() {
  CacheHints hints = CacheHints::forLoads(builder.getContext());
  // Numbers of a column that lie side by side are one access, of 16 at most.
  constexpr int64_t kMostNumbers = 16;
  int64_t together = 1, count = getNumBlocks();
  while (tile.getDimSize(1) == 1 && 2 * together * blockRows <= kMostNumbers &&
         count % (2 * together) == 0)
    together *= 2;
  BlockShape shape{unsigned(memoryBits(tile.getElementType())), unsigned(blockColumns),
                   unsigned(together * blockRows)};
  Value descriptor = createDescriptor(shape, /*checksBounds=*/false);
  auto type = VectorType::get({together * blockRows, blockColumns}, tile.getElementType());
  SmallVector<Value> blocks(count);
  forEachBlock([&](int64_t number, int64_t row, int64_t column) {
    if (number % together != 0)
      return;
    Value loaded = xegpu::LoadNdOp::create(
        builder, loc, type, descriptor, getMessagePlace(row, column),
        /*packed=*/UnitAttr(), /*transpose=*/DenseI64ArrayAttr(), hints.l1, hints.l1, hints.l3,
        /*layout=*/xegpu::DistributeLayoutAttr());
    for (int64_t part = 0; part < together; ++part)
      blocks[number + part] =
          together == 1 ? loaded
                        : vector::ExtractStridedSliceOp::create(
                              builder, loc, loaded, ArrayRef<int64_t>{part * blockRows, 0},
                              getBlockType().getShape(), ArrayRef<int64_t>{1, 1})
                              .getResult();
  });
  return blocks;
}

SmallVector<Value> TileAccess::loadElements(TypedAttr padding) {
  if (isRowsInside())
    return loadRows();
  // A matrix without elements has none to read in place of those that are not there.
  Value hasElements;
  for (OpFoldResult extent : {surface.height, surface.width}) {
    if (extent && getConstantIntValue(extent))
      continue;
    Value holds =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, asValue(extent), index(0));
    hasElements =
        hasElements ? arith::AndIOp::create(builder, loc, hasElements, holds).getResult() : holds;
  }
  if (!hasElements)
    return loadClamped(padding);
  SmallVector<Type> types(getNumBlocks(), getBlockType());
  auto branch = scf::IfOp::create(builder, loc, types, hasElements, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, loadClamped(padding));
  builder.setInsertionPointToStart(branch.elseBlock());
  Attribute element =
      padding ? Attribute(padding) : builder.getZeroAttr(getBlockType().getElementType());
  Value fill =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(getBlockType(), element));
  scf::YieldOp::create(builder, loc, SmallVector<Value>(getNumBlocks(), fill));
  return branch.getResults();
}

SmallVector<Value> TileAccess::loadClamped(TypedAttr padding) {
  CacheHints hints = CacheHints::forLoads(builder.getContext());
  SmallVector<Value> blocks(getNumBlocks());
  auto all =
      DenseElementsAttr::get(VectorType::get(getBlockType().getShape(), builder.getI1Type()), true);
  forEachBlock([&](int64_t number, int64_t row, int64_t column) {
    // One path for all lanes: a branch for each element takes compilers and devices much longer.
    auto [base, places] = createPlaces(row, column, /*isClamped=*/true);
    Value mask = createMaskOrTrue(row, column);
    Value every = arith::ConstantOp::create(builder, loc, all);
    auto load = xegpu::LoadGatherOp::create(builder, loc, getBlockType(), base, places, every,
                                            /*chunk_size=*/IntegerAttr(), hints.l1, hints.l1,
                                            hints.l3, /*layout=*/xegpu::DistributeLayoutAttr());
    bool isWhole = isInside(0) && isInside(1);
    blocks[number] = isWhole ? load.getValue() : fillPadding(load.getValue(), mask, padding);
  });
  return blocks;
}

void TileAccess::storeElements(ValueRange blocks) {
  CacheHints hints = CacheHints::forStores(builder.getContext());
  if (isRowsInside()) {
    BlockShape shape{unsigned(memoryBits(tile.getElementType())), unsigned(blockColumns),
                     unsigned(blockRows)};
    Value descriptor = createDescriptor(shape, /*checksBounds=*/false);
    return forEachBlock([&](int64_t number, int64_t row, int64_t column) {
      xegpu::StoreNdOp::create(builder, loc, blocks[number], descriptor,
                               getMessagePlace(row, column), hints.l1, hints.l1, hints.l3,
                               /*layout=*/xegpu::DistributeLayoutAttr());
    });
  }
  forEachBlock([&](int64_t number, int64_t row, int64_t column) {
    auto [base, places] = createPlaces(row, column);
    xegpu::StoreScatterOp::create(builder, loc, blocks[number], base, places,
                                  createMaskOrTrue(row, column), /*chunk_size=*/IntegerAttr(),
                                  hints.l1, hints.l1, hints.l3,
                                  /*layout=*/xegpu::DistributeLayoutAttr());
  });
}

/// `count` elements of a vector in one row, from `start`.
static Value takeRun(OpBuilder &builder, Location loc, Value row, int64_t start, int64_t count) {
  return vector::ExtractStridedSliceOp::create(builder, loc, row, ArrayRef<int64_t>{start},
                                               ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
}

SmallVector<Value> TileAccess::updateElements(arith::AtomicRMWKind kind, ValueRange blocks) {
  VectorType type = getBlockType();
  int64_t number = type.getNumElements();
  auto inOneRow = [&](Value block) -> Value {
    Type element = cast<VectorType>(block.getType()).getElementType();
    return vector::ShapeCastOp::create(builder, loc, VectorType::get({number}, element), block);
  };
  SmallVector<Value> results(getNumBlocks());
  forEachBlock([&](int64_t block, int64_t row, int64_t column) {
    auto [base, places] = createPlaces(row, column);
    Value mask = createMaskOrTrue(row, column);
    Value flatPlaces = inOneRow(places), flatMask = inOneRow(mask),
          values = inOneRow(blocks[block]);
    auto flat = VectorType::get({number}, type.getElementType());
    Value old = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(flat));
    // An atomic operation of XeGPU has an element for each lane.
    for (int64_t start = 0; start < number; start += kLanes) {
      int64_t count = std::min(kLanes, number - start);
      auto descriptorType = xegpu::TensorDescType::get({count}, type.getElementType(),
                                                       /*chunk_size=*/1, xegpu::MemorySpace::Global,
                                                       /*layout=*/nullptr);
      if (tile.getMemorySpace() != MemorySpace::Global)
        descriptorType = xegpu::TensorDescType::get({count}, type.getElementType(),
                                                    /*chunk_size=*/1, xegpu::MemorySpace::SLM,
                                                    /*layout=*/nullptr);
      auto part = VectorType::get({count}, type.getElementType());
      Value descriptor = xegpu::CreateDescOp::create(
          builder, loc, descriptorType, base, takeRun(builder, loc, flatPlaces, start, count));
      Value before = xegpu::AtomicRMWOp::create(
          builder, loc, part, kind, descriptor, takeRun(builder, loc, flatMask, start, count),
          takeRun(builder, loc, values, start, count), /*layout=*/xegpu::DistributeLayoutAttr());
      old = vector::InsertStridedSliceOp::create(builder, loc, before, old,
                                                 ArrayRef<int64_t>{start}, ArrayRef<int64_t>{1});
    }
    Value result = vector::ShapeCastOp::create(builder, loc, type, old);
    results[block] = fillPadding(result, mask, TypedAttr());
  });
  return results;
}

void TileAccess::prefetchLines(const CacheHints &hints) {
  if (tile.getMemorySpace() != MemorySpace::Global)
    return;
  int64_t bytes = surface.getElementBytes(), perLine = kCacheLineBytes / bytes;
  int64_t sizes[2] = {tile.getDimSize(memoryDim(0)), tile.getDimSize(memoryDim(1))};
  // A row that starts anywhere touches one line more.
  int64_t lines = (sizes[1] - 1 + perLine - 1) / perLine + 1, total = sizes[0] * lines;
  Surface all = surface.withAllParts(builder, loc);
  auto type = VectorType::get({kLanes}, builder.getIndexType());
  Value extents[2] = {asValue(all.height), asValue(all.width)};
  Value base = surface.createAddress(builder, loc);
  for (int64_t start = 0; start < total; start += kLanes) {
    Value number = arith::AddIOp::create(builder, loc, vector::StepOp::create(builder, loc, type),
                                         repeat(index(start), type));
    Value perRow = repeat(index(lines), type);
    Value deltas[2] = {arith::DivUIOp::create(builder, loc, number, perRow),
                       arith::MulIOp::create(builder, loc,
                                             arith::RemUIOp::create(builder, loc, number, perRow),
                                             repeat(index(perLine), type))};
    Value places[2];
    for (unsigned dim : {0, 1}) {
      // Out-of-bounds indices are clamped to the last element.
      Value delta =
          arith::MinSIOp::create(builder, loc, deltas[dim], repeat(index(sizes[dim] - 1), type));
      Value at = arith::AddIOp::create(builder, loc, delta, repeat(offsets[memoryDim(dim)], type));
      Value last = arith::SubIOp::create(builder, loc, extents[dim], index(1));
      at = arith::MinSIOp::create(builder, loc, at, repeat(last, type));
      places[dim] = arith::MaxSIOp::create(builder, loc, at, repeat(index(0), type));
    }
    Value row = arith::MulIOp::create(builder, loc, places[0], repeat(asValue(all.pitch), type));
    Value column = arith::MulIOp::create(builder, loc, places[1], repeat(asValue(all.step), type));
    xegpu::PrefetchOp::create(builder, loc, base, arith::AddIOp::create(builder, loc, row, column),
                              hints.l1, hints.l1, hints.l3, builder.getI64IntegerAttr(bytes),
                              /*layout=*/xegpu::DistributeLayoutAttr());
  }
}
