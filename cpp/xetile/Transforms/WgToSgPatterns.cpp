//===- WgToSgPatterns.cpp - operations on one subgroup's pieces ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "xetile/IR/UnsignedOperands.h"
#include "xetile/Transforms/Piecewise.h"
#include "xetile/Transforms/TiedValues.h"
#include "xetile/Transforms/WgToSgPlan.h"

using namespace mlir;
using namespace xetile;

namespace {

/// A rewrite that follows the plan.
template <typename OpTy> struct Distribute : OpConversionPattern<OpTy> {
  using Adaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;
  Distribute(const TypeConverter &converter, MLIRContext *context, WgToSgPlan &plan)
      : OpConversionPattern<OpTy>(converter, context, /*benefit=*/2), plan(plan) {}

  ExchangeBuilder getExchange(ConversionPatternRewriter &rewriter, Location loc) const {
    return {rewriter, loc, plan.place, plan.scratch};
  }

  /// Calls `create` with the offsets of each of the subgroup's pieces of `value`.
  void replaceByPieces(OpTy op, ConversionPatternRewriter &rewriter,
                       function_ref<Value(Type type, ArrayRef<Value> offsets)> create) const {
    Value value = op->getResult(0);
    WgMapAttr map = plan.maps.lookup(value);
    auto type = cast<ShapedType>(value.getType());
    Distribution distribution = getDistribution(map, type);
    ExchangeBuilder exchange = getExchange(rewriter, op->getLoc());
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < distribution.rows.piecesPerSubgroup; ++i)
      for (int64_t j = 0; j < distribution.columns.piecesPerSubgroup; ++j) {
        SmallVector<Value> offsets;
        for (auto [dim, round] : {std::pair(0, i), std::pair(1, j)}) {
          const DimDistribution &along = distribution.along(dim);
          offsets.push_back(getValueOrCreateConstantIndexOp(
              rewriter, op->getLoc(),
              exchange.getOffset(map, dim, along.numOwners(), along.pieceSize,
                                 round * along.roundStride())));
        }
        pieces.push_back(create(getPieceType(map, type), offsets));
      }
    rewriter.replaceOpWithMultiple(op, {pieces});
  }

  WgToSgPlan &plan;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct DistributeInitTile : Distribute<InitTileOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(InitTileOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (op.getIndices()) {
      Type type = getPieceType(plan.maps.lookup(op.getTile()), op.getTile().getType());
      SmallVector<Value> pieces;
      for (Value indices : adaptor.getIndices())
        pieces.push_back(InitTileOp::create(rewriter, loc, type, op.getSource(), indices));
      rewriter.replaceOpWithMultiple(op, {pieces});
      return success();
    }
    SmallVector<OpFoldResult> base = op.getMixedOffsets();
    replaceByPieces(op, rewriter, [&](Type type, ArrayRef<Value> offsets) -> Value {
      SmallVector<Value> sums;
      for (auto [start, offset] : llvm::zip_equal(base, offsets))
        sums.push_back(rewriter.createOrFold<arith::AddIOp>(
            loc, getValueOrCreateConstantIndexOp(rewriter, loc, start), offset));
      return InitTileOp::create(
          rewriter, loc, type, op.getSource(), sums, op.getBaseShape(), op.getBaseStrides(),
          /*indices=*/Value(),
          rewriter.getDenseI64ArrayAttr({ShapedType::kDynamic, ShapedType::kDynamic}),
          op.getStaticBaseShapeAttr(), op.getStaticBaseStridesAttr());
    });
    return success();
  }
};

