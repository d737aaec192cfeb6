//===- XeTileToXeGPUVectors.cpp - vectors of blocks as a vector for each block ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile's operations on vectors. Out: xegpu.dpas and vector operations on single blocks.
// Refused: nothing; the pass has checked.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/IR/NeutralValue.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/Xe/ToXeGPU/XeTileToXeGPUPatterns.h"

using namespace mlir;
using namespace xetile;

namespace {

/// A matrix as equal blocks, row by row.
struct Grid {
  int64_t rows, columns; // of a block
  int64_t gridRows, gridColumns;

  int64_t size() const { return gridRows * gridColumns; }
  bool isOneBlock() const { return size() == 1; }
};

Grid getGrid(VectorType blocked) {
  ArrayRef<int64_t> shape = blocked.getShape();
  return {shape[2], shape[3], shape[0], shape[1]};
}

Grid getGrid(VectorType matrix, int64_t rows, int64_t columns) {
  return {rows, columns, matrix.getDimSize(0) / rows, matrix.getDimSize(1) / columns};
}

int64_t getNumber(ArrayAttr numbers, unsigned index) {
  return cast<IntegerAttr>(numbers[index]).getInt();
}

/// The blocks that a 2D value consists of; nothing where it is whole.
std::optional<Grid> getPieces(Value value) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<VectorType>(value.getType());
  if (!op || !type || type.getRank() != 2)
    return std::nullopt;
  if (auto unpack = dyn_cast<TileUnpackOp>(op))
    return getGrid(unpack.getVector().getType());
  if (auto transpose = dyn_cast<TileTransposeOp>(op)) {
    std::optional<Grid> grid = getPieces(transpose.getVector());
    if (grid && transpose.getPermutation()[0] == 1)
      return Grid{grid->columns, grid->rows, grid->gridColumns, grid->gridRows};
    return grid;
  }
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    std::optional<Grid> grid = getPieces(slice.getSource());
    if (!grid || slice.getOffsets().size() != 2)
      return std::nullopt;
    int64_t sides[2] = {grid->rows, grid->columns};
    for (unsigned dim : {0, 1})
      if (getNumber(slice.getOffsets(), dim) % sides[dim] || type.getDimSize(dim) % sides[dim])
        return std::nullopt;
    return getGrid(type, grid->rows, grid->columns);
  }
  return std::nullopt;
}

Value extractSlice(OpBuilder &builder, Location loc, Value vector, int64_t row, int64_t column,
                   int64_t rows, int64_t columns) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getShape() == ArrayRef<int64_t>{rows, columns})
    return vector;
  return vector::ExtractStridedSliceOp::create(builder, loc, vector, ArrayRef<int64_t>{row, column},
                                               ArrayRef<int64_t>{rows, columns},
                                               ArrayRef<int64_t>{1, 1});
}

