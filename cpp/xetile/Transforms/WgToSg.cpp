//===- WgToSg.cpp - distribute workgroup tiles over subgroups ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile whose tiles and tile_mmas carry a wg_map (xetile-infer-wg-map completes them).
// Out: XeTile on the pieces of one subgroup, placed by gpu.subgroup_id; no wg_map is left.
// Refused: unmapped values beside mapped ones, different numbers of subgroups, operations without a
// rule.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Transforms/Passes.h"
#include "xetile/Transforms/Piecewise.h"
#include "xetile/Transforms/TiedValues.h"
#include "xetile/Transforms/WgMapInference.h"

namespace xetile {
#define GEN_PASS_DEF_WGTOSG
#include "xetile/Transforms/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

//===----------------------------------------------------------------------===//
// Pieces: what one subgroup owns of a value, round by round in row-major order
//===----------------------------------------------------------------------===//

namespace {
struct Distribution {
  DimDistribution rows, columns;
  int64_t numPieces() const { return rows.piecesPerSubgroup * columns.piecesPerSubgroup; }
};
} // namespace

static Distribution getDistribution(WgMapAttr map, ShapedType type) {
  return {getDimDistribution(map, 0, type.getDimSize(0)),
          getDimDistribution(map, 1, type.getDimSize(1))};
}

/// Pieces of one value that a subgroup may own.
static constexpr int64_t kMaxPieces = 1024;

/// The type of each piece of a tile or vector.
static Type getPieceType(WgMapAttr map, Type type) {
  if (auto tile = dyn_cast<TileType>(type)) {
    TileType plain = tile.withWgMap({});
    return TileType::get(map.getSgData(), plain.getElementType(), plain.getEncoding());
  }
  return VectorType::get(map.getSgData(), cast<VectorType>(type).getElementType());
}

//===----------------------------------------------------------------------===//
// Rewrites
//===----------------------------------------------------------------------===//

namespace {

/// Offset of the subgroup's first piece along one dimension: (coordinate mod owners) * piece size.
static Value getFirstPieceOffset(OpBuilder &builder, Location loc, Value coordinate,
                                 const DimDistribution &dim) {
  if (dim.numOwners() == 1)
    return arith::ConstantIndexOp::create(builder, loc, 0);
  if (dim.numOwners() < dim.numSubgroups)
    coordinate = arith::RemUIOp::create(
        builder, loc, coordinate, arith::ConstantIndexOp::create(builder, loc, dim.numOwners()));
  return arith::MulIOp::create(builder, loc, coordinate,
                               arith::ConstantIndexOp::create(builder, loc, dim.pieceSize));
}

static Value addOffset(OpBuilder &builder, Location loc, OpFoldResult base, Value offset,
                       int64_t constant) {
  Value sum = getValueOrCreateConstantIndexOp(builder, loc, base);
  sum = builder.createOrFold<arith::AddIOp>(loc, sum, offset);
  return builder.createOrFold<arith::AddIOp>(
      loc, sum, arith::ConstantIndexOp::create(builder, loc, constant));
}

struct DistributeInitTile : OpConversionPattern<InitTileOp> {
  DistributeInitTile(const TypeConverter &converter, MLIRContext *context,
                     const WgMapInference &maps)
      : OpConversionPattern(converter, context), maps(maps) {}
  LogicalResult matchAndRewrite(InitTileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileType tile = op.getTile().getType();
    WgMapAttr map = maps.lookup(op.getTile());
    Distribution distribution = getDistribution(map, tile);
    Location loc = op.getLoc();

    Value id =
        gpu::SubgroupIdOp::create(rewriter, loc, rewriter.getIndexType(), /*upper_bound=*/nullptr);
    Value gridColumns = arith::ConstantIndexOp::create(rewriter, loc, map.getSgLayout()[1]);
    Value row = rewriter.createOrFold<arith::DivUIOp>(loc, id, gridColumns);
    Value column = rewriter.createOrFold<arith::RemUIOp>(loc, id, gridColumns);
    Value firstRow = getFirstPieceOffset(rewriter, loc, row, distribution.rows);
    Value firstColumn = getFirstPieceOffset(rewriter, loc, column, distribution.columns);

    SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
    auto pieceType = cast<TileType>(getPieceType(map, tile));
    SmallVector<Value> pieces;
    for (int64_t i = 0; i < distribution.rows.piecesPerSubgroup; ++i)
      for (int64_t j = 0; j < distribution.columns.piecesPerSubgroup; ++j) {
        Value r =
            addOffset(rewriter, loc, offsets[0], firstRow, i * distribution.rows.roundStride());
        Value c = addOffset(rewriter, loc, offsets[1], firstColumn,
                            j * distribution.columns.roundStride());
        pieces.push_back(InitTileOp::create(
            rewriter, loc, pieceType, op.getSource(), ValueRange{r, c}, op.getBaseShape(),
            op.getBaseStrides(), /*indices=*/Value(),
            rewriter.getDenseI64ArrayAttr({ShapedType::kDynamic, ShapedType::kDynamic}),
            op.getStaticBaseShapeAttr(), op.getStaticBaseStridesAttr()));
      }
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }

