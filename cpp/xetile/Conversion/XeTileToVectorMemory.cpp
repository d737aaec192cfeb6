//===- XeTileToVectorMemory.cpp - tiles as memrefs and positions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Conversion/XeTileToVectorMemory.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xetile {

//===----------------------------------------------------------------------===//
// MemoryTile
//===----------------------------------------------------------------------===//

/// The base of a tile: its layout is only known at run time, but consecutive elements are adjacent.
static MemRefType getBaseType(Type element, Attribute space) {
  int64_t dynamic = ShapedType::kDynamic;
  auto layout = StridedLayoutAttr::get(element.getContext(), dynamic, {dynamic, 1});
  return MemRefType::get({dynamic, dynamic}, element, layout, space);
}

/// The memory space of a converted tile. Those of the sources differ in spelling alone.
static Attribute getSpace(TileType tile) {
  if (tile.getMemorySpace() == MemorySpace::Global)
    return {};
  return IntegerAttr::get(IntegerType::get(tile.getContext(), 64), int64_t(tile.getMemorySpace()));
}

SmallVector<Type> MemoryTile::getTypes(TileType tile) {
  SmallVector<Type> types{getBaseType(tile.getElementType(), getSpace(tile))};
  types.append(4, IndexType::get(tile.getContext()));
  return types;
}

MemoryTile MemoryTile::get(TileType tile, ValueRange values) {
  MemoryTile result{values[0], {values[1], values[2]}, {values[3], values[4]}, {}};
  bool swap = tile.isColumnMajor();
  result.shape[swap] = tile.getDimSize(0);
  result.shape[!swap] = tile.getDimSize(1);
  return result;
}

SmallVector<Value> MemoryTile::getValues() const {
  return {base, size[0], size[1], offset[0], offset[1]};
}

VectorType MemoryTile::getVectorType(TileType tile) const {
  return VectorType::get(shape, tile.getElementType());
}

/// A memref over memory at `address` with `sizes`, `strides` and no offset. The descriptor is that
/// of MLIR's lowering to LLVM, which takes the cast away with the memref's other uses.
static Value createMemRefAtAddress(OpBuilder &builder, Location loc, MemRefType type, Value address,
                                   ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides) {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i64 = builder.getI64Type();
  Type list = LLVM::LLVMArrayType::get(i64, type.getRank());
  auto descriptorType =
      LLVM::LLVMStructType::getLiteral(context, {pointer, pointer, i64, list, list});
  auto descriptor = MemRefDescriptor::poison(builder, loc, descriptorType);
  Value start = LLVM::IntToPtrOp::create(builder, loc, pointer, address);
  auto toI64 = [&](OpFoldResult value) {
    return builder.createOrFold<arith::IndexCastOp>(
        loc, i64, getValueOrCreateConstantIndexOp(builder, loc, value));
  };
  auto zero = LLVM::ConstantOp::create(builder, loc, i64, builder.getI64IntegerAttr(0));
  descriptor.setAllocatedPtr(builder, loc, start);
  descriptor.setAlignedPtr(builder, loc, start);
  descriptor.setOffset(builder, loc, zero);
  for (auto [dim, size, stride] : llvm::enumerate(sizes, strides)) {
    descriptor.setSize(builder, loc, dim, toI64(size));
    descriptor.setStride(builder, loc, dim, toI64(stride));
  }
  return UnrealizedConversionCastOp::create(builder, loc, type, Value(descriptor)).getResult(0);
}

/// Stops the program where a stride that the code relies on, but that is only known at run time, is
/// not 1.
static void createStrideCheck(OpBuilder &builder, Location loc, OpFoldResult stride) {
  auto value = dyn_cast<Value>(stride);
  if (!value)
    return;
  Value isOne = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::eq, value, arith::ConstantIndexOp::create(builder, loc, 1));
  cf::AssertOp::create(builder, loc, isOne,
                       "xetile.init_tile: expected stride 1 in the fastest-changing dimension");
}

