//===- XeTileMemoryOps.cpp - verifiers of the operations on tiles in memory --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/IR/Builders.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;
using namespace xetile;

/// Checks that a mixed static/dynamic list is consistent and has `expected` elements.
static LogicalResult verifyMixedList(Operation *op, StringRef what, ArrayRef<int64_t> statics,
                                     ValueRange dynamics, size_t expected) {
  if (statics.size() != expected)
    return op->emitOpError("expected ")
           << expected << " " << what << ", rows and columns, got " << statics.size();
  size_t numDynamic = llvm::count_if(statics, ShapedType::isDynamic);
  if (numDynamic != dynamics.size())
    return op->emitOpError("expected one operand for each of the ")
           << numDynamic << " dynamic " << what << ", got " << dynamics.size();
  return success();
}

//===----------------------------------------------------------------------===//
// init_tile
//===----------------------------------------------------------------------===//

void InitTileOp::build(OpBuilder &builder, OperationState &state, Type tile, Value source,
                       ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> baseShape,
                       ArrayRef<OpFoldResult> baseStrides) {
  SmallVector<int64_t> staticOffsets, staticShape, staticStrides;
  SmallVector<Value> dynamicOffsets, dynamicShape, dynamicStrides;
  dispatchIndexOpFoldResults(offsets, dynamicOffsets, staticOffsets);
  dispatchIndexOpFoldResults(baseShape, dynamicShape, staticShape);
  dispatchIndexOpFoldResults(baseStrides, dynamicStrides, staticStrides);
  build(builder, state, tile, source, dynamicOffsets, dynamicShape, dynamicStrides,
        /*indices=*/Value(), builder.getDenseI64ArrayAttr(staticOffsets),
        builder.getDenseI64ArrayAttr(staticShape), builder.getDenseI64ArrayAttr(staticStrides));
}

void InitTileOp::build(OpBuilder &builder, OperationState &state, Type tile, Value address,
                       Value indices) {
  DenseI64ArrayAttr none = builder.getDenseI64ArrayAttr({});
  build(builder, state, tile, address, ValueRange(), ValueRange(), ValueRange(), indices, none,
        none, none);
}

SmallVector<OpFoldResult> InitTileOp::getMixedOffsets() {
  return getMixedValues(getStaticOffsets(), getOffsets(), getContext());
}

SmallVector<OpFoldResult> InitTileOp::getMixedBaseShape() {
  if (auto memref = dyn_cast<MemRefType>(getSource().getType()); memref && memref.hasStaticShape())
    return getMixedValues(memref.getShape(), ValueRange(), getContext());
  return getMixedValues(getStaticBaseShape(), getBaseShape(), getContext());
}

std::optional<SmallVector<int64_t>> xetile::getMemRefStrides(MemRefType memref) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (succeeded(memref.getStridesAndOffset(strides, offset)))
    return strides;
  AffineMap transposed =
      AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, memref.getContext());
  if (memref.hasStaticShape() && memref.getLayout().getAffineMap() == transposed)
    return SmallVector<int64_t>{1, memref.getDimSize(0)};
  return std::nullopt;
}

SmallVector<OpFoldResult> InitTileOp::getMixedBaseStrides() {
  auto memref = dyn_cast<MemRefType>(getSource().getType());
  if (!memref || !memref.hasStaticShape())
    return getMixedValues(getStaticBaseStrides(), getBaseStrides(), getContext());
  std::optional<SmallVector<int64_t>> strides = getMemRefStrides(memref);
  if (!strides || llvm::any_of(*strides, ShapedType::isDynamic))
    return {};
  return getMixedValues(*strides, ValueRange(), getContext());
}

std::optional<MemorySpace> xetile::getMemorySpace(MemRefType memref) {
  Attribute space = memref.getMemorySpace();
  if (!space)
    return MemorySpace::Global;
  int64_t number = -1;
  if (auto integer = dyn_cast<IntegerAttr>(space))
    number = integer.getValue().getSExtValue();
  else if (auto gpuSpace = dyn_cast<gpu::AddressSpaceAttr>(space))
    number = gpuSpace.getValue() == gpu::AddressSpace::Global      ? 1
             : gpuSpace.getValue() == gpu::AddressSpace::Workgroup ? 3
                                                                   : -1;
  else if (auto xegpuSpace = dyn_cast<xegpu::MemorySpaceAttr>(space))
    number = xegpuSpace.getValue() == xegpu::MemorySpace::SLM ? 3 : 1;
  if (number == 0 || number == 1)
    return MemorySpace::Global;
  if (number == 3)
    return MemorySpace::SLM;
  return std::nullopt;
}

