//===- XeTileToVectorAccess.cpp - operations on tiles in memory to memref and vector --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Conversion/XeTileToVectorPatterns.h"

using namespace mlir;
using namespace xetile;

//===----------------------------------------------------------------------===//
// Vectors of tiles: in memory order, as a matrix, in blocks
//===----------------------------------------------------------------------===//

static constexpr int64_t kCacheLineBytes = 64;

/// The vector that load_tile gives, from one in memory order.
static Value fromMemoryOrder(OpBuilder &builder, Location loc, TileType tile, Value vector) {
  if (tile.isColumnMajor())
    vector = vector::TransposeOp::create(builder, loc, vector, ArrayRef<int64_t>{1, 0});
  return tile.getInnerBlocks().empty() ? vector
                                       : packVector(builder, loc, vector, tile.getInnerBlocks());
}

/// The reverse.
static Value toMemoryOrder(OpBuilder &builder, Location loc, TileType tile, Value vector) {
  if (!tile.getInnerBlocks().empty())
    vector = unpackVector(builder, loc, vector);
  if (tile.isColumnMajor())
    vector = vector::TransposeOp::create(builder, loc, vector, ArrayRef<int64_t>{1, 0});
  return vector;
}

static Value splat(OpBuilder &builder, Location loc, VectorType type,
                   std::optional<TypedAttr> value) {
  Attribute element = value ? *value : builder.getZeroAttr(type.getElementType());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, element));
}

/// Reads a whole vector at `indices` of a memref that has all of it.
static Value readInside(OpBuilder &builder, Location loc, VectorType type, Value memref,
                        ValueRange indices) {
  Value unused = arith::ConstantOp::create(
      builder, loc, cast<TypedAttr>(builder.getZeroAttr(type.getElementType())));
  SmallVector<bool> inBounds(type.getRank(), true);
  return vector::TransferReadOp::create(builder, loc, type, memref, indices, unused,
                                        std::optional<ArrayRef<bool>>(inBounds));
}

static void writeInside(OpBuilder &builder, Location loc, Value vector, Value memref,
                        ValueRange indices) {
  SmallVector<bool> inBounds(cast<VectorType>(vector.getType()).getRank(), true);
  vector::TransferWriteOp::create(builder, loc, vector, memref, indices,
                                  std::optional<ArrayRef<bool>>(inBounds));
}

static SmallVector<Value> zeros(OpBuilder &builder, Location loc) {
  return SmallVector<Value>(2, arith::ConstantIndexOp::create(builder, loc, 0));
}