  const WgMapInference &maps;
};

/// Piece (i, j) of the result is the product of piece i of a and piece j of b: the maps of the
/// operands keep k whole.
struct DistributeTileMma : OpConversionPattern<TileMmaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileMmaOp op, OneToNOpAdaptor adaptor,
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
        pieces.push_back(TileMmaOp::create(rewriter, op.getLoc(), types[piece], adaptor.getA()[i],
                                           adaptor.getB()[j], c, WgMapAttr()));
      }
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct WgToSg : xetile::impl::WgToSgBase<WgToSg> {
  using WgToSgBase::WgToSgBase;

  /// Checks what the rewrites rely on, with an error at the first operation that breaks it.
  LogicalResult check(Operation *op, const WgMapInference &maps) {
    auto isMapped = [&](Value value) { return bool(maps.lookup(value)); };
    bool anyMapped =
        llvm::any_of(op->getOperands(), isMapped) || llvm::any_of(op->getResults(), isMapped);
    if (isa_and_present<XeTileDialect>(op->getDialect())) {
      if (!isa<InitTileOp, UpdateTileOffsetOp, LoadTileOp, StoreTileOp, PrefetchTileOp, TileMmaOp>(
              op))
        return op->emitOpError("has no rule to distribute it over subgroups yet; expected "
                               "init_tile, update_tile_offset, load_tile, store_tile, "
                               "prefetch_tile or tile_mma beside workgroup maps");
      for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
        auto tile = dyn_cast<TileType>(type);
        if (tile && (tile.isScattered() || !tile.getInnerBlocks().empty()))
          return op->emitOpError("has a tile that has no rule to distribute it yet: ")
                 << tile << "; expected one without scatter and inner_blocks";
      }
      for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                             SmallVector<Value>(op->getResults())))
        if (isa<TileType, VectorType>(value.getType()) && !isMapped(value))
          return op->emitOpError("has a value of type ")
                 << value.getType()
                 << " without a wg_map, and none follows from the other maps of the kernel; "
                 << "set wg_map on its tile or tile_mma, or run xetile-infer-wg-map before";
      return success();
    }
    if (!anyMapped || isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op) || isElementwiseOnVectors(op))
      return success();
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (!isa<SplatElementsAttr>(constant.getValue()))
        return op->emitOpError("cannot be distributed: expected a constant with equal elements");
      return success();
    }
    return op->emitOpError(
        "has no rule to distribute it over subgroups; expected xetile operations, scf.for, scf.if, "
        "elementwise operations or constants on workgroup-level values");
  }

  /// Only loops and branches hand pieces on, and code for so many pieces must stay of a size that
  /// can be compiled.
  LogicalResult checkValue(Value value, WgMapAttr map) {
    Type type = value.getType();
    Location loc = value.getLoc();
    if (int64_t pieces = getDistribution(map, cast<ShapedType>(type)).numPieces();
        pieces > kMaxPieces)
      return emitError(loc) << "wg_map " << map << " gives each subgroup " << pieces
                            << " pieces of " << type << "; expected at most " << kMaxPieces
                            << ": make sg_data or sg_layout larger, or the tile smaller";
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || getPieceType(map, type) == type)
      return success();
    Operation *owner = argument.getOwner()->getParentOp();
    if (isa<scf::ForOp>(owner))
      return success();
    return owner->emitOpError("has argument #")
           << argument.getArgNumber() << " of type " << type << " with the workgroup map " << map
           << ", which cannot be distributed: expected a workgroup's tiles and vectors to be made "
              "where they are used, by init_tile and load_tile, or to be carried by scf.for";
  }

  /// The same for functions without a body, whose types would keep their maps.
  LogicalResult checkSignature(FunctionOpInterface function) {
    for (Type type :
         llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      if (auto tile = dyn_cast<TileType>(type); tile && tile.getWgMap() && function.isExternal())
        return function.emitOpError("has a workgroup's tile in its signature, ")
               << tile << ", which cannot be distributed; expected memrefs or addresses";
    return success();
  }

  /// One kernel has one number of subgroups, and the launch as many.
  LogicalResult checkNumSubgroups(const WgMapInference &maps) {
    llvm::SmallDenseMap<Operation *, WgMapAttr> first;
    for (auto [value, map] : maps.getMaps()) {
      Operation *op =
          value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp();
      Operation *kernel = op->getParentOfType<FunctionOpInterface>();
      auto [entry, inserted] = first.insert({kernel, map});
      if (entry->second.getNumSubgroups() != map.getNumSubgroups())
        return op->emitOpError("has wg_map ")
               << map << " for " << map.getNumSubgroups() << " subgroups, but the kernel also has "
               << entry->second << " for " << entry->second.getNumSubgroups();
      auto gpuKernel = dyn_cast_or_null<gpu::GPUFuncOp>(kernel);
      std::optional<ArrayRef<int32_t>> blockSize;
      if (inserted && gpuKernel)
        blockSize = gpuKernel.getKnownBlockSize();
      if (!blockSize)
        continue;
      int64_t workItems = 1;
      for (int32_t size : *blockSize)
        workItems *= size;
      if (workItems != map.getNumSubgroups() * subgroupSize)
        return gpuKernel.emitOpError("is launched with workgroups of ")
               << workItems << " work-items (known_block_size), but its wg_maps need "
               << map.getNumSubgroups() << " subgroups of " << int64_t(subgroupSize) << " = "
               << map.getNumSubgroups() * subgroupSize;
    }
    return success();
  }

  void runOnOperation() override {
    auto checkFunction = [&](FunctionOpInterface op) { return WalkResult(checkSignature(op)); };
    WgMapInference maps;
    if (getOperation()->walk(checkFunction).wasInterrupted() || failed(maps.run(getOperation())))
      return signalPassFailure();
    if (maps.empty())
      return;
    auto checkOne = [&](Operation *op) { return WalkResult(check(op, maps)); };
    if (failed(checkNumSubgroups(maps)) || getOperation()->walk(checkOne).wasInterrupted())
      return signalPassFailure();
    for (auto [value, map] : maps.getMaps())
      if (failed(checkValue(value, map)))
        return signalPassFailure();

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [&](Value value, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
          WgMapAttr map = maps.lookup(value);
          if (!map)
            return std::nullopt;
          Distribution distribution = getDistribution(map, cast<ShapedType>(value.getType()));
          types.append(distribution.numPieces(), getPieceType(map, value.getType()));
          return success();
        });

    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<DistributeInitTile>(converter, context, maps);
    patterns.add<DistributeTileMma>(converter, context);
    populatePiecewisePatterns(converter, patterns, [](Operation *op) {
      return isa<UpdateTileOffsetOp, LoadTileOp, StoreTileOp, PrefetchTileOp>(op) ||
             isElementwiseOnVectors(op);
    });
    ConversionTarget target(*context);
    // A single subgroup owns whole vectors. Then the conversion keeps block arguments as they are,
    // and what uses them is distributed although their maps are still known.
    auto isDistributed = [&](Value value) {
      WgMapAttr map = maps.lookup(value);
      return !map || getPieceType(map, value.getType()) == value.getType();
    };
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      auto mma = dyn_cast<TileMmaOp>(op);
      return (!mma || !mma.getWgMapAttr()) && llvm::all_of(op->getOperands(), isDistributed) &&
             llvm::all_of(op->getResults(), isDistributed);
    });
    scf::populateSCFStructuralTypeConversions(converter, patterns);
    // What folds would be a new value that nobody has analysed.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