MemoryTile createMemoryTile(OpBuilder &builder, InitTileOp op) {
  Location loc = op.getLoc();
  TileType tile = op.getTile().getType();
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(), sizes = op.getMixedBaseShape(),
                            strides = op.getMixedBaseStrides();
  MemRefType type = getBaseType(tile.getElementType(), getSpace(tile));
  auto memref = dyn_cast<TypedValue<MemRefType>>(op.getSource());
  Value source = op.getSource();
  OpFoldResult start;
  if (memref) {
    if (memref.getType().getMemorySpace() != type.getMemorySpace()) {
      auto inSpace = MemRefType::get(memref.getType().getShape(), type.getElementType(),
                                     memref.getType().getLayout(), type.getMemorySpace());
      source = memref::MemorySpaceCastOp::create(builder, loc, inSpace, source);
    }
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, source);
    source = metadata.getBaseBuffer();
    start = metadata.getConstifiedMixedOffset();
    if (strides.empty())
      strides = metadata.getConstifiedMixedStrides();
  }
  if (tile.isColumnMajor())
    for (SmallVector<OpFoldResult> *pair : {&offsets, &sizes, &strides})
      std::swap((*pair)[0], (*pair)[1]);
  createStrideCheck(builder, loc, strides[1]);
  strides[1] = builder.getIndexAttr(1);
  auto toValue = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(builder, loc, value);
  };
  SmallVector<Value> values(1);
  if (memref)
    values[0] = memref::ReinterpretCastOp::create(
        builder, loc, type, source, OpFoldResult(toValue(start)),
        ArrayRef<OpFoldResult>{toValue(sizes[0]), toValue(sizes[1])},
        ArrayRef<OpFoldResult>{toValue(strides[0]), strides[1]});
  else
    values[0] = createMemRefAtAddress(builder, loc, type, source, sizes, strides);
  for (OpFoldResult value : {sizes[0], sizes[1], offsets[0], offsets[1]})
    values.push_back(toValue(value));
  return MemoryTile::get(tile, values);
}

MemRefType getScatteredBaseType(TileType tile) {
  return MemRefType::get({ShapedType::kDynamic}, tile.getElementType());
}

Value createScatteredBase(OpBuilder &builder, InitTileOp op) {
  // Its size is not known, and nothing asks for it: masks say what may be read.
  OpFoldResult one = builder.getIndexAttr(1);
  return createMemRefAtAddress(builder, op.getLoc(), getScatteredBaseType(op.getTile().getType()),
                               op.getSource(), one, one);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value createIsInside(OpBuilder &builder, Location loc, const MemoryTile &tile) {
  using Predicate = arith::CmpIPredicate;
  Value inside;
  auto require = [&](Predicate predicate, Value left, Value right) {
    Value holds = builder.createOrFold<arith::CmpIOp>(loc, predicate, left, right);
    inside = inside ? builder.createOrFold<arith::AndIOp>(loc, inside, holds) : holds;
  };
  for (unsigned dim : {0, 1}) {
    require(Predicate::sge, tile.offset[dim], constant(builder, loc, 0));
    Value last = builder.createOrFold<arith::SubIOp>(loc, tile.size[dim],
                                                     constant(builder, loc, tile.shape[dim]));
    require(Predicate::sle, tile.offset[dim], last);
  }
  return inside;
}

void createLoops(OpBuilder &builder, Location loc, const MemoryTile &tile, int64_t step,
                 function_ref<void(OpBuilder &, ValueRange, ValueRange)> body) {
  // Positions p in the tile with 0 <= offset + p < size.
  SmallVector<Value> lower, upper, steps;
  Value zero = constant(builder, loc, 0);
  for (unsigned dim : {0, 1}) {
    Value before = builder.createOrFold<arith::SubIOp>(loc, zero, tile.offset[dim]);
    Value after = builder.createOrFold<arith::SubIOp>(loc, tile.size[dim], tile.offset[dim]);
    lower.push_back(builder.createOrFold<arith::MaxSIOp>(loc, before, zero));
    upper.push_back(
        builder.createOrFold<arith::MinSIOp>(loc, after, constant(builder, loc, tile.shape[dim])));
    steps.push_back(constant(builder, loc, dim == 0 ? 1 : step));
  }
  scf::buildLoopNest(
      builder, loc, lower, upper, steps, [&](OpBuilder &nested, Location, ValueRange position) {
        SmallVector<Value> element;
        for (unsigned dim : {0, 1})
          element.push_back(arith::AddIOp::create(nested, loc, tile.offset[dim], position[dim]));
        body(nested, position, element);
      });
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value StackBuffers::get(OpBuilder &builder, Location loc, VectorType type, unsigned number) {
  // Not the nearest allocation scope: loops are such scopes too, and their lowering to branches
  // gives nothing back before the function returns.
  Operation *scope = builder.getInsertionBlock()->getParentOp();
  Block *block = builder.getInsertionBlock();
  while (scope && !isa<FunctionOpInterface, gpu::LaunchOp, scf::ParallelOp, scf::ForallOp>(scope)) {
    block = scope->getBlock();
    scope = scope->getParentOp();
  }
  Block *entry = block ? &block->getParent()->front() : builder.getInsertionBlock();
  Value &buffer = buffers[{entry, type, number}];
  if (!buffer) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    buffer = memref::AllocaOp::create(builder, loc,
                                      MemRefType::get(type.getShape(), type.getElementType()));
  }
  return buffer;
}

} // namespace xetile