namespace {

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

struct ConvertInitTile : OpConversionPattern<InitTileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(InitTileOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values;
    if (op.getTile().getType().isScattered())
      values = {createScatteredBase(rewriter, op), op.getIndices()};
    else
      values = createMemoryTile(rewriter, op).getValues();
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct ConvertUpdateTileOffset : OpConversionPattern<UpdateTileOffsetOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(UpdateTileOffsetOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileType type = op.getTile().getType();
    if (type.isScattered()) {
      Value indices =
          arith::AddIOp::create(rewriter, loc, adaptor.getTile()[1], op.getIndexDeltas());
      rewriter.replaceOpWithMultiple(op, {SmallVector<Value>{adaptor.getTile()[0], indices}});
      return success();
    }
    MemoryTile tile = MemoryTile::get(type, adaptor.getTile());
    for (auto [dim, delta] : llvm::enumerate(op.getMixedDeltas())) {
      Value &offset = tile.offset[dim ^ unsigned(type.isColumnMajor())];
      offset = rewriter.createOrFold<arith::AddIOp>(
          loc, offset, getValueOrCreateConstantIndexOp(rewriter, loc, delta));
    }
    rewriter.replaceOpWithMultiple(op, {tile.getValues()});
    return success();
  }
};

template <typename Op> struct MemoryPattern : OpConversionPattern<Op> {
  MemoryPattern(const TypeConverter &converter, MLIRContext *context, StackBuffers &buffers)
      : OpConversionPattern<Op>(converter, context), buffers(buffers) {}
  StackBuffers &buffers;
};

/// Reads the vector at once where the tile is inside of the matrix; else through a buffer that
/// holds the padding before the elements in the matrix are copied to it.
struct ConvertLoadTile : MemoryPattern<LoadTileOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult matchAndRewrite(LoadTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileType type = op.getTile().getType();
    MemoryTile tile = MemoryTile::get(type, adaptor.getTile());
    VectorType vector = tile.getVectorType(type);
    Value buffer;
    auto readAll = [&](OpBuilder &builder, Location) {
      Value value = readInside(builder, loc, vector, tile.base, ValueRange(tile.offset));
      scf::YieldOp::create(builder, loc, value);
    };
    auto readEdge = [&](OpBuilder &builder, Location) {
      writeInside(builder, loc, splat(builder, loc, vector, op.getPadding()), buffer,
                  zeros(builder, loc));
      createLoops(builder, loc, tile, /*step=*/1,
                  [&](OpBuilder &nested, ValueRange position, ValueRange element) {
                    Value value = memref::LoadOp::create(nested, loc, tile.base, element);
                    memref::StoreOp::create(nested, loc, value, buffer, position);
                  });
      Value value = readInside(builder, loc, vector, buffer, zeros(builder, loc));
      scf::YieldOp::create(builder, loc, value);
    };
    Value inside = createIsInside(rewriter, loc, tile);
    Value result;
    if (matchPattern(inside, m_One())) {
      result = readInside(rewriter, loc, vector, tile.base, ValueRange(tile.offset));
    } else {
      buffer = buffers.get(rewriter, loc, vector);
      result = scf::IfOp::create(rewriter, loc, inside, readAll, readEdge).getResult(0);
    }
    rewriter.replaceOp(op, fromMemoryOrder(rewriter, loc, type, result));
    return success();
  }
};

