//===- XeTileToXeGPU.cpp - subgroup-level XeTile to XeGPU of the hardware's sizes --===//
// In: XeTile without wg_map; scf.for, scf.if, elementwise operations and constants on its vectors.
// Out: xegpu.load_nd/store_nd/prefetch_nd with offsets, dpas of one hardware operation each.
// Refused: everything that XeTileToXeGPUAnalysis names; nothing is changed then.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "xetile/Conversion/Passes.h"
#include "xetile/Conversion/XeTileToXeGPUAnalysis.h"
#include "xetile/Transforms/Piecewise.h"
#include "xetile/Transforms/TiedValues.h"

namespace xetile {
#define GEN_PASS_DEF_CONVERTXETILETOXEGPU
#include "xetile/Conversion/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

template <typename Op> struct XeTilePattern : OpConversionPattern<Op> {
  XeTilePattern(const TypeConverter &converter, MLIRContext *context,
                const XeTileToXeGPUAnalysis &analysis)
      : OpConversionPattern<Op>(converter, context), analysis(analysis) {}
  const XeTileToXeGPUAnalysis &analysis;
};

/// Cache policies for L1 and L3 (XeVM's name for the device's last level; upstream's lowering reads
/// no other).
struct CacheHints {
  xegpu::CachePolicyAttr l1, l3;
};

CacheHints getCacheHints(MLIRContext *context, xegpu::CachePolicy l1, xegpu::CachePolicy l3) {
  return {xegpu::CachePolicyAttr::get(context, l1), xegpu::CachePolicyAttr::get(context, l3)};
}

/// memref.prefetch's scale: 3 keeps the data in all caches, 2 in the last level, 1 streams it, 0
/// keeps it nowhere.
CacheHints getPrefetchHints(MLIRContext *context, int32_t locality) {
  using Policy = xegpu::CachePolicy;
  switch (locality) {
  case 3:
    return getCacheHints(context, Policy::CACHED, Policy::CACHED);
  case 2:
    return getCacheHints(context, Policy::UNCACHED, Policy::CACHED);
  case 1:
    return getCacheHints(context, Policy::STREAMING, Policy::CACHED);
  default:
    return getCacheHints(context, Policy::STREAMING, Policy::UNCACHED);
  }
}

/// A descriptor of the tile's whole matrix for messages of `rows` x `columns`, `count` side by
/// side.
Value createDescriptor(OpBuilder &builder, Location loc, const TileBase &base, Type element,
                       BlockMessage message) {
  auto type = xegpu::TensorDescType::get({message.rows, message.columns}, element,
                                         /*array_length=*/int(message.count),
                                         /*boundary_check=*/true, xegpu::MemorySpace::Global);
  auto memref = dyn_cast<TypedValue<MemRefType>>(base.source);
  if (memref && memref.getType().hasStaticShape())
    return xegpu::CreateNdDescOp::create(builder, loc, type, memref);
  return xegpu::CreateNdDescOp::create(builder, loc, type, base.source, base.shape, base.strides);
}

/// A message of a tile: its place within the tile and its offsets in the matrix.
struct MessagePlace {
  int64_t row, column;
  SmallVector<OpFoldResult, 2> offsets;
};

/// The places of the messages that cover a tile at `tileOffsets`, row by row.
SmallVector<MessagePlace> getPlaces(OpBuilder &builder, Location loc, TileType tile,
                                    ValueRange tileOffsets, BlockMessage message) {
  auto offset = [&](unsigned dim, int64_t delta) {
    return getAsOpFoldResult(builder.createOrFold<arith::AddIOp>(
        loc, tileOffsets[dim], arith::ConstantIndexOp::create(builder, loc, delta)));
  };
  SmallVector<MessagePlace> places;
  for (int64_t row = 0; row < tile.getDimSize(0); row += message.rows)
    for (int64_t column = 0; column < tile.getDimSize(1); column += message.totalColumns())
      places.push_back({row, column, {offset(0, row), offset(1, column)}});
  return places;
}

struct ConvertInitTile : OpConversionPattern<InitTileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(InitTileOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> offsets =
        getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), op.getMixedOffsets());
    rewriter.replaceOpWithMultiple(op, {offsets});
    return success();
  }
};