Value createZero(OpBuilder &builder, Location loc, VectorType type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

/// One block of a matrix from the blocks of another grid: a slice of one, or put together.
Value takeBlock(OpBuilder &builder, Location loc, ValueRange blocks, const Grid &from, int64_t row,
                int64_t column, int64_t rows, int64_t columns) {
  int64_t firstRow = row / from.rows, lastRow = (row + rows - 1) / from.rows;
  int64_t firstColumn = column / from.columns, lastColumn = (column + columns - 1) / from.columns;
  if (firstRow == lastRow && firstColumn == lastColumn)
    return extractSlice(builder, loc, blocks[firstRow * from.gridColumns + firstColumn],
                        row % from.rows, column % from.columns, rows, columns);
  Type element = cast<VectorType>(blocks.front().getType()).getElementType();
  Value result = createZero(builder, loc, VectorType::get({rows, columns}, element));
  for (int64_t gridRow = firstRow; gridRow <= lastRow; ++gridRow)
    for (int64_t gridColumn = firstColumn; gridColumn <= lastColumn; ++gridColumn) {
      // The part that both have, in the matrix.
      int64_t top = std::max(row, gridRow * from.rows);
      int64_t bottom = std::min(row + rows, (gridRow + 1) * from.rows);
      int64_t left = std::max(column, gridColumn * from.columns);
      int64_t right = std::min(column + columns, (gridColumn + 1) * from.columns);
      Value part = extractSlice(builder, loc, blocks[gridRow * from.gridColumns + gridColumn],
                                top % from.rows, left % from.columns, bottom - top, right - left);
      result = vector::InsertStridedSliceOp::create(builder, loc, part, result,
                                                    ArrayRef<int64_t>{top - row, left - column},
                                                    ArrayRef<int64_t>{1, 1});
    }
  return result;
}

SmallVector<Value> regrid(OpBuilder &builder, Location loc, ValueRange blocks, const Grid &from,
                          const Grid &to) {
  SmallVector<Value> result;
  for (int64_t row = 0; row < to.gridRows; ++row)
    for (int64_t column = 0; column < to.gridColumns; ++column)
      result.push_back(takeBlock(builder, loc, blocks, from, row * to.rows, column * to.columns,
                                 to.rows, to.columns));
  return result;
}

/// The grid of a type that the conversion keeps whole: a single block.
Grid getWholeGrid(VectorType type) { return {type.getDimSize(0), type.getDimSize(1), 1, 1}; }

struct ConvertTilePack : OpConversionPattern<TilePackOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TilePackOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Grid from = getPieces(op.getVector()).value_or(getWholeGrid(op.getVector().getType()));
    SmallVector<Value> blocks =
        regrid(rewriter, op.getLoc(), adaptor.getVector(), from, getGrid(op.getType()));
    rewriter.replaceOpWithMultiple(op, {blocks});
    return success();
  }
};

struct ConvertTileUnpack : OpConversionPattern<TileUnpackOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileUnpackOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(adaptor.getVector())});
    return success();
  }
};

struct ConvertTileTranspose : OpConversionPattern<TileTransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileTransposeOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ValueRange blocks = adaptor.getVector();
    SmallVector<Value> result(blocks);
    Grid grid = getPieces(op.getVector()).value_or(getWholeGrid(op.getVector().getType()));
    if (op.getPermutation()[0] == 1)
      for (int64_t row = 0; row < grid.gridRows; ++row)
        for (int64_t column = 0; column < grid.gridColumns; ++column)
          result[column * grid.gridRows + row] = vector::TransposeOp::create(
              rewriter, op.getLoc(), blocks[row * grid.gridColumns + column],
              ArrayRef<int64_t>{1, 0});
    rewriter.replaceOpWithMultiple(op, {result});
    return success();
  }
};

/// Whole blocks of a matrix.
struct ConvertSlice : OpConversionPattern<vector::ExtractStridedSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(vector::ExtractStridedSliceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<Grid> from = getPieces(op.getSource()), to = getPieces(op.getResult());
    if (!from || !to)
      return rewriter.notifyMatchFailure(op, "is no slice along blocks");
    int64_t firstRow = getNumber(op.getOffsets(), 0) / from->rows;
    int64_t firstColumn = getNumber(op.getOffsets(), 1) / from->columns;
    SmallVector<Value> blocks;
    for (int64_t row = 0; row < to->gridRows; ++row)
      for (int64_t column = 0; column < to->gridColumns; ++column)
        blocks.push_back(
            adaptor.getSource()[(firstRow + row) * from->gridColumns + firstColumn + column]);
    rewriter.replaceOpWithMultiple(op, {blocks});
    return success();
  }
};

