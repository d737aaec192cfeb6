//===- Blocking.cpp - XeTile on 2D vectors to XeTile on vectors of blocks -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile of one subgroup.
// Out: tiles with inner_blocks and 4D vectors, tile_pack and tile_unpack where blocks differ, one
// init_tile per access; the same meaning. Refused: what LocalTiles, BlockChoice, SliceAlongK
// refuse.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "xetile/Target/Xe/ToXeGPU/Blocks.h"
#include "xetile/Target/Xe/ToXeGPU/LocalTiles.h"
#include "xetile/Transforms/TiedValues.h"

namespace xetile {
#define GEN_PASS_DEF_BLOCKING
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

struct BlockContext {
  const BlockChoice &choice;
  StringRef chip;
};

template <typename Op> struct BlockPattern : OpConversionPattern<Op> {
  BlockPattern(const TypeConverter &converter, MLIRContext *context, const BlockContext &blocks)
      : OpConversionPattern<Op>(converter, context), blocks(blocks) {}

  /// `vector`, which is whole or in some blocks, in blocks of `sides`.
  static Value reblock(OpBuilder &builder, Location loc, Value vector, ArrayRef<int64_t> sides) {
    auto type = cast<VectorType>(vector.getType());
    if (type.getRank() == 2)
      return TilePackOp::create(builder, loc, getBlockedType(type, sides), vector, sides);
    if (type.getShape().take_back(2) == sides)
      return vector;
    auto flat = VectorType::get(
        {type.getDimSize(0) * type.getDimSize(2), type.getDimSize(1) * type.getDimSize(3)},
        type.getElementType());
    Value whole = TileUnpackOp::create(builder, loc, flat, vector, type.getShape().take_back(2));
    return TilePackOp::create(builder, loc, getBlockedType(flat, sides), whole, sides);
  }

  /// The same tile in blocks.
  static Value blockTile(OpBuilder &builder, Operation *access, ArrayRef<int64_t> sides) {
    InitTileOp init = getLocalInit(access);
    TileType tile = init.getTile().getType();
    auto encoding =
        TileAttr::get(builder.getContext(), WgMapAttr(),
                      tile.getEncoding() ? tile.getEncoding().getOrder() : ArrayRef<int64_t>(),
                      sides, tile.getMemorySpace(), /*scatter=*/false);
    auto type = TileType::get(tile.getShape(), tile.getElementType(), encoding);
    auto blocked = cast<InitTileOp>(builder.clone(*init));
    blocked.getTile().setType(type);
    return blocked.getTile();
  }

  const BlockContext &blocks;
};

struct BlockLoadTile : BlockPattern<LoadTileOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(LoadTileOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const VectorBlock *block = blocks.choice.get(op.getValue());
    if (!block)
      return rewriter.notifyMatchFailure(op, "stays as it is");
    SmallVector<int64_t> sides = chooseInnerBlocks(
        op.getTile().getType(), *block, BlockAccess::Load, *getTargetOf(op, blocks.chip));
    auto tile = cast<TypedValue<TileType>>(blockTile(rewriter, op, sides));
    Value value = LoadTileOp::create(rewriter, op.getLoc(), tile.getType().getVectorType(), tile,
                                     op.getPaddingAttr());
    rewriter.replaceOp(op, reblock(rewriter, op.getLoc(), value, block->sides()));
    return success();
  }
};

struct BlockStoreTile : BlockPattern<StoreTileOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(StoreTileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const VectorBlock *block = blocks.choice.get(op.getValue());
    if (!block)
      return rewriter.notifyMatchFailure(op, "stays as it is");
    SmallVector<int64_t> sides = chooseInnerBlocks(
        op.getTile().getType(), *block, BlockAccess::Store, *getTargetOf(op, blocks.chip));
    Value tile = blockTile(rewriter, op, sides);
    StoreTileOp::create(rewriter, op.getLoc(),
                        reblock(rewriter, op.getLoc(), adaptor.getValue(), sides), tile);
    rewriter.eraseOp(op);
    return success();
  }
};

struct BlockAtomicRMWTile : BlockPattern<AtomicRMWTileOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(AtomicRMWTileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const VectorBlock *block = blocks.choice.get(op.getResult());
    if (!block)
      return rewriter.notifyMatchFailure(op, "stays as it is");
    Value tile = blockTile(rewriter, op, block->sides());
    Value value = reblock(rewriter, op.getLoc(), adaptor.getValue(), block->sides());
    rewriter.replaceOpWithNewOp<AtomicRMWTileOp>(op, value.getType(), op.getKind(), value, tile);
    return success();
  }
};