/// Where several subgroups own a piece the first of them updates it, and tells the others what was
/// there before if somebody asks.
struct DistributeAtomic : Distribute<AtomicRMWTileOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(AtomicRMWTileOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!plan.guarded.contains(op))
      return rewriter.notifyMatchFailure(op, "each piece has one owner");
    Location loc = op.getLoc();
    TileType tile = op.getTile().getType();
    WgMapAttr map = plan.maps.lookup(op.getTile());
    ExchangeBuilder exchange = getExchange(rewriter, loc);
    Value buffer;
    if (!op->use_empty())
      buffer = plan.scratch.create(rewriter, loc, tile.getShape(),
                                   getStorageType(tile.getElementType()));
    Value isFirst = plan.place.getIsFirstOwner(rewriter, map, tile.getShape());
    auto guard = scf::IfOp::create(rewriter, loc, isFirst, /*withElseRegion=*/false);
    plan.scratch.addGuard(guard);
    {
      OpBuilder::InsertionGuard insertion(rewriter);
      rewriter.setInsertionPointToStart(guard.thenBlock());
      SmallVector<Value> before;
      for (auto [value, piece] : llvm::zip_equal(adaptor.getValue(), adaptor.getTile()))
        before.push_back(
            AtomicRMWTileOp::create(rewriter, loc, value.getType(), op.getKind(), value, piece));
      if (buffer)
        exchange.store(buffer, map, before);
    }
    if (!buffer) {
      rewriter.eraseOp(op);
      return success();
    }
    SmallVector<Value> pieces = exchange.load(buffer, map, tile.getElementType());
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// Piece (i, j) of the result is the product of piece i of a and piece j of b: the maps of the
/// operands keep k whole.
struct DistributeTileMma : Distribute<TileMmaOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(TileMmaOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getResult(), types)))
      return rewriter.notifyMatchFailure(op, "no type for the pieces of the result");
    size_t rows = adaptor.getA().size(), columns = adaptor.getB().size();
    if (types.size() != rows * columns)
      return rewriter.notifyMatchFailure(op, "operands and result are not distributed alike");
    SmallVector<Value> pieces;
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j) {
        size_t piece = i * columns + j;
        Value c = op.getC() ? adaptor.getC()[piece] : Value();
        auto product = TileMmaOp::create(rewriter, op.getLoc(), types[piece], adaptor.getA()[i],
                                         adaptor.getB()[j], c, WgMapAttr());
        copyUnsigned(op, product);
        pieces.push_back(product);
      }
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

/// tile_conv_layout and tile_transpose.
template <typename OpTy> struct DistributeMove : Distribute<OpTy> {
  using Distribute<OpTy>::Distribute;
  LogicalResult matchAndRewrite(OpTy op, typename Distribute<OpTy>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> pieces =
        this->getExchange(rewriter, op.getLoc()).move(this->plan.moves.at(op), adaptor.getVector());
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

/// A vector of other elements, as f32 or back.
Value convertFloat(OpBuilder &builder, Location loc, Value vector, Type element) {
  auto type = cast<VectorType>(vector.getType());
  auto result = VectorType::get(type.getShape(), element);
  if (result == type)
    return vector;
  if (element.getIntOrFloatBitWidth() > type.getElementTypeBitWidth())
    return arith::ExtFOp::create(builder, loc, result, vector);
  return arith::TruncFOp::create(builder, loc, result, vector);
}

struct DistributeTileReduce : Distribute<TileReduceOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(TileReduceOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getVector().getType();
    Distribution distribution = getDistribution(plan.maps.lookup(op.getVector()), type);
    Type wide = getReductionType(op, distribution);
    SmallVector<bool> isReduced(2, false);
    for (int64_t dim : op.getReductionDims())
      isReduced[dim] = true;

    // Pieces that differ in the reduced dimensions alone become one.
    int64_t rows = distribution.rows.piecesPerSubgroup,
            columns = distribution.columns.piecesPerSubgroup;
    SmallVector<Value> sums((isReduced[0] ? 1 : rows) * (isReduced[1] ? 1 : columns));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        Value piece = convertFloat(rewriter, loc, adaptor.getVector()[i * columns + j], wide);
        Value &sum =
            sums[(isReduced[0] ? 0 : i) * (isReduced[1] ? 1 : columns) + (isReduced[1] ? 0 : j)];
        sum = sum ? vector::makeArithReduction(rewriter, loc, op.getKind(), piece, sum) : piece;
      }
    SmallVector<Value> pieces;
    for (Value sum : sums)
      pieces.push_back(reduce(rewriter, op, sum));

    ExchangeBuilder exchange = getExchange(rewriter, loc);
    if (auto found = plan.reductions.find(op); found != plan.reductions.end()) {
      const CrossReduction &cross = found->second;
      Value buffer = plan.scratch.create(rewriter, loc, cross.shape, getStorageType(wide));
      exchange.store(buffer, cross.partial, pieces);
      pieces.clear();
      for (Value partial : exchange.load(buffer, cross.all, wide))
        pieces.push_back(
            convertFloat(rewriter, loc, reduce(rewriter, op, partial), type.getElementType()));
    } else {
      for (Value &piece : pieces)
        piece = convertFloat(rewriter, loc, piece, type.getElementType());
      pieces = exchange.move(plan.moves.at(op), pieces);
    }
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }

private:
  static Value reduce(OpBuilder &builder, TileReduceOp op, Value vector) {
    auto type = cast<VectorType>(vector.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t dim : op.getReductionDims())
      shape[dim] = 1;
    return TileReduceOp::create(builder, op.getLoc(), VectorType::get(shape, type.getElementType()),
                                op.getKind(), vector, op.getReductionDims(), WgMapAttr());
  }
};