/// k outermost, then columns: consecutive dpas share b and have independent sums.
struct ConvertTileMma : OpConversionPattern<TileMmaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileMmaOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Grid grid = getGrid(op.getResult().getType());
    int64_t steps = cast<VectorType>(op.getA().getType()).getDimSize(1);
    auto blockType =
        VectorType::get({grid.rows, grid.columns}, op.getResult().getType().getElementType());
    SmallVector<Value> sums;
    if (op.getC())
      sums = llvm::to_vector(adaptor.getC());
    else
      sums.assign(grid.size(), createZero(rewriter, loc, blockType));
    xegpu::DistributeLayoutAttr layout; // lanes are a later pass's choice
    // A dpas reads the sign of bytes in the type of both operands. One with signs of two kinds
    // takes si8, which is refused without the attribute.
    bool isMixed = op.getUnsignedA() != op.getUnsignedB();
    auto withSign = [&](ValueRange blocks) {
      SmallVector<Value> typed(blocks);
      for (Value &block : typed)
        if (auto type = cast<VectorType>(block.getType()); op.getUnsignedA() || op.getUnsignedB())
          block = vector::BitCastOp::create(
              rewriter, loc, type.clone(rewriter.getIntegerType(8, /*isSigned=*/isMixed)), block);
      return typed;
    };
    SmallVector<Value> a = withSign(adaptor.getA()), b = withSign(adaptor.getB());
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t column = 0; column < grid.gridColumns; ++column)
        for (int64_t row = 0; row < grid.gridRows; ++row) {
          Value &sum = sums[row * grid.gridColumns + column];
          auto dpas = xegpu::DpasOp::create(rewriter, loc, blockType, a[row * steps + step],
                                            b[step * grid.gridColumns + column], sum, layout,
                                            layout, layout);
          if (isMixed)
            dpas->setDiscardableAttr(kUnsignedOperandAttr,
                                     rewriter.getStringAttr(op.getUnsignedA() ? "a" : "b"));
          sum = dpas;
        }
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

/// Adds up blocks first, then within a block. Narrow floats are computed in f32.
struct ConvertTileReduce : OpConversionPattern<TileReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileReduceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getVector().getType(), resultType = op.getResult().getType();
    bool isBlocked = type.getRank() == 4;
    Grid grid = isBlocked ? getGrid(type) : getWholeGrid(type);
    bool reduces[4] = {};
    for (int64_t dim : op.getReductionDims())
      reduces[isBlocked ? dim : dim + 2] = true;
    Type element = type.getElementType();
    bool isNarrow = element.isF16() || element.isBF16();
    Type wide = isNarrow ? Type(rewriter.getF32Type()) : element;
    auto widen = [&](Value value) -> Value {
      auto shaped = cast<VectorType>(value.getType());
      return isNarrow ? arith::ExtFOp::create(rewriter, loc,
                                              VectorType::get(shaped.getShape(), wide), value)
                      : value;
    };
    int64_t rows = reduces[0] ? 1 : grid.gridRows, columns = reduces[1] ? 1 : grid.gridColumns;
    SmallVector<Value> results(rows * columns);
    SmallVector<Value> blocks = getBlocks(rewriter, loc, op.getVector(), adaptor.getVector());
    for (int64_t row = 0; row < grid.gridRows; ++row)
      for (int64_t column = 0; column < grid.gridColumns; ++column) {
        Value block = widen(blocks[row * grid.gridColumns + column]);
        Value &sum = results[(reduces[0] ? 0 : row) * columns + (reduces[1] ? 0 : column)];
        sum = sum ? vector::makeArithReduction(rewriter, loc, op.getKind(), block, sum) : block;
      }
    auto blockType =
        VectorType::get({reduces[2] ? 1 : grid.rows, reduces[3] ? 1 : grid.columns}, wide);
    for (Value &result : results) {
      if (reduces[2] || reduces[3])
        result =
            reduceBlock(rewriter, loc, op.getKind(), result, {reduces[2], reduces[3]}, blockType);
      if (isNarrow)
        result = arith::TruncFOp::create(rewriter, loc,
                                         VectorType::get(blockType.getShape(), element), result);
    }
    assert(isBlocked || results.front().getType() == resultType);
    (void)resultType;
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

  static Value reduceBlock(OpBuilder &builder, Location loc, vector::CombiningKind kind,
                           Value block, ArrayRef<bool> reduced, VectorType resultType) {
    SmallVector<int64_t> kept;
    auto type = cast<VectorType>(block.getType());
    for (auto [size, isReduced] : llvm::zip_equal(type.getShape(), reduced))
      if (!isReduced)
        kept.push_back(size);
    TypedAttr neutral = getNeutralValue(kind, type.getElementType());
    if (!kept.empty())
      neutral =
          DenseElementsAttr::get(VectorType::get(kept, type.getElementType()), Attribute(neutral));
    Value start = arith::ConstantOp::create(builder, loc, neutral);
    Value result = vector::MultiDimReductionOp::create(builder, loc, block, start, reduced, kind);
    if (kept.empty())
      return vector::BroadcastOp::create(builder, loc, resultType, result);
    return vector::ShapeCastOp::create(builder, loc, resultType, result);
  }
};

