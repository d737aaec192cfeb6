//===- XeTileToXeGPU.cpp - subgroup-level XeTile to XeGPU of the hardware's sizes --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile without wg_map; scf.for, scf.if, elementwise operations and constants on its vectors.
// Out: xegpu.load_nd/store_nd/prefetch_nd with offsets, dpas of one hardware operation each.
// Refused: everything that XeTileToXeGPUAnalysis names; nothing is changed then.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/XeTileToXeGPUAnalysis.h"
#include "xetile/Transforms/Piecewise.h"
#include "xetile/Transforms/TiedValues.h"

namespace xetile {
#define GEN_PASS_DEF_CONVERTXETILETOXEGPU
#include "xetile/Target/Xe/Passes.h.inc"
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

/// A descriptor of the tile's whole matrix for messages of one shape.
Value createDescriptor(OpBuilder &builder, Location loc, const TileBase &base, Type element,
                       const BlockShape &shape) {
  auto type = xegpu::TensorDescType::get({shape.height, shape.width}, element,
                                         /*array_length=*/int(shape.blocks),
                                         /*boundary_check=*/true, xegpu::MemorySpace::Global);
  auto memref = dyn_cast<TypedValue<MemRefType>>(base.source);
  if (memref && memref.getType().hasStaticShape())
    return xegpu::CreateNdDescOp::create(builder, loc, type, memref);
  return xegpu::CreateNdDescOp::create(builder, loc, type, base.source, base.shape, base.strides);
}

/// The part of a tile that is loaded, all of it by default.
struct TilePart {
  int64_t row, column, rows, columns;
  explicit TilePart(TileType tile)
      : row(0), column(0), rows(tile.getDimSize(0)), columns(tile.getDimSize(1)) {}
};

/// Where in the matrix the messages of a part of a tile at `tileOffsets` start.
SmallVector<SmallVector<OpFoldResult, 2>> getPlaces(OpBuilder &builder, Location loc,
                                                    const TilePart &part, ValueRange tileOffsets,
                                                    const TileMessages &plan) {
  auto offset = [&](unsigned dim, int64_t delta) {
    return getAsOpFoldResult(builder.createOrFold<arith::AddIOp>(
        loc, tileOffsets[dim], arith::ConstantIndexOp::create(builder, loc, delta)));
  };
  SmallVector<SmallVector<OpFoldResult, 2>> places;
  for (const BlockMessage &message : plan.messages)
    places.push_back({offset(0, part.row + message.row), offset(1, part.column + message.col)});
  return places;
}

/// Rows `row` to `row + rows` of a vector.
Value sliceRows(OpBuilder &builder, Location loc, Value vector, int64_t row, int64_t rows) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getDimSize(0) == rows)
    return vector;
  return vector::ExtractStridedSliceOp::create(builder, loc, vector, ArrayRef<int64_t>{row, 0},
                                               ArrayRef<int64_t>{rows, type.getDimSize(1)},
                                               ArrayRef<int64_t>{1, 1});
}

