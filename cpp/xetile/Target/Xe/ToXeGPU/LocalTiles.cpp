//===- LocalTiles.cpp - tiles that are described where they are used --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile of one subgroup; tiles that loops and branches of scf and update_tile_offset hand on.
// Out: an init_tile for each access, right before it; loops carry offsets; no update_tile_offset.
// Refused: tiles with a wg_map, tiles of several matrices in one value, tiles from outside.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/ToXeGPU/LocalTiles.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "xetile/Transforms/TiedValues.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xetile;

bool xetile::isTileAccess(Operation *op) {
  return isa<LoadTileOp, StoreTileOp, PrefetchTileOp, AtomicRMWTileOp, LoadGatherOp, StoreScatterOp,
             AtomicRMWScatterOp>(op);
}

TypedValue<TileType> xetile::getAccessedTile(Operation *access) {
  for (Value operand : access->getOperands())
    if (auto tile = dyn_cast<TypedValue<TileType>>(operand))
      return tile;
  return {};
}

InitTileOp xetile::getLocalInit(Operation *access) {
  return getAccessedTile(access).getDefiningOp<InitTileOp>();
}

namespace {

/// The matrix that a tile is part of.
struct TileBase {
  Value source;
  SmallVector<OpFoldResult> shape, strides;
  bool operator==(const TileBase &other) const {
    return source == other.source && shape == other.shape && strides == other.strides;
  }
};

Operation *getOwner(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op : value.getParentBlock()->getParentOp();
}

/// The base of each tile below an operation.
class TileBases {
public:
  LogicalResult find(Operation *root);
  bool contains(Value tile) const { return bases.contains(tile); }
  const TileBase &get(Value tile) const { return bases.find(tile)->second; }

private:
  LogicalResult assign(Value root, const TileBase &base);
  LogicalResult check(Operation *op) const;
  llvm::MapVector<Value, TileBase> bases;
};

LogicalResult TileBases::assign(Value root, const TileBase &base) {
  SmallVector<Value> worklist{root};
  while (!worklist.empty()) {
    Value tile = worklist.pop_back_val();
    auto [entry, inserted] = bases.insert({tile, base});
    if (!inserted) {
      if (entry->second == base)
        continue;
      return getOwner(tile)->emitOpError(
          "merges with tiles of another matrix; expected all tiles that reach one value "
          "to have one base, base shape and base strides");
    }
    llvm::append_range(worklist, getTiedValues(tile));
    if (auto update = tile.getDefiningOp<UpdateTileOffsetOp>())
      worklist.push_back(update.getTile());
    for (Operation *user : tile.getUsers())
      if (auto update = dyn_cast<UpdateTileOffsetOp>(user))
        worklist.push_back(update.getResult());
  }
  return success();
}

LogicalResult TileBases::check(Operation *op) const {
  auto isForeignTile = [&](Value value) {
    return isa<TileType>(value.getType()) && !bases.contains(value);
  };
  if (llvm::any_of(op->getOperands(), isForeignTile) ||
      llvm::any_of(op->getResults(), isForeignTile))
    return op->emitOpError(
        "has a tile whose init_tile is not visible; expected one that reaches it through scf.for, "
        "scf.while, scf.if, scf.index_switch and update_tile_offset only");
  // Tiles of functions that nothing uses, or that have no body.
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    for (Type type :
         llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      if (isa<TileType>(type))
        return op->emitOpError("has a tile in its signature, ")
               << type << ", whose init_tile is not visible; expected memrefs or addresses";
  if (!isTileAccess(op))
    return success();
  Value tile = getAccessedTile(op);
  if (cast<TileType>(tile.getType()).getWgMap())
    return op->emitOpError(
        "has a tile with a wg_map: expected subgroup-level code, run xetile-wg-to-sg before");
  const TileBase &base = get(tile);
  DominanceInfo dominance;
  auto dominates = [&](OpFoldResult part) {
    auto operand = dyn_cast<Value>(part);
    return !operand || dominance.properlyDominates(operand, op);
  };
  if (!dominates(base.source) || !llvm::all_of(base.shape, dominates) ||
      !llvm::all_of(base.strides, dominates))
    return op->emitOpError(
        "has a tile whose base matrix is defined in a region that does not enclose it");
  return success();
}

LogicalResult TileBases::find(Operation *root) {
  auto visit = [&](InitTileOp op) -> WalkResult {
    SmallVector<OpFoldResult> strides =
        getMixedValues(op.getStaticBaseStrides(), op.getBaseStrides(), op.getContext());
    SmallVector<OpFoldResult> shape =
        getMixedValues(op.getStaticBaseShape(), op.getBaseShape(), op.getContext());
    return assign(op.getTile(), {op.getSource(), shape, strides});
  };
  if (root->walk(visit).wasInterrupted())
    return failure();
  auto visitAll = [&](Operation *op) { return WalkResult(check(op)); };
  return failure(root->walk(visitAll).wasInterrupted());
}

struct SplitInitTile : OpConversionPattern<InitTileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(InitTileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> places{adaptor.getIndices()};
    if (!op.getIndices())
      places = getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), op.getMixedOffsets());
    rewriter.replaceOpWithMultiple(op, {places});
    return success();
  }
};