struct ConvertUpdateTileOffset : OpConversionPattern<UpdateTileOffsetOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(UpdateTileOffsetOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> offsets;
    for (auto [offset, delta] : llvm::zip_equal(adaptor.getTile(), op.getMixedDeltas()))
      offsets.push_back(rewriter.createOrFold<arith::AddIOp>(
          op.getLoc(), offset, getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), delta)));
    rewriter.replaceOpWithMultiple(op, {offsets});
    return success();
  }
};

struct ConvertLoadTile : XeTilePattern<LoadTileOp> {
  using XeTilePattern::XeTilePattern;
  LogicalResult matchAndRewrite(LoadTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileType tile = op.getTile().getType();
    BlockShape block = *analysis.getBlock(op.getValue());
    BlockMessage message = analysis.getMessage(op);
    Value descriptor = createDescriptor(rewriter, loc, analysis.getBase(op.getTile()),
                                        tile.getElementType(), message);
    CacheHints hints =
        getCacheHints(op.getContext(), xegpu::CachePolicy::CACHED, xegpu::CachePolicy::CACHED);

    auto blocksType = VectorType::get({message.rows, message.columns}, tile.getElementType());
    VectorType loadedType = blocksType;
    if (message.count > 1)
      loadedType =
          VectorType::get({message.count, message.rows, message.columns}, tile.getElementType());
    int64_t gridColumns = tile.getDimSize(1) / block.columns;
    SmallVector<Value> blocks(tile.getDimSize(0) / block.rows * gridColumns);
    for (const MessagePlace &place : getPlaces(rewriter, loc, tile, adaptor.getTile(), message)) {
      Value loaded = xegpu::LoadNdOp::create(
          rewriter, loc, loadedType, descriptor, place.offsets, /*packed=*/UnitAttr(),
          /*transpose=*/DenseI64ArrayAttr(), hints.l1, hints.l1, hints.l3,
          /*layout=*/xegpu::DistributeLayoutAttr());
      for (int64_t part = 0; part < message.count; ++part) {
        Value stack = loaded;
        if (message.count > 1)
          stack = vector::ExtractOp::create(rewriter, loc, loaded, part);
        for (int64_t i = 0; i < message.rows; i += block.rows) {
          Value slice = stack;
          if (message.rows != block.rows)
            slice = vector::ExtractStridedSliceOp::create(
                rewriter, loc, stack, ArrayRef<int64_t>{i, 0},
                ArrayRef<int64_t>{block.rows, block.columns}, ArrayRef<int64_t>{1, 1});
          int64_t gridRow = (place.row + i) / block.rows;
          blocks[gridRow * gridColumns + place.column / block.columns + part] = slice;
        }
      }
    }
    rewriter.replaceOpWithMultiple(op, {blocks});
    return success();
  }
};