static LogicalResult verifyScatteredTile(InitTileOp op) { // init_tile_c8
  TileType tile = op.getTile().getType();
  if (!op.getIndices() || !op.getStaticOffsets().empty() || !op.getStaticBaseShape().empty() ||
      !op.getStaticBaseStrides().empty() || !op.getOffsets().empty() ||
      !op.getBaseShape().empty() || !op.getBaseStrides().empty())
    return op.emitOpError("expected an address and a vector of indices alone, as in '%address, "
                          "%indices', for a tile with scatter");
  if (!op.getSource().getType().isInteger(64))
    return op.emitOpError("expected an address of type i64 for a tile with scatter, got ")
           << op.getSource().getType();
  if (op.getIndices().getType().getShape() != tile.getShape())
    return op.emitOpError("expected indices of the tile's shape, ")
           << VectorType::get(tile.getShape(), IndexType::get(op.getContext())) << ", got "
           << op.getIndices().getType();
  return success();
}

LogicalResult InitTileOp::verify() {
  TileType tile = getTile().getType();
  if (tile.isScattered())
    return verifyScatteredTile(*this);
  if (getIndices()) // init_tile_c8
    return emitOpError("takes indices only for a tile with scatter = true, got ") << tile;
  if (failed(
          verifyMixedList(*this, "offsets", getStaticOffsets(), getOffsets(), 2))) // init_tile_c1
    return failure();

  auto memref = dyn_cast<MemRefType>(getSource().getType());
  if (memref && memref.getElementType() != tile.getElementType()) // init_tile_c2
    return emitOpError("expected a memref with the tile's element type ")
           << tile.getElementType() << ", got " << memref;
  std::optional<MemorySpace> space = memref ? getMemorySpace(memref) : MemorySpace::Global;
  if (space != tile.getMemorySpace()) // init_tile_c7
    return emitOpError("expected ")
           << (memref ? "a memref" : "an address") << " in the tile's memory space "
           << stringifyMemorySpace(tile.getMemorySpace()) << ", got " << getSource().getType()
           << (space ? "" : ", whose memory space tiles cannot be in");

  // The stride of the fastest-changing dimension, if it is known.
  unsigned fastest = tile.isColumnMajor() ? 0 : 1;
  int64_t fastestStride = ShapedType::kDynamic;
  if (memref && memref.hasStaticShape()) {
    if (!getStaticBaseShape().empty() || !getStaticBaseStrides().empty()) // init_tile_c4
      return emitOpError(
          "takes no base shape and strides for a memref of static shape, whose own are used");
    std::optional<SmallVector<int64_t>> strides = getMemRefStrides(memref);
    if (!strides)
      return emitOpError("expected a strided memref, got ") << memref;
    fastestStride = (*strides)[fastest];
    if (ShapedType::isDynamic(fastestStride)) // init_tile_c5
      return emitOpError("expected a static stride of 1 in dimension ")
             << fastest << ", got " << memref;
  } else {
    if (getStaticBaseShape().empty() || getStaticBaseStrides().empty()) // init_tile_c3
      return emitOpError("expected base shape and strides after the offsets, as in '%base[0, 0], "
                         "[%rows, %columns], "
                         "[%pitch, 1]', for ")
             << (memref ? "a memref of dynamic shape" : "an address");
    if (failed(verifyMixedList(*this, "base sizes", getStaticBaseShape(), getBaseShape(), 2)) ||
        failed(verifyMixedList(*this, "base strides", getStaticBaseStrides(), getBaseStrides(), 2)))
      return failure();
    for (auto [what, values] :
         {std::pair("sizes", getStaticBaseShape()), std::pair("strides", getStaticBaseStrides())})
      for (int64_t value : values)
        if (!ShapedType::isDynamic(value) && value < 1) // init_tile_c6
          return emitOpError("expected base ") << what << " to be positive, got " << value;
    fastestStride = getStaticBaseStrides()[fastest];
  }
  if (!ShapedType::isDynamic(fastestStride) && fastestStride != 1) // init_tile_c5
    return emitOpError("expected stride 1 in dimension ")
           << fastest << ", the fastest-changing one of a "
           << (tile.isColumnMajor() ? "column" : "row") << "-major tile, got " << fastestStride
           << "; order = " << (tile.isColumnMajor() ? "[1, 0]" : "[0, 1]")
           << " describes the other layout";
  return success();
}