struct ConvertStoreTile : MemoryPattern<StoreTileOp> {
  using MemoryPattern::MemoryPattern;
  LogicalResult matchAndRewrite(StoreTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileType type = op.getTile().getType();
    MemoryTile tile = MemoryTile::get(type, adaptor.getTile());
    Value vector = toMemoryOrder(rewriter, loc, type, op.getValue());
    Value buffer;
    auto writeEdge = [&](OpBuilder &builder, Location) {
      writeInside(builder, loc, vector, buffer, zeros(builder, loc));
      createLoops(builder, loc, tile, /*step=*/1,
                  [&](OpBuilder &nested, ValueRange position, ValueRange element) {
                    Value value = memref::LoadOp::create(nested, loc, buffer, position);
                    memref::StoreOp::create(nested, loc, value, tile.base, element);
                  });
      scf::YieldOp::create(builder, loc);
    };
    auto writeAll = [&](OpBuilder &builder, Location) {
      writeInside(builder, loc, vector, tile.base, ValueRange(tile.offset));
      scf::YieldOp::create(builder, loc);
    };
    Value inside = createIsInside(rewriter, loc, tile);
    if (matchPattern(inside, m_One())) {
      writeInside(rewriter, loc, vector, tile.base, ValueRange(tile.offset));
    } else {
      buffer = buffers.get(rewriter, loc, tile.getVectorType(type));
      scf::IfOp::create(rewriter, loc, inside, writeAll, writeEdge);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// One prefetch for each cache line of each row.
struct ConvertPrefetchTile : OpConversionPattern<PrefetchTileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PrefetchTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileType type = op.getTile().getType();
    MemoryTile tile = MemoryTile::get(type, adaptor.getTile());
    int64_t line = kCacheLineBytes * 8 / type.getElementTypeBitWidth();
    createLoops(rewriter, op.getLoc(), tile, line,
                [&](OpBuilder &nested, ValueRange, ValueRange element) {
                  memref::PrefetchOp::create(nested, op.getLoc(), tile.base, element,
                                             /*isWrite=*/false, op.getLocality(),
                                             /*isDataCache=*/true);
                });
    rewriter.eraseOp(op);
    return success();
  }
};

/// Kinds that processors have no instruction for: multiplication, and minima and maxima of narrow
/// floats, at whose atomic form LLVM's code generation stops.
bool needsLoop(arith::AtomicRMWKind kind, Type type) {
  using Kind = arith::AtomicRMWKind;
  if (kind == Kind::mulf || kind == Kind::muli)
    return true;
  return (type.isF16() || type.isBF16()) && kind != Kind::addf && kind != Kind::assign;
}

/// Compares and exchanges until nobody else wrote between; narrow floats are computed as f32.
Value createLoop(OpBuilder &builder, Location loc, arith::AtomicRMWKind kind, Value value,
                 Value base, ValueRange element) {
  Type type = value.getType();
  Type wide = type.isF16() || type.isBF16() ? builder.getF32Type() : type;
  Type integer = builder.getIntegerType(type.getIntOrFloatBitWidth());
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, base);
  Value offset = metadata.getOffset();
  for (auto [index, stride] : llvm::zip_equal(element, metadata.getStrides()))
    offset = arith::AddIOp::create(builder, loc, offset,
                                   arith::MulIOp::create(builder, loc, index, stride));
  Value bytes = arith::ConstantIndexOp::create(builder, loc, type.getIntOrFloatBitWidth() / 8);
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, base);
  Value address = arith::AddIOp::create(builder, loc, start,
                                        arith::MulIOp::create(builder, loc, offset, bytes));
  Value number = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), number);
  auto cast = [&](Type to, Value from) -> Value {
    return from.getType() == to ? from : arith::BitcastOp::create(builder, loc, to, from);
  };
  Value first = LLVM::LoadOp::create(builder, loc, integer, pointer);
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange(integer), ValueRange(first),
      [&](OpBuilder &, Location, ValueRange seen) {
        Value old = cast(type, seen[0]), operand = value;
        if (wide != type) {
          old = arith::ExtFOp::create(builder, loc, wide, old);
          operand = arith::ExtFOp::create(builder, loc, wide, operand);
        }
        Value result = arith::getReductionOp(kind, builder, loc, old, operand);
        if (wide != type)
          result = arith::TruncFOp::create(builder, loc, type, result);
        auto exchange = LLVM::AtomicCmpXchgOp::create(
            builder, loc, pointer, seen[0], cast(integer, result), LLVM::AtomicOrdering::acq_rel,
            LLVM::AtomicOrdering::monotonic);
        Value current = LLVM::ExtractValueOp::create(builder, loc, exchange, 0);
        Value done = LLVM::ExtractValueOp::create(builder, loc, exchange, 1);
        Value truth = arith::ConstantIntOp::create(builder, loc, 1, 1);
        Value again = arith::XOrIOp::create(builder, loc, done, truth);
        scf::ConditionOp::create(builder, loc, again, current);
      },
      [&](OpBuilder &, Location, ValueRange current) {
        scf::YieldOp::create(builder, loc, current);
      });
  return cast(type, loop.getResult(0));
}

/// Updates an element of a memref; what was there.
Value updateAtomically(OpBuilder &builder, Location loc, arith::AtomicRMWKind kind, Value value,
                       Value base, ValueRange element) {
  if (needsLoop(kind, value.getType()))
    return createLoop(builder, loc, kind, value, base, element);
  return memref::AtomicRMWOp::create(builder, loc, kind, value, base, element);
}

struct ConvertAtomicRMWTile : MemoryPattern<AtomicRMWTileOp> {
  using MemoryPattern::MemoryPattern;