struct SplitUpdateTileOffset : OpConversionPattern<UpdateTileOffsetOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(UpdateTileOffsetOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> deltas{op.getIndexDeltas()}, places;
    if (!op.getIndexDeltas())
      deltas = getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), op.getMixedDeltas());
    for (auto [place, delta] : llvm::zip_equal(adaptor.getTile(), deltas))
      places.push_back(rewriter.createOrFold<arith::AddIOp>(op.getLoc(), place, delta));
    rewriter.replaceOpWithMultiple(op, {places});
    return success();
  }
};

/// Describes the tile anew where it is accessed.
template <typename Op> struct DescribeAtAccess : OpConversionPattern<Op> {
  DescribeAtAccess(const TypeConverter &converter, MLIRContext *context, const TileBases &bases)
      : OpConversionPattern<Op>(converter, context), bases(bases) {}
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  LogicalResult matchAndRewrite(Op op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileType type = op.getTile().getType();
    const TileBase &base = bases.get(op.getTile());
    InitTileOp init;
    if (type.isScattered())
      init = InitTileOp::create(rewriter, op.getLoc(), type, base.source, adaptor.getTile()[0]);
    else
      init = InitTileOp::create(rewriter, op.getLoc(), type, base.source,
                                getAsOpFoldResult(adaptor.getTile()), base.shape, base.strides);
    rewriter.modifyOpInPlace(op, [&] { op.getTileMutable().assign(init.getTile()); });
    return success();
  }
  const TileBases &bases;
};

/// True if every tile is an init_tile with a single use, an access in the same block.
bool areTilesLocal(Operation *root) {
  auto isForeign = [](Operation *op) {
    if (auto init = dyn_cast<InitTileOp>(op))
      return WalkResult(success(init->hasOneUse() && isTileAccess(*init->user_begin()) &&
                                (*init->user_begin())->getBlock() == init->getBlock()));
    auto isTile = [](Type type) { return isa<TileType>(type); };
    return WalkResult(success(isTileAccess(op) || (llvm::none_of(op->getOperandTypes(), isTile) &&
                                                   llvm::none_of(op->getResultTypes(), isTile))));
  };
  return !root->walk(isForeign).wasInterrupted();
}
} // namespace

LogicalResult xetile::makeTilesLocal(Operation *root) {
  TileBases bases;
  if (failed(bases.find(root)))
    return failure();
  if (areTilesLocal(root))
    return success();

  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  // Tiles that are made now are not among those that were found.
  converter.addConversion(
      [&](Value value, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
        if (!bases.contains(value))
          return std::nullopt;
        auto tile = cast<TileType>(value.getType());
        Type index = IndexType::get(value.getContext());
        if (tile.isScattered())
          types.push_back(VectorType::get(tile.getShape(), index));
        else
          types.append(2, index);
        return success();
      });
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  patterns.add<SplitInitTile, SplitUpdateTileOffset>(converter, context);
  patterns.add<DescribeAtAccess<LoadTileOp>, DescribeAtAccess<StoreTileOp>,
               DescribeAtAccess<PrefetchTileOp>, DescribeAtAccess<AtomicRMWTileOp>,
               DescribeAtAccess<LoadGatherOp>, DescribeAtAccess<StoreScatterOp>,
               DescribeAtAccess<AtomicRMWScatterOp>>(converter, context, bases);
  scf::populateSCFStructuralTypeConversions(converter, patterns);
  ConversionTarget target(*context);
  auto isKept = [&](Value value) { return !bases.contains(value); };
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    return llvm::all_of(op->getOperands(), isKept) && llvm::all_of(op->getResults(), isKept);
  });
  // Folding would make new values, which no analysis has seen.
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  return applyPartialConversion(root, target, std::move(patterns), config);
}