//===----------------------------------------------------------------------===//
// update_tile_offset
//===----------------------------------------------------------------------===//

void UpdateTileOffsetOp::build(OpBuilder &builder, OperationState &state, Value tile,
                               ArrayRef<OpFoldResult> deltas) {
  SmallVector<int64_t> staticDeltas;
  SmallVector<Value> dynamicDeltas;
  dispatchIndexOpFoldResults(deltas, dynamicDeltas, staticDeltas);
  build(builder, state, tile.getType(), tile, dynamicDeltas, /*index_deltas=*/Value(),
        builder.getDenseI64ArrayAttr(staticDeltas));
}

SmallVector<OpFoldResult> UpdateTileOffsetOp::getMixedDeltas() {
  return getMixedValues(getStaticDeltas(), getDeltas(), getContext());
}

LogicalResult UpdateTileOffsetOp::verify() {
  TileType tile = getTile().getType();
  Value indices = getIndexDeltas();
  if (!tile.isScattered() && indices) // update_tile_offset_c2
    return emitOpError("expected deltas as in '[%rows, %columns]', got a vector for ") << tile;
  if (!tile.isScattered()) // update_tile_offset_c1
    return verifyMixedList(*this, "deltas", getStaticDeltas(), getDeltas(), 2);
  auto expected = VectorType::get(tile.getShape(), IndexType::get(getContext()));
  if (!indices || !getStaticDeltas().empty() || !getDeltas().empty()) // update_tile_offset_c2
    return emitOpError("expected one vector of type ") << expected << " for a tile with scatter";
  if (indices.getType() != expected) // update_tile_offset_c2
    return emitOpError("expected a vector of the tile's shape, ")
           << expected << ", got " << indices.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static LogicalResult verifyVectorOfTile(Operation *op, Type vector, TileType tile) {
  if (vector != tile.getVectorType())
    return op->emitOpError("expected a vector of the tile's shape and element type, ")
           << tile.getVectorType() << ", got " << vector;
  return success();
}

/// Scattered tiles have accesses of their own, which take a mask.
static LogicalResult verifyScatter(Operation *op, TileType tile, bool expected) {
  if (tile.isScattered() == expected)
    return success();
  if (expected)
    return op->emitOpError("expected a tile with scatter = true, got ") << tile;
  return op->emitOpError("expected a tile without scatter, got ")
         << tile << "; load_gather, store_scatter and atomic_rmw_scatter access scattered tiles";
}

static LogicalResult verifyPadding(Operation *op, std::optional<TypedAttr> padding, Type element) {
  if (!padding)
    return success();
  if (padding->getType() != element)
    return op->emitOpError("expected padding of the element type ")
           << element << ", got " << padding->getType();
  if (!isa<FloatAttr, IntegerAttr>(*padding))
    return op->emitOpError("expected padding to be a number, got ") << *padding;
  return success();
}

static LogicalResult verifyMask(Operation *op, VectorType mask, TileType tile) {
  if (mask.getShape() != tile.getShape())
    return op->emitOpError("expected a mask of the tile's shape, ")
           << VectorType::get(tile.getShape(), mask.getElementType()) << ", got " << mask;
  return success();
}

LogicalResult LoadTileOp::verify() {
  TileType tile = getTile().getType();
  if (failed(verifyScatter(*this, tile, false)) ||                   // load_tile_c3
      failed(verifyVectorOfTile(*this, getValue().getType(), tile))) // load_tile_c1
    return failure();
  return verifyPadding(*this, getPadding(), tile.getElementType()); // load_tile_c2
}

LogicalResult LoadTileOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                           ValueRange operands, DictionaryAttr, OpaqueProperties,
                                           RegionRange, SmallVectorImpl<Type> &types) {
  auto tile = dyn_cast<TileType>(operands.front().getType());
  if (!tile)
    return failure();
  types.push_back(tile.getVectorType());
  return success();
}