  LogicalResult matchAndRewrite(AtomicRMWTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileType type = op.getTile().getType();
    MemoryTile tile = MemoryTile::get(type, adaptor.getTile());
    VectorType vector = tile.getVectorType(type);
    arith::AtomicRMWKind kind = op.getKind();
    Value operands = buffers.get(rewriter, loc, vector);
    Value results = buffers.get(rewriter, loc, vector, /*number=*/1);
    writeInside(rewriter, loc, toMemoryOrder(rewriter, loc, type, op.getValue()), operands,
                zeros(rewriter, loc));
    writeInside(rewriter, loc, splat(rewriter, loc, vector, std::nullopt), results,
                zeros(rewriter, loc));
    createLoops(rewriter, loc, tile, /*step=*/1,
                [&](OpBuilder &nested, ValueRange position, ValueRange element) {
                  Value value = memref::LoadOp::create(nested, loc, operands, position);
                  Value old = updateAtomically(nested, loc, kind, value, tile.base, element);
                  memref::StoreOp::create(nested, loc, old, results, position);
                });
    Value result = readInside(rewriter, loc, vector, results, zeros(rewriter, loc));
    rewriter.replaceOp(op, fromMemoryOrder(rewriter, loc, type, result));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Scattered tiles
//===----------------------------------------------------------------------===//

/// The same elements in one row, which is what gathers and scatters of all targets take.
Value flatten(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  return vector::ShapeCastOp::create(
      builder, loc, VectorType::get({type.getNumElements()}, type.getElementType()), vector);
}

struct ConvertLoadGather : OpConversionPattern<LoadGatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LoadGatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getValue().getType();
    auto row = VectorType::get({type.getNumElements()}, type.getElementType());
    Value start = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value gathered = vector::GatherOp::create(rewriter, loc, row, adaptor.getTile()[0], start,
                                              flatten(rewriter, loc, adaptor.getTile()[1]),
                                              flatten(rewriter, loc, op.getMask()),
                                              splat(rewriter, loc, row, op.getPadding()));
    rewriter.replaceOpWithNewOp<vector::ShapeCastOp>(op, type, gathered);
    return success();
  }
};

struct ConvertStoreScatter : OpConversionPattern<StoreScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(StoreScatterOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value start = arith::ConstantIndexOp::create(rewriter, loc, 0);
    vector::ScatterOp::create(rewriter, loc, /*resultType=*/Type(), adaptor.getTile()[0], start,
                              flatten(rewriter, loc, adaptor.getTile()[1]),
                              flatten(rewriter, loc, op.getMask()),
                              flatten(rewriter, loc, op.getValue()));
    rewriter.eraseOp(op);
    return success();
  }
};

/// One element after the other, in row-major order.
struct ConvertAtomicRMWScatter : OpConversionPattern<AtomicRMWScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AtomicRMWScatterOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value base = adaptor.getTile()[0], places = flatten(rewriter, loc, adaptor.getTile()[1]),
          mask = flatten(rewriter, loc, op.getMask()),
          values = flatten(rewriter, loc, op.getValue());
    auto index = [&](int64_t value) {
      return arith::ConstantIndexOp::create(rewriter, loc, value).getResult();
    };
    auto elements = scf::ForOp::create(rewriter, loc, index(0),
                                       index(op.getValue().getType().getNumElements()), index(1));
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(elements.getBody());
    auto at = [&](Value vector) -> Value {
      return vector::ExtractOp::create(rewriter, loc, vector, elements.getInductionVar());
    };
    auto branch = scf::IfOp::create(rewriter, loc, at(mask), /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    updateAtomically(rewriter, loc, op.getKind(), at(values), base, at(places));
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void xetile::populateTileAccessPatterns(const TypeConverter &converter, RewritePatternSet &patterns,
                                        StackBuffers &buffers) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertInitTile, ConvertUpdateTileOffset, ConvertPrefetchTile, ConvertLoadGather,
               ConvertStoreScatter, ConvertAtomicRMWScatter>(converter, context);
  patterns.add<ConvertLoadTile, ConvertStoreTile, ConvertAtomicRMWTile>(converter, context,
                                                                        buffers);
}