/// Loads a part of a tile: its blocks, row by row.
SmallVector<Value> loadBlocks(OpBuilder &builder, Location loc, Type element, const TileBase &base,
                              const TilePart &part, ValueRange tileOffsets,
                              const VectorBlock &block, const TileMessages &plan) {
  int64_t rows = plan.shape.height, columns = plan.shape.width, count = plan.shape.blocks;
  Value descriptor = createDescriptor(builder, loc, base, element, plan.shape);
  CacheHints hints =
      getCacheHints(builder.getContext(), xegpu::CachePolicy::CACHED, xegpu::CachePolicy::CACHED);
  SmallVector<int64_t> loadedShape{rows, columns};
  if (count > 1)
    loadedShape.insert(loadedShape.begin(), count);
  auto loadedType = VectorType::get(loadedShape, element);
  int64_t gridColumns = part.columns / block.columns;
  SmallVector<Value> blocks(part.rows / block.rows * gridColumns);
  auto places = getPlaces(builder, loc, part, tileOffsets, plan);
  for (const auto &[message, place] : llvm::zip_equal(plan.messages, places)) {
    Value loaded =
        xegpu::LoadNdOp::create(builder, loc, loadedType, descriptor, place, /*packed=*/UnitAttr(),
                                /*transpose=*/DenseI64ArrayAttr(), hints.l1, hints.l1, hints.l3,
                                /*layout=*/xegpu::DistributeLayoutAttr());
    int64_t gridColumn = message.col / block.columns;
    for (int64_t number = 0; number < count; ++number) {
      Value stack = loaded;
      if (count > 1)
        stack = vector::ExtractOp::create(builder, loc, loaded, number);
      for (int64_t row = 0; row < rows; row += block.rows) {
        int64_t gridRow = (message.row + row) / block.rows;
        blocks[gridRow * gridColumns + gridColumn + number] =
            sliceRows(builder, loc, stack, row, block.rows);
      }
    }
  }
  return blocks;
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
    SmallVector<Value> values(adaptor.getTile());
    // A sliced load hands its tile on to the tile_mma.
    if (!analysis.getSlicedLoad(op.getValue())) {
      TileType tile = op.getTile().getType();
      values = loadBlocks(rewriter, op.getLoc(), tile.getElementType(),
                          analysis.getBase(op.getTile()), TilePart(tile), adaptor.getTile(),
                          *analysis.getBlock(op.getValue()), analysis.getMessages(op));
    }
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct ConvertStoreTile : XeTilePattern<StoreTileOp> {
  using XeTilePattern::XeTilePattern;
  LogicalResult matchAndRewrite(StoreTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TileType tile = op.getTile().getType();
    VectorBlock block = *analysis.getBlock(op.getValue());
    const TileMessages &plan = analysis.getMessages(op);
    Value descriptor = createDescriptor(rewriter, loc, analysis.getBase(op.getTile()),
                                        tile.getElementType(), plan.shape);
    CacheHints hints = getCacheHints(op.getContext(), xegpu::CachePolicy::WRITE_BACK,
                                     xegpu::CachePolicy::WRITE_BACK);
    int64_t gridColumns = tile.getDimSize(1) / block.columns;
    auto places = getPlaces(rewriter, loc, TilePart(tile), adaptor.getTile(), plan);
    for (const auto &[message, place] : llvm::zip_equal(plan.messages, places)) {
      int64_t row = message.row, column = message.col;
      Value stored = adaptor.getValue()[row / block.rows * gridColumns + column / block.columns];
      stored = sliceRows(rewriter, loc, stored, row % block.rows, plan.shape.height);
      xegpu::StoreNdOp::create(rewriter, loc, stored, descriptor, place, hints.l1, hints.l1,
                               hints.l3, /*layout=*/xegpu::DistributeLayoutAttr());
    }
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
    const TileMessages &plan = analysis.getMessages(op);
    Value descriptor = createDescriptor(rewriter, loc, analysis.getBase(op.getTile()),
                                        tile.getElementType(), plan.shape);
    CacheHints hints = getPrefetchHints(op.getContext(), op.getLocality());
    for (const auto &place : getPlaces(rewriter, loc, TilePart(tile), adaptor.getTile(), plan))
      xegpu::PrefetchNdOp::create(rewriter, loc, descriptor, place, hints.l1, hints.l1, hints.l3,
                                  /*layout=*/xegpu::DistributeLayoutAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

/// An operand of tile_mma whose k is dimension `kDim`: blocks that are all there, or loads of a
/// slice.
class MmaOperand {
public:
  MmaOperand(const XeTileToXeGPUAnalysis &analysis, Value vector, ValueRange values, unsigned kDim)
      : analysis(analysis), vector(vector), values(values), kDim(kDim),
        sliced(analysis.getSlicedLoad(vector)), block(*analysis.getBlock(vector)) {}

  /// Starts with the slice of `size` at `k`.
  void advance(OpBuilder &builder, int64_t k, int64_t size) {
    if (!sliced)
      return;
    auto tile = cast<TileType>(sliced->tile.getType());
    TilePart part(tile);
    (kDim == 0 ? part.row : part.column) = k;
    (kDim == 0 ? part.rows : part.columns) = size;
    loaded = loadBlocks(builder, sliced->loc, tile.getElementType(), analysis.getBase(sliced->tile),
                        part, values, block, *sliced->messages);
    first = k;
    columns = part.columns;
  }

  /// The block at `outer` (m or n) and `k`, both in elements.
  Value getBlock(int64_t outer, int64_t k) const {
    int64_t row = kDim == 0 ? k : outer, column = kDim == 0 ? outer : k;
    if (!sliced) {
      int64_t gridColumns = cast<VectorType>(vector.getType()).getDimSize(1) / block.columns;
      return values[row / block.rows * gridColumns + column / block.columns];
    }
    (kDim == 0 ? row : column) -= first;
    return loaded[row / block.rows * (columns / block.columns) + column / block.columns];
  }

private:
  const XeTileToXeGPUAnalysis &analysis;
  Value vector;
  ValueRange values;
  unsigned kDim;
  const SlicedLoad *sliced;
  VectorBlock block;
  SmallVector<Value> loaded;
  int64_t first = 0, columns = 0;
};

/// k outermost, then columns: consecutive dpas share b and have independent sums.
struct ConvertTileMma : XeTilePattern<TileMmaOp> {
  using XeTilePattern::XeTilePattern;
  LogicalResult matchAndRewrite(TileMmaOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto result = cast<VectorType>(op.getResult().getType());
    VectorBlock block = *analysis.getBlock(op.getResult());
    int64_t m = result.getDimSize(0), n = result.getDimSize(1);
    int64_t k = cast<VectorType>(op.getA().getType()).getDimSize(1);
    int64_t step = analysis.getBlock(op.getA())->columns, slice = analysis.getKSlice(op);
    auto blockType = VectorType::get({block.rows, block.columns}, result.getElementType());

    xegpu::DistributeLayoutAttr layout; // lanes are upstream's choice
    SmallVector<Value> sums;
    if (op.getC())
      sums = llvm::to_vector(adaptor.getC());
    else
      sums.assign(m / block.rows * (n / block.columns),
                  arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(blockType)));
    MmaOperand a(analysis, op.getA(), adaptor.getA(), /*kDim=*/1);
    MmaOperand b(analysis, op.getB(), adaptor.getB(), /*kDim=*/0);
    for (int64_t at = 0; at < k; at += step) {
      if (at % slice == 0) {
        a.advance(rewriter, at, slice);
        b.advance(rewriter, at, slice);
      }
      for (int64_t column = 0; column < n; column += block.columns)
        for (int64_t row = 0; row < m; row += block.rows) {
          Value &sum = sums[row / block.rows * (n / block.columns) + column / block.columns];
          sum = xegpu::DpasOp::create(rewriter, loc, blockType, a.getBlock(row, at),
                                      b.getBlock(column, at), sum, layout, layout, layout);
        }
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
      if (analysis.isTile(value) || analysis.getSlicedLoad(value)) {
        types.append(2, IndexType::get(value.getContext()));
        return success();
      }
      const VectorBlock *block = analysis.getBlock(value);
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
      if (analysis.isTile(value) || analysis.getSlicedLoad(value))
        return false;
      const VectorBlock *block = analysis.getBlock(value);
      return !block || cast<VectorType>(value.getType()).getShape() ==
                           ArrayRef<int64_t>{block->rows, block->columns};
    };
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return llvm::all_of(op->getOperands(), isKept) && llvm::all_of(op->getResults(), isKept);
    });
    // What folds would be a new value that nobody has analysed.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