struct ConvertTileBroadcast : OpConversionPattern<TileBroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileBroadcastOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    VectorType type = op.getResult().getType(), source = op.getVector().getType();
    bool isBlocked = type.getRank() == 4;
    Grid to = isBlocked ? getGrid(type) : getWholeGrid(type);
    Grid from = isBlocked ? getGrid(source) : getWholeGrid(source);
    auto blockType = VectorType::get({to.rows, to.columns}, type.getElementType());
    SmallVector<Value> repeated =
        getBlocks(rewriter, op.getLoc(), op.getVector(), adaptor.getVector());
    for (Value &block : repeated)
      if (block.getType() != blockType)
        block = vector::BroadcastOp::create(rewriter, op.getLoc(), blockType, block);
    SmallVector<Value> results;
    for (int64_t row = 0; row < to.gridRows; ++row)
      for (int64_t column = 0; column < to.gridColumns; ++column)
        results.push_back(repeated[(from.gridRows == 1 ? 0 : row) * from.gridColumns +
                                   (from.gridColumns == 1 ? 0 : column)]);
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct RepeatScalar : OpConversionPattern<vector::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(vector::BroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Grid grid = getGrid(cast<VectorType>(op.getType()));
    auto type = VectorType::get({grid.rows, grid.columns}, op.getSourceType());
    Value block = vector::BroadcastOp::create(rewriter, op.getLoc(), type, adaptor.getSource());
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(grid.size(), block)});
    return success();
  }
};

/// Constants of blocks that differ; equal elements are another rewrite's.
struct CutDenseConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!elements || elements.isSplat())
      return rewriter.notifyMatchFailure(op, "has equal elements");
    Grid grid = getGrid(cast<VectorType>(op.getType()));
    auto type = VectorType::get({grid.rows, grid.columns}, elements.getElementType());
    auto values = llvm::to_vector(elements.getValues<Attribute>());
    SmallVector<Value> blocks;
    for (int64_t start = 0; start < int64_t(values.size()); start += type.getNumElements())
      blocks.push_back(arith::ConstantOp::create(
          rewriter, op.getLoc(),
          DenseElementsAttr::get(type, ArrayRef(values).slice(start, type.getNumElements()))));
    rewriter.replaceOpWithMultiple(op, {blocks});
    return success();
  }
};
} // namespace

SmallVector<Value> xetile::getBlocks(OpBuilder &builder, Location loc, Value operand,
                                     ValueRange parts) {
  auto type = cast<VectorType>(operand.getType());
  if (type.getRank() == 4)
    return SmallVector<Value>(parts);
  Grid whole = getWholeGrid(type);
  return regrid(builder, loc, parts, getPieces(operand).value_or(whole), whole);
}

bool xetile::isInBlocks(Value value) { return getPieces(value).has_value(); }

void xetile::addBlockConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](VectorType type,
                             SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
    if (type.getRank() != 4)
      return std::nullopt;
    Grid grid = getGrid(type);
    types.append(grid.size(), VectorType::get({grid.rows, grid.columns}, type.getElementType()));
    return success();
  });
  converter.addConversion(
      [](Value value, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
        std::optional<Grid> grid = getPieces(value);
        if (!grid)
          return std::nullopt;
        Type element = cast<VectorType>(value.getType()).getElementType();
        types.append(grid->size(), VectorType::get({grid->rows, grid->columns}, element));
        return success();
      });
  converter.addSourceMaterialization(
      [](OpBuilder &builder, VectorType type, ValueRange inputs, Location loc) -> Value {
        auto piece = dyn_cast<VectorType>(inputs.front().getType());
        if (type.getRank() != 2 || !piece || piece.getRank() != 2)
          return {};
        Grid from = getGrid(type, piece.getDimSize(0), piece.getDimSize(1));
        return regrid(builder, loc, inputs, from, getWholeGrid(type)).front();
      });
}

void xetile::populateBlockPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns
      .add<ConvertTilePack, ConvertTileUnpack, ConvertTileTranspose, ConvertSlice, ConvertTileMma,
           ConvertTileReduce, ConvertTileBroadcast, RepeatScalar, CutDenseConstant>(
          converter, patterns.getContext());
}