struct BlockTileMma : BlockPattern<TileMmaOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(TileMmaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (op.getResult().getType().getRank() != 2)
      return rewriter.notifyMatchFailure(op, "is in blocks");
    Location loc = op.getLoc();
    const TargetInfo &target = *getTargetOf(op, blocks.chip);
    auto a = cast<VectorType>(op.getA().getType());
    int64_t k = target.dpasK(memoryBits(a.getElementType())), n = target.dpas.n;
    const VectorBlock *result = blocks.choice.get(op.getResult());
    int64_t m = std::min<int64_t>(a.getDimSize(0) & -a.getDimSize(0), target.dpas.maxM);
    Value left = reblock(rewriter, loc, adaptor.getA(), {m, k});
    Value right = reblock(rewriter, loc, adaptor.getB(), {k, n});
    Value sum = op.getC() ? reblock(rewriter, loc, adaptor.getC(), {m, n}) : Value();
    VectorType type = getBlockedType(op.getResult().getType(), {m, n});
    TileMmaOp product = op.createPiece(rewriter, type, left, right, sum);
    rewriter.replaceOp(op, reblock(rewriter, loc, product, result->sides()));
    return success();
  }
};

/// Dimensions of a matrix, as those of its grid and its blocks.
SmallVector<int64_t> getBlockedDims(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> blocked(dims);
  for (int64_t dim : dims)
    blocked.push_back(dim + 2);
  return blocked;
}

struct BlockTileReduce : BlockPattern<TileReduceOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(TileReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const VectorBlock *result = blocks.choice.get(op.getResult());
    if (!blocks.choice.get(op.getVector()) || !result)
      return rewriter.notifyMatchFailure(op, "stays as it is");
    auto source = cast<VectorType>(adaptor.getVector().getType());
    SmallVector<int64_t> shape(source.getShape()), dims = getBlockedDims(op.getReductionDims());
    for (int64_t dim : dims)
      shape[dim] = 1;
    auto type = VectorType::get(shape, source.getElementType());
    Value value = TileReduceOp::create(rewriter, op.getLoc(), type, op.getKind(),
                                       adaptor.getVector(), dims, WgMapAttr());
    rewriter.replaceOp(op, reblock(rewriter, op.getLoc(), value, result->sides()));
    return success();
  }
};

struct BlockTileBroadcast : BlockPattern<TileBroadcastOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(TileBroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const VectorBlock *result = blocks.choice.get(op.getResult());
    if (!blocks.choice.get(op.getVector()) || !result)
      return rewriter.notifyMatchFailure(op, "stays as it is");
    VectorType type = getBlockedType(op.getResult().getType(), result->sides());
    SmallVector<int64_t> sides = result->sides(), dims = getBlockedDims(op.getBroadcastDims());
    for (int64_t dim : op.getBroadcastDims())
      sides[dim] = 1;
    Value source = reblock(rewriter, op.getLoc(), adaptor.getVector(), sides);
    rewriter.replaceOpWithNewOp<TileBroadcastOp>(op, type, source, dims, WgMapAttr());
    return success();
  }
};

/// The same operation on blocks, for those that treat each element alike.
struct BlockElementwise : ConversionPattern {
  BlockElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    auto broadcast = dyn_cast<vector::BroadcastOp>(op);
    bool repeatsScalar = broadcast && !isa<VectorType>(broadcast.getSourceType());
    if (!isElementwiseOnVectors(op) && !repeatsScalar)
      return rewriter.notifyMatchFailure(op, "does not treat each element alike");
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    if (failed(getTypeConverter()->convertTypes(op->getResults(), state.types)))
      return rewriter.notifyMatchFailure(op, "has a result that stays as it is");
    state.attributes = op->getDiscardableAttrDictionary();
    state.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

/// The elements of a 2D constant in the order of its blocks.
DenseElementsAttr packElements(DenseElementsAttr elements, VectorType blocked) {
  if (elements.isSplat())
    return elements.resizeSplat(blocked);
  auto values = llvm::to_vector(elements.getValues<Attribute>());
  ArrayRef<int64_t> shape = blocked.getShape();
  int64_t columns = shape[1] * shape[3];
  SmallVector<Attribute> packed;
  packed.reserve(values.size());
  for (int64_t gridRow = 0; gridRow < shape[0]; ++gridRow)
    for (int64_t gridColumn = 0; gridColumn < shape[1]; ++gridColumn)
      for (int64_t row = 0; row < shape[2]; ++row)
        for (int64_t column = 0; column < shape[3]; ++column)
          packed.push_back(
              values[(gridRow * shape[2] + row) * columns + gridColumn * shape[3] + column]);
  return DenseElementsAttr::get(blocked, packed);
}

struct BlockConstant : BlockPattern<arith::ConstantOp> {
  using BlockPattern::BlockPattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const VectorBlock *block = blocks.choice.get(op.getResult());
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!block || !elements)
      return rewriter.notifyMatchFailure(op, "stays as it is");
    VectorType type = getBlockedType(cast<VectorType>(op.getType()), block->sides());
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, packElements(elements, type));
    return success();
  }
};