bool LoadTileOp::hasZeroPadding() {
  if (!getPadding())
    return true;
  if (auto value = dyn_cast<FloatAttr>(*getPadding()))
    return value.getValue().isPosZero();
  if (auto value = dyn_cast<IntegerAttr>(*getPadding()))
    return value.getValue().isZero();
  return false;
}

LogicalResult StoreTileOp::verify() {
  TileType tile = getTile().getType();
  if (failed(verifyScatter(*this, tile, false))) // store_tile_c2
    return failure();
  return verifyVectorOfTile(*this, getValue().getType(), tile); // store_tile_c1
}

namespace {
/// The resource that a prefetch writes: no memory, so that loads and stores may move across it.
struct CacheResource : SideEffects::Resource::Base<CacheResource> {
  StringRef getName() override { return "XeTileCache"; }
};
} // namespace

void PrefetchTileOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), CacheResource::get());
}

LogicalResult PrefetchTileOp::verify() {
  return verifyScatter(*this, getTile().getType(), false); // prefetch_tile_c2
}

/// True for the kinds of constraint atomic_rmw_tile_c2.
static bool isAtomicKindFor(arith::AtomicRMWKind kind, Type element) {
  using Kind = arith::AtomicRMWKind;
  switch (kind) {
  case Kind::assign:
    return true;
  case Kind::addf:
  case Kind::mulf:
  case Kind::maximumf:
  case Kind::maxnumf:
  case Kind::minimumf:
  case Kind::minnumf:
    return isa<FloatType>(element);
  default:
    return isa<IntegerType>(element);
  }
}

static LogicalResult verifyAtomicKind(Operation *op, arith::AtomicRMWKind kind, Type element) {
  if (isAtomicKindFor(kind, element))
    return success();
  return op->emitOpError("expected a kind for elements of type ")
         << element << ", got " << arith::stringifyAtomicRMWKind(kind);
}

LogicalResult AtomicRMWTileOp::verify() {
  TileType tile = getTile().getType();
  if (failed(verifyScatter(*this, tile, false)) ||                   // atomic_rmw_tile_c3
      failed(verifyVectorOfTile(*this, getValue().getType(), tile))) // atomic_rmw_tile_c1
    return failure();
  return verifyAtomicKind(*this, getKind(), tile.getElementType()); // atomic_rmw_tile_c2
}

LogicalResult LoadGatherOp::verify() {
  TileType tile = getTile().getType();
  if (failed(verifyScatter(*this, tile, true)) ||                    // load_gather_c3
      failed(verifyMask(*this, getMask().getType(), tile)) ||        // load_gather_c4
      failed(verifyVectorOfTile(*this, getValue().getType(), tile))) // load_gather_c1
    return failure();
  return verifyPadding(*this, getPadding(), tile.getElementType()); // load_gather_c2
}

LogicalResult LoadGatherOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                             ValueRange operands, DictionaryAttr attributes,
                                             OpaqueProperties properties, RegionRange regions,
                                             SmallVectorImpl<Type> &types) {
  return LoadTileOp::inferReturnTypes(context, location, operands, attributes, properties, regions,
                                      types);
}

LogicalResult StoreScatterOp::verify() {
  TileType tile = getTile().getType();
  if (failed(verifyScatter(*this, tile, true)) ||           // store_scatter_c2
      failed(verifyMask(*this, getMask().getType(), tile))) // store_scatter_c3
    return failure();
  return verifyVectorOfTile(*this, getValue().getType(), tile); // store_scatter_c1
}

LogicalResult AtomicRMWScatterOp::verify() {
  TileType tile = getTile().getType();
  if (failed(verifyScatter(*this, tile, true)) ||                    // atomic_rmw_scatter_c3
      failed(verifyMask(*this, getMask().getType(), tile)) ||        // atomic_rmw_scatter_c4
      failed(verifyVectorOfTile(*this, getValue().getType(), tile))) // atomic_rmw_scatter_c1
    return failure();
  return verifyAtomicKind(*this, getKind(), tile.getElementType()); // atomic_rmw_scatter_c2
}