struct ConvertStoreTile : XeTilePattern<StoreTileOp> {
  using XeTilePattern::XeTilePattern;
  LogicalResult matchAndRewrite(StoreTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileType tile = op.getTile().getType();
    BlockShape block = *analysis.getBlock(op.getValue());
    BlockMessage message{block.rows, block.columns, 1};
    Value descriptor = createDescriptor(rewriter, loc, analysis.getBase(op.getTile()),
                                        tile.getElementType(), message);
    CacheHints hints = getCacheHints(op.getContext(), xegpu::CachePolicy::WRITE_BACK,
                                     xegpu::CachePolicy::WRITE_BACK);
    SmallVector<MessagePlace> places = getPlaces(rewriter, loc, tile, adaptor.getTile(), message);
    for (auto [place, value] : llvm::zip_equal(places, adaptor.getValue()))
      xegpu::StoreNdOp::create(rewriter, loc, value, descriptor, place.offsets, hints.l1, hints.l1,
                               hints.l3, /*layout=*/xegpu::DistributeLayoutAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertPrefetchTile : XeTilePattern<PrefetchTileOp> {
  using XeTilePattern::XeTilePattern;
  LogicalResult matchAndRewrite(PrefetchTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileType tile = op.getTile().getType();
    BlockMessage message = analysis.getMessage(op);
    Value descriptor = createDescriptor(rewriter, loc, analysis.getBase(op.getTile()),
                                        tile.getElementType(), message);
    CacheHints hints = getPrefetchHints(op.getContext(), op.getLocality());
    for (const MessagePlace &place : getPlaces(rewriter, loc, tile, adaptor.getTile(), message))
      xegpu::PrefetchNdOp::create(rewriter, loc, descriptor, place.offsets, hints.l1, hints.l1,
                                  hints.l3, /*layout=*/xegpu::DistributeLayoutAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

/// k outermost, then columns: consecutive dpas share b and have independent sums.
struct ConvertTileMma : XeTilePattern<TileMmaOp> {
  using XeTilePattern::XeTilePattern;
  LogicalResult matchAndRewrite(TileMmaOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto result = cast<VectorType>(op.getResult().getType());
    BlockShape block = *analysis.getBlock(op.getResult());
    int64_t rows = result.getDimSize(0) / block.rows,
            columns = result.getDimSize(1) / block.columns;
    int64_t depth =
        cast<VectorType>(op.getA().getType()).getDimSize(1) / analysis.getBlock(op.getA())->columns;
    auto blockType = VectorType::get({block.rows, block.columns}, result.getElementType());

    xegpu::DistributeLayoutAttr layout; // lanes are upstream's choice
    SmallVector<Value> sums;
    if (op.getC())
      sums = llvm::to_vector(adaptor.getC());
    else
      sums.assign(rows * columns,
                  arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(blockType)));
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i) {
          Value &sum = sums[i * columns + j];
          sum = xegpu::DpasOp::create(rewriter, loc, blockType, adaptor.getA()[i * depth + k],
                                      adaptor.getB()[k * columns + j], sum, layout, layout, layout);
        }
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

struct ConvertXeTileToXeGPU : xetile::impl::ConvertXeTileToXeGPUBase<ConvertXeTileToXeGPU> {
  using ConvertXeTileToXeGPUBase::ConvertXeTileToXeGPUBase;

  void runOnOperation() override {
    XeTileToXeGPUAnalysis analysis;
    if (failed(analysis.run(getOperation(), chip)))
      return signalPassFailure();

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([&](Value value,
                                SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
      if (analysis.isTile(value)) {
        types.append(2, IndexType::get(value.getContext()));
        return success();
      }
      const BlockShape *block = analysis.getBlock(value);
      if (!block)
        return std::nullopt;
      auto vector = cast<VectorType>(value.getType());
      int64_t number = vector.getNumElements() / (block->rows * block->columns);
      types.append(number, VectorType::get({block->rows, block->columns}, vector.getElementType()));
      return success();
    });

    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ConvertInitTile, ConvertUpdateTileOffset>(converter, context);
    patterns.add<ConvertLoadTile, ConvertStoreTile, ConvertPrefetchTile, ConvertTileMma>(
        converter, context, analysis);
    populatePiecewisePatterns(converter, patterns, isElementwiseOnVectors);
    scf::populateSCFStructuralTypeConversions(converter, patterns);
    ConversionTarget target(*context);
    target.addIllegalDialect<XeTileDialect>();
    // A vector of one block keeps its type, and its block arguments stay as they are.
    auto isKept = [&](Value value) {
      if (analysis.isTile(value))
        return false;
      const BlockShape *block = analysis.getBlock(value);
      return !block || cast<VectorType>(value.getType()).getShape() ==
                           ArrayRef<int64_t>{block->rows, block->columns};
    };
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return llvm::all_of(op->getOperands(), isKept) && llvm::all_of(op->getResults(), isKept);
    });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