/// True if the patterns here rewrite `op` on blocked values; other ops get whole vectors.
bool isRewritten(Operation *op, const BlockChoice &choice) {
  auto broadcast = dyn_cast<vector::BroadcastOp>(op);
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (isa<TileReduceOp, TileBroadcastOp>(op))
    return choice.get(op->getOperand(0)) && choice.get(op->getResult(0));
  if (isa<AtomicRMWTileOp>(op))
    return choice.get(op->getResult(0));
  // Yields of other ops stay whole, as do these ops' results.
  if (isa<scf::YieldOp>(op))
    op = op->getParentOp();
  return isa<LoadTileOp, StoreTileOp, TileMmaOp, scf::ForOp, scf::WhileOp, scf::IfOp,
             scf::IndexSwitchOp, scf::ConditionOp>(op) ||
         isElementwiseOnVectors(op) || (broadcast && !isa<VectorType>(broadcast.getSourceType())) ||
         (constant && isa<DenseElementsAttr>(constant.getValue()));
}

struct Blocking : xetile::impl::BlockingBase<Blocking> {
  using BlockingBase::BlockingBase;
  void runOnOperation() override {
    if (failed(blockTiles(getOperation(), chip)))
      signalPassFailure();
  }
};
} // namespace

/// Refuses what subgroup-level code has not.
static LogicalResult checkSubgroupLevel(Operation *op) {
  if (!isa_and_present<XeTileDialect>(op->getDialect()))
    return success();
  if (op->hasAttr("wg_map") || isa<TileConvLayoutOp>(op))
    return op->emitOpError(
        "has a wg_map: expected subgroup-level code, run xetile-wg-to-sg before");
  return success();
}

/// Products and stores in slices, where these need fewer registers.
static LogicalResult slice(Operation *root, StringRef chip) {
  SmallVector<TileMmaOp> products;
  root->walk([&](TileMmaOp op) {
    if (op.getResult().getType().getRank() == 2)
      products.push_back(op);
  });
  for (TileMmaOp op : products) {
    const TargetInfo *target = getTargetOf(op, chip);
    if (!target || failed(sliceAlongK(op, *target)))
      return failure();
  }
  SmallVector<StoreTileOp> stores;
  root->walk([&](StoreTileOp op) {
    if (cast<VectorType>(op.getValue().getType()).getRank() == 2)
      stores.push_back(op);
  });
  for (StoreTileOp op : stores) {
    const TargetInfo *target = getTargetOf(op, chip);
    if (!target)
      return failure();
    sliceStore(op, *target);
  }
  return success();
}

/// Vectors to those of their blocks.
static void addConversions(TypeConverter &converter, const BlockChoice &choice) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([&](Value value) -> std::optional<Type> {
    const VectorBlock *block = choice.get(value);
    if (!block)
      return std::nullopt;
    return getBlockedType(cast<VectorType>(value.getType()), block->sides());
  });
  // Operations without a rule take and give whole vectors.
  converter.addSourceMaterialization(
      [](OpBuilder &builder, VectorType type, ValueRange inputs, Location loc) -> Value {
        auto blocked = cast<VectorType>(inputs.front().getType());
        return TileUnpackOp::create(builder, loc, type, inputs.front(),
                                    blocked.getShape().take_back(2));
      });
  converter.addTargetMaterialization(
      [](OpBuilder &builder, VectorType type, ValueRange inputs, Location loc) -> Value {
        return TilePackOp::create(builder, loc, type, inputs.front(), type.getShape().take_back(2));
      });
}

LogicalResult xetile::blockTiles(Operation *root, StringRef chip) {
  auto check = [](Operation *op) { return WalkResult(checkSubgroupLevel(op)); };
  if (root->walk(check).wasInterrupted() || failed(makeTilesLocal(root)) ||
      failed(slice(root, chip)))
    return failure();
  cloneVectorConstantsPerUse(root);
  BlockChoice choice;
  if (failed(choice.run(root, chip)))
    return failure();

  TypeConverter converter;
  addConversions(converter, choice);
  MLIRContext *context = root->getContext();
  BlockContext blocks{choice, chip};
  RewritePatternSet patterns(context);
  patterns.add<BlockLoadTile, BlockStoreTile, BlockAtomicRMWTile, BlockTileMma, BlockTileReduce,
               BlockTileBroadcast, BlockConstant>(converter, context, blocks);
  patterns.add<BlockElementwise>(converter, context);
  scf::populateSCFStructuralTypeConversions(converter, patterns);
  ConversionTarget target(*context);
  auto isKept = [&](Value value) { return !choice.get(value); };
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    return !isRewritten(op, choice) ||
           (llvm::all_of(op->getOperands(), isKept) && llvm::all_of(op->getResults(), isKept));
  });
  // Folding would make new values, which no analysis has seen.
  ConversionConfig config;
  config.foldingMode = DialectConversionFoldingMode::Never;
  if (failed(applyPartialConversion(root, target, std::move(patterns), config)))
    return failure();
  SmallVector<Operation *> unused;
  root->walk([&](InitTileOp op) {
    if (op->use_empty())
      unused.push_back(op);
  });
  for (Operation *op : unused)
    op->erase();
  return success();
}