/// The operand has one piece along the broadcast dimensions, else as many as the result.
struct DistributeTileBroadcast : Distribute<TileBroadcastOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(TileBroadcastOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    WgMapAttr map = plan.maps.lookup(op.getResult());
    Distribution distribution = getDistribution(map, op.getType());
    bool repeatsRows = llvm::is_contained(op.getBroadcastDims(), 0),
         repeatsColumns = llvm::is_contained(op.getBroadcastDims(), 1);
    int64_t columns = distribution.columns.piecesPerSubgroup;
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < distribution.rows.piecesPerSubgroup; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        int64_t piece =
            (repeatsRows ? 0 : i) * (repeatsColumns ? 1 : columns) + (repeatsColumns ? 0 : j);
        pieces.push_back(TileBroadcastOp::create(
            rewriter, op.getLoc(), getPieceType(map, op.getType()), adaptor.getVector()[piece],
            op.getBroadcastDims(), WgMapAttr()));
      }
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

struct DistributeShapeCast : Distribute<vector::ShapeCastOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(vector::ShapeCastOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = getPieceType(plan.maps.lookup(op.getResult()), op.getType());
    SmallVector<Value> pieces;
    for (Value piece : adaptor.getSource())
      pieces.push_back(vector::ShapeCastOp::create(rewriter, op.getLoc(), type, piece));
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Vectors that come from nothing distributed
//===----------------------------------------------------------------------===//

/// A constant whose elements differ: each subgroup selects its slices, of which equal ones are one.
struct DistributeConstant : Distribute<arith::ConstantOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(arith::ConstantOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!dense || dense.isSplat())
      return rewriter.notifyMatchFailure(op, "its elements are equal");
    WgMapAttr map = plan.maps.lookup(op.getResult());
    auto type = cast<VectorType>(op.getType());
    Distribution distribution = getDistribution(map, type);
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < distribution.rows.piecesPerSubgroup; ++i)
      for (int64_t j = 0; j < distribution.columns.piecesPerSubgroup; ++j)
        pieces.push_back(createPiece(rewriter, op.getLoc(), dense, map, distribution, i, j));
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }

private:
  static Attribute getSlice(DenseElementsAttr dense, VectorType type, int64_t row, int64_t column) {
    SmallVector<int64_t> whole = getMatrixShape(dense.getType()), part = getMatrixShape(type);
    auto values = dense.getValues<Attribute>();
    SmallVector<Attribute> slice;
    for (int64_t r = 0; r < part[0]; ++r)
      for (int64_t c = 0; c < part[1]; ++c)
        slice.push_back(values[(row + r) * whole[1] + column + c]);
    return DenseElementsAttr::get(type, slice);
  }

  Value createPiece(ConversionPatternRewriter &rewriter, Location loc, DenseElementsAttr dense,
                    WgMapAttr map, const Distribution &distribution, int64_t i, int64_t j) const {
    const DimDistribution &rows = distribution.rows, &columns = distribution.columns;
    auto type = cast<VectorType>(getPieceType(map, dense.getType()));
    // Which subgroups, by the numbers of their first pieces, have which slice.
    llvm::MapVector<Attribute, SmallVector<std::pair<int64_t, int64_t>>> slices;
    for (int64_t r = 0; r < rows.numOwners(); ++r)
      for (int64_t c = 0; c < columns.numOwners(); ++c)
        slices[getSlice(dense, type, (r + i * rows.numOwners()) * rows.pieceSize,
                        (c + j * columns.numOwners()) * columns.pieceSize)]
            .push_back({r, c});
    Value result;
    for (auto &[slice, owners] : slices) {
      Value value = arith::ConstantOp::create(rewriter, loc, cast<TypedAttr>(slice));
      if (!result) {
        result = value;
        continue;
      }
      Value isOwner;
      for (auto [r, c] : owners) {
        Value isThis = createIsAt(rewriter, loc, map, distribution, r, c);
        isOwner = isOwner ? arith::OrIOp::create(rewriter, loc, isOwner, isThis) : isThis;
      }
      result = arith::SelectOp::create(rewriter, loc, isOwner, value, result);
    }
    return result;
  }

  Value createIsAt(ConversionPatternRewriter &rewriter, Location loc, WgMapAttr map,
                   const Distribution &distribution, int64_t row, int64_t column) const {
    Value holds;
    for (auto [dim, number] : {std::pair(0, row), std::pair(1, column)}) {
      Value piece =
          plan.place.getFirstPiece(rewriter, map, dim, distribution.along(dim).numOwners());
      if (!piece)
        continue;
      Value equal = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, piece,
                                          arith::ConstantIndexOp::create(rewriter, loc, number));
      holds = holds ? arith::AndIOp::create(rewriter, loc, holds, equal) : equal;
    }
    return holds;
  }
};

