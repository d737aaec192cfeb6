//===- WgToSgPatterns.cpp - operations on one subgroup's pieces ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "xetile/Transforms/FreePieces.h"
#include "xetile/Transforms/Piecewise.h"
#include "xetile/Transforms/TiedValues.h"
#include "xetile/Transforms/TileExchange.h"
#include "xetile/Transforms/WgToSgPlan.h"

using namespace mlir;
using namespace xetile;

namespace {

/// A rewrite that follows the plan.
template <typename OpTy> struct Distribute : OpConversionPattern<OpTy> {
  using Adaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;
  Distribute(const TypeConverter &converter, MLIRContext *context, WgToSgPlan &plan)
      : OpConversionPattern<OpTy>(converter, context, /*benefit=*/2), plan(plan) {}

  TileExchange getExchange(ConversionPatternRewriter &rewriter, Location loc) const {
    return {rewriter, loc, plan.place, plan.scratch};
  }
  Ownership getOwnership(Value value) const {
    return xetile::getOwnership(plan.maps.lookup(value), cast<ShapedType>(value.getType()));
  }

  /// Calls `create` with the offsets of each of the subgroup's pieces of `value`.
  void replaceByPieces(OpTy op, ConversionPatternRewriter &rewriter,
                       function_ref<Value(Type type, ArrayRef<Value> offsets)> create) const {
    Value value = op->getResult(0);
    WgMapAttr map = plan.maps.lookup(value);
    auto type = cast<ShapedType>(value.getType());
    Ownership ownership = getOwnership(value);
    SmallVector<Value> pieces;
    forEachIndex(ownership.rounds(), [&](ArrayRef<int64_t> round) {
      SmallVector<Value> offsets;
      for (auto [dim, along] : llvm::enumerate(ownership.dims))
        offsets.push_back(getValueOrCreateConstantIndexOp(
            rewriter, op->getLoc(),
            plan.place.getOffset(rewriter, op->getLoc(), ownership, dim, along.pieceSize,
                                 round[dim])));
      pieces.push_back(create(getPieceType(map, type), offsets));
    });
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
    Ownership ownership = getOwnership(op.getTile());
    auto update = [&] {
      SmallVector<Value> before;
      for (auto [value, piece] : llvm::zip_equal(adaptor.getValue(), adaptor.getTile()))
        before.push_back(
            AtomicRMWTileOp::create(rewriter, loc, value.getType(), op.getKind(), value, piece));
      return before;
    };
    SmallVector<Value> pieces =
        updateByFirstOwner(rewriter, getExchange(rewriter, loc), plan.place, plan.scratch, loc,
                           ownership, tile, !op->use_empty(), update);
    if (pieces.empty())
      rewriter.eraseOp(op);
    else
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
        pieces.push_back(
            op.createPiece(rewriter, types[piece], adaptor.getA()[i], adaptor.getB()[j], c));
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

struct DistributeTileReduce : Distribute<TileReduceOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(TileReduceOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getVector().getType();
    Ownership ownership = getOwnership(op.getVector());
    ArrayRef<int64_t> dims = op.getReductionDims();
    Type wide = getReductionType(op.getKind(), type.getElementType(), dims, ownership);
    SmallVector<Value> pieces;
    for (Value sum :
         mergePieces(rewriter, loc, op.getKind(), dims, ownership, adaptor.getVector(), wide))
      pieces.push_back(reduce(rewriter, op, sum));

    TileExchange exchange = getExchange(rewriter, loc);
    if (auto found = plan.reductions.find(op); found != plan.reductions.end()) {
      const CrossReduction &cross = found->second;
      Value buffer =
          plan.scratch.create(rewriter, loc, cross.partial.shape(), getStorageType(wide));
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
    Ownership ownership = getOwnership(op.getResult());
    bool repeatsRows = llvm::is_contained(op.getBroadcastDims(), 0),
         repeatsColumns = llvm::is_contained(op.getBroadcastDims(), 1);
    int64_t columns = ownership.dims[1].rounds();
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < ownership.dims[0].rounds(); ++i)
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

/// Where a place of the whole is among a subgroup's pieces of a dimension, and in that piece.
static std::pair<int64_t, int64_t> findInPieces(const OwnedDim &along, int64_t place) {
  return {place / along.roundStride(), place % along.pieceSize};
}

struct DistributeSlice : Distribute<vector::ExtractStridedSliceOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(vector::ExtractStridedSliceOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Ownership from = getOwnership(op.getSource()), to = getOwnership(op.getResult());
    SmallVector<SliceOfDim, 2> slices = getSlicedDims(op);
    SmallVector<Value> pieces;
    forEachIndex(to.rounds(), [&](ArrayRef<int64_t> round) {
      SmallVector<int64_t> number, offsets;
      for (auto [dim, slice] : llvm::enumerate(slices)) {
        auto [first, within] = findInPieces(from.dims[dim], slice.offset);
        number.push_back(first + round[dim]);
        offsets.push_back(within);
      }
      Value piece = adaptor.getSource()[numberOf(number, from.rounds())];
      if (to.pieceShape() != from.pieceShape())
        piece = vector::ExtractStridedSliceOp::create(rewriter, op.getLoc(), piece, offsets,
                                                      to.pieceShape(), ArrayRef<int64_t>{1, 1});
      pieces.push_back(piece);
    });
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

struct DistributeElement : Distribute<vector::ExtractOp> {
  using Distribute::Distribute;
  LogicalResult matchAndRewrite(vector::ExtractOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Ownership from = getOwnership(op.getSource());
    SmallVector<int64_t> number, within;
    // A vector of one dimension is a row.
    SmallVector<int64_t> places(from.rank() - op.getNumIndices(), 0);
    llvm::append_range(places, op.getStaticPosition());
    for (auto [along, place] : llvm::zip_equal(from.dims, places)) {
      auto [piece, inside] = findInPieces(along, place);
      number.push_back(piece);
      within.push_back(inside);
    }
    Value piece = adaptor.getSource()[numberOf(number, from.rounds())];
    rewriter.replaceOpWithNewOp<vector::ExtractOp>(op, piece,
                                                   ArrayRef(within).take_back(op.getNumIndices()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Vectors that come from nothing distributed
//===----------------------------------------------------------------------===//

template <typename OpTy> struct DistributeFree : Distribute<OpTy> {
  using Distribute<OpTy>::Distribute;
  LogicalResult matchAndRewrite(OpTy op, typename Distribute<OpTy>::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value value = op->getResult(0);
    auto type = dyn_cast_if_present<VectorType>(
        getPieceType(this->plan.maps.lookup(value), value.getType()));
    rewriter.replaceOpWithMultiple(
        op, {createFreePieces(rewriter, op, this->getOwnership(value), type, this->plan.place)});
    return success();
  }
};
} // namespace

void xetile::populateWgToSgPatterns(const TypeConverter &converter, RewritePatternSet &patterns,
                                    WgToSgPlan &plan) {
  patterns
      .add<DistributeInitTile, DistributeAtomic, DistributeTileMma,
           DistributeMove<TileConvLayoutOp>, DistributeMove<TileTransposeOp>, DistributeTileReduce,
           DistributeTileBroadcast, DistributeShapeCast, DistributeSlice, DistributeElement,
           DistributeFree<arith::ConstantOp>, DistributeFree<vector::BroadcastOp>,
           DistributeFree<ub::PoisonOp>, DistributeFree<vector::StepOp>,
           DistributeFree<vector::CreateMaskOp>, DistributeFree<vector::ConstantMaskOp>>(
          converter, patterns.getContext(), plan);
  populatePiecewisePatterns(converter, patterns, [](Operation *op) {
    return isa<UpdateTileOffsetOp, LoadTileOp, StoreTileOp, PrefetchTileOp, AtomicRMWTileOp,
               LoadGatherOp, StoreScatterOp, AtomicRMWScatterOp, TilePackOp, TileUnpackOp>(op) ||
           isElementwiseOnVectors(op);
  });
}