/// A scalar in all elements, or elements of which nobody asks anything.
template <typename OpTy> struct DistributeEqual : Distribute<OpTy> {
  using Distribute<OpTy>::Distribute;
  LogicalResult matchAndRewrite(OpTy op, typename Distribute<OpTy>::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    this->replaceByPieces(op, rewriter, [&](Type type, ArrayRef<Value>) -> Value {
      if constexpr (std::is_same_v<OpTy, vector::BroadcastOp>)
        return vector::BroadcastOp::create(rewriter, op.getLoc(), type, op.getSource());
      else
        return OpTy::create(rewriter, op.getLoc(), type, op.getValue());
    });
    return success();
  }
};

struct DistributeStep : Distribute<vector::StepOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(vector::StepOp op, Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    replaceByPieces(op, rewriter, [&](Type type, ArrayRef<Value> offsets) -> Value {
      Value step = vector::StepOp::create(rewriter, loc, cast<VectorType>(type));
      Value start = vector::BroadcastOp::create(rewriter, loc, type, offsets[1]);
      return arith::AddIOp::create(rewriter, loc, step, start);
    });
    return success();
  }
};

/// Of the first elements that are set in each dimension, as many as reach into the piece.
template <typename OpTy> struct DistributeMask : Distribute<OpTy> {
  using Distribute<OpTy>::Distribute;
  LogicalResult matchAndRewrite(OpTy op, typename Distribute<OpTy>::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> counts;
    if constexpr (std::is_same_v<OpTy, vector::ConstantMaskOp>) {
      for (int64_t count : op.getMaskDimSizes())
        counts.push_back(arith::ConstantIndexOp::create(rewriter, loc, count));
    } else {
      llvm::append_range(counts, op->getOperands());
    }
    this->replaceByPieces(op, rewriter, [&](Type type, ArrayRef<Value> offsets) -> Value {
      SmallVector<Value> rest;
      for (auto [count, offset] : llvm::zip_equal(counts, offsets.take_back(counts.size())))
        rest.push_back(rewriter.createOrFold<arith::SubIOp>(loc, count, offset));
      return vector::CreateMaskOp::create(rewriter, loc, cast<VectorType>(type), rest);
    });
    return success();
  }
};
} // namespace

void xetile::populateWgToSgPatterns(const TypeConverter &converter, RewritePatternSet &patterns,
                                    WgToSgPlan &plan) {
  patterns
      .add<DistributeInitTile, DistributeAtomic, DistributeTileMma,
           DistributeMove<TileConvLayoutOp>, DistributeMove<TileTransposeOp>, DistributeTileReduce,
           DistributeTileBroadcast, DistributeShapeCast, DistributeConstant,
           DistributeEqual<vector::BroadcastOp>, DistributeEqual<ub::PoisonOp>, DistributeStep,
           DistributeMask<vector::CreateMaskOp>, DistributeMask<vector::ConstantMaskOp>>(
          converter, patterns.getContext(), plan);
  populatePiecewisePatterns(converter, patterns, [](Operation *op) {
    return isa<UpdateTileOffsetOp, LoadTileOp, StoreTileOp, PrefetchTileOp, AtomicRMWTileOp,
               LoadGatherOp, StoreScatterOp, TilePackOp, TileUnpackOp>(op) ||
           isElementwiseOnVectors(op);
  });
}
