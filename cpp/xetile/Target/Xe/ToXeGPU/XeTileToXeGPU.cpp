//===- XeTileToXeGPU.cpp - subgroup-level XeTile to XeGPU of the hardware's sizes --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile without wg_map, in blocks or not; scf, elementwise operations and constants on its
// vectors. Out: XeGPU with offsets on its accesses, dpas of one hardware operation each; a vector
// for each block. Refused: what blocking refuses, 4D vectors in operations without a rule.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "xetile/Target/Xe/ToXeGPU/Blocks.h"
#include "xetile/Target/Xe/ToXeGPU/SharedBlocks.h"
#include "xetile/Target/Xe/ToXeGPU/SurfaceVersions.h"
#include "xetile/Target/Xe/ToXeGPU/TileAccess.h"
#include "xetile/Target/Xe/ToXeGPU/XeTileToXeGPUPatterns.h"
#include "xetile/Transforms/Piecewise.h"
#include "xetile/Transforms/TiedValues.h"

namespace xetile {
#define GEN_PASS_DEF_CONVERTXETILETOXEGPU
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

constexpr int64_t kCacheLineBytes = 64, kLanes = 16;
// Of one prefetch_tile: more would replace one another.
constexpr int64_t kMaxPrefetchLines = 16384;

struct AccessContext {
  const SurfaceVersions &versions;
  const SharedBlocks &shared;
  StringRef chip;
};

template <typename Op> struct AccessPattern : OpConversionPattern<Op> {
  AccessPattern(const TypeConverter &converter, MLIRContext *context, const AccessContext &accesses)
      : OpConversionPattern<Op>(converter, context), accesses(accesses) {}
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;

  /// A tile's surface and offsets, as remapped by the conversion.
  struct Described {
    Surface surface;
    SmallVector<Value> offsets;
  };
  static Described describe(Op op, ConversionPatternRewriter &rewriter) {
    InitTileOp init = getLocalInit(op);
    Described result{Surface::of(init), {}};
    auto remap = [&](OpFoldResult &part) {
      if (auto value = dyn_cast_if_present<Value>(part))
        part = rewriter.getRemappedValue(value);
    };
    result.surface.source = rewriter.getRemappedValue(result.surface.source);
    for (OpFoldResult *part : {&result.surface.height, &result.surface.width, &result.surface.pitch,
                               &result.surface.step})
      remap(*part);
    for (OpFoldResult offset : init.getMixedOffsets()) {
      remap(offset);
      result.offsets.push_back(getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), offset));
    }
    return result;
  }

  /// Emits the access by messages or by elements, or both behind a test. Both functions take a
  /// builder and return the blocks.
  SmallVector<Value>
  createVersions(Op op, ConversionPatternRewriter &rewriter, const Described &described,
                 bool hasMessage, TypeRange types,
                 function_ref<SmallVector<Value>(TileAccess &)> byMessages,
                 function_ref<SmallVector<Value>(TileAccess &)> byElements) const {
    Location loc = op.getLoc();
    TileType tile = op.getTile().getType();
    const TargetInfo &target = *getTargetOf(op, accesses.chip);
    const Surface &surface = described.surface;
    OpFoldResult fast = getAsOpFoldResult(described.offsets[surface.isColumnMajor ? 0 : 1]);
    SurfaceKind kind = hasMessage ? accesses.versions.get(op) : SurfaceKind::Other;
    SurfaceKind place = accesses.versions.getPlace(op);
    auto emit = [&](OpBuilder &builder, bool isMessage) {
      TileAccess access(builder, loc, tile, surface, described.offsets, target,
                        accesses.versions.getInside(op));
      return isMessage ? byMessages(access) : byElements(access);
    };
    if (kind == SurfaceKind::Other || place == SurfaceKind::Other)
      return emit(rewriter, false);
    if (kind == SurfaceKind::Block && place == SurfaceKind::Block)
      return emit(rewriter, true);
    Value condition;
    if (kind == SurfaceKind::Unknown)
      condition = surface.createTest(rewriter, loc, target);
    if (place == SurfaceKind::Unknown) {
      Value test =
          createPlaceTest(rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, fast),
                          surface.getElementBytes());
      condition =
          condition ? arith::AndIOp::create(rewriter, loc, condition, test).getResult() : test;
    }
    auto versions = scf::IfOp::create(rewriter, loc, types, condition, /*addThenBlock=*/true,
                                      /*addElseBlock=*/true);
    for (bool isMessage : {true, false}) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(isMessage ? versions.thenBlock() : versions.elseBlock());
      SmallVector<Value> blocks = emit(rewriter, isMessage);
      scf::YieldOp::create(rewriter, loc, blocks);
    }
    return llvm::to_vector_of<Value>(versions.getResults());
  }

  const AccessContext &accesses;
};

struct ConvertLoadTile : AccessPattern<LoadTileOp> {
  using AccessPattern::AccessPattern;
  LogicalResult matchAndRewrite(LoadTileOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Described described = describe(op, rewriter);
    if (const SharedBlock *block = accesses.shared.get(op)) {
      SmallVector<Value> blocks =
          SharedBlocks::load(rewriter, op, described.surface.source, described.offsets, *block);
      rewriter.replaceOpWithMultiple(op, {blocks});
      return success();
    }
    TileAccess shape(rewriter, op.getLoc(), op.getTile().getType(), described.surface,
                     described.offsets, *getTargetOf(op, accesses.chip),
                     accesses.versions.getInside(op));
    SmallVector<Type> types(shape.getNumBlocks(), shape.getBlockType());
    TypedAttr padding = op.hasZeroPadding() ? TypedAttr() : op.getPaddingAttr();
    SmallVector<Value> blocks = createVersions(
        op, rewriter, described, shape.hasMessage(BlockAccess::Load), types,
        [&](TileAccess &access) { return access.loadMessages(padding); },
        [&](TileAccess &access) { return access.loadElements(padding); });
    rewriter.replaceOpWithMultiple(op, {blocks});
    return success();
  }
};

struct ConvertStoreTile : AccessPattern<StoreTileOp> {
  using AccessPattern::AccessPattern;
  LogicalResult matchAndRewrite(StoreTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Described described = describe(op, rewriter);
    TileAccess shape(rewriter, op.getLoc(), op.getTile().getType(), described.surface,
                     described.offsets, *getTargetOf(op, accesses.chip),
                     accesses.versions.getInside(op));
    SmallVector<Value> blocks = getBlocks(rewriter, op.getLoc(), op.getValue(), adaptor.getValue());
    if (const SharedBlock *block = accesses.shared.get(op)) {
      SharedBlocks::store(rewriter, op, described.surface.source, described.offsets, blocks,
                          *block);
      rewriter.eraseOp(op);
      return success();
    }
    createVersions(
        op, rewriter, described, shape.hasMessage(BlockAccess::Store), TypeRange(),
        [&](TileAccess &access) {
          access.storeMessages(blocks);
          return SmallVector<Value>();
        },
        [&](TileAccess &access) {
          access.storeElements(blocks);
          return SmallVector<Value>();
        });
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertPrefetchTile : AccessPattern<PrefetchTileOp> {
  using AccessPattern::AccessPattern;
  LogicalResult matchAndRewrite(PrefetchTileOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    TileType tile = op.getTile().getType();
    const TargetInfo &target = *getTargetOf(op, accesses.chip);
    PlanRequest request;
    request.target = &target;
    request.access = BlockAccess::Prefetch;
    request.elemBits = memoryBits(tile.getElementType());
    request.shape = {uint64_t(tile.getDimSize(0)), uint64_t(tile.getDimSize(1))};
    if (tile.isColumnMajor())
      std::swap(request.shape[0], request.shape[1]);
    // Rows that are too short for messages are prefetched line by line.
    Result<TileMessages> plan = planTile(request);
    bool hasMessage = bool(plan) && plan->shape.elemBits == request.elemBits;
    TileMessages messages;
    if (hasMessage)
      messages = *plan;
    if (tile.isColumnMajor())
      for (BlockMessage &message : messages.messages)
        std::swap(message.row, message.col);
    CacheHints hints = CacheHints::forPrefetches(op.getContext(), op.getLocality());
    createVersions(
        op, rewriter, describe(op, rewriter), hasMessage, TypeRange(),
        [&](TileAccess &access) {
          access.prefetchMessages(messages.shape, messages.messages, hints);
          return SmallVector<Value>();
        },
        [&](TileAccess &access) {
          access.prefetchLines(hints);
          return SmallVector<Value>();
        });
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertAtomicRMWTile : AccessPattern<AtomicRMWTileOp> {
  using AccessPattern::AccessPattern;
  LogicalResult matchAndRewrite(AtomicRMWTileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Described described = describe(op, rewriter);
    TileAccess access(rewriter, op.getLoc(), op.getTile().getType(), described.surface,
                      described.offsets, *getTargetOf(op, accesses.chip),
                      accesses.versions.getInside(op));
    SmallVector<Value> results = access.updateElements(
        op.getKind(), getBlocks(rewriter, op.getLoc(), op.getValue(), adaptor.getValue()));
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

// Scattered accesses take vectors as they are: where these are in pieces, the conversion puts them
// together, as for operations without a rule.
struct ConvertLoadGather : OpConversionPattern<LoadGatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LoadGatherOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    InitTileOp init = getLocalInit(op);
    VectorType type = op.getValue().getType();
    CacheHints hints = CacheHints::forLoads(op.getContext());
    Value loaded = xegpu::LoadGatherOp::create(
        rewriter, op.getLoc(), type, init.getSource(), init.getIndices(), op.getMask(),
        IntegerAttr(), hints.l1, hints.l1, hints.l3, xegpu::DistributeLayoutAttr());
    Attribute padding =
        op.getPadding() ? Attribute(*op.getPadding()) : rewriter.getZeroAttr(type.getElementType());
    Value fill =
        arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, padding));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, op.getMask(), loaded, fill);
    return success();
  }
};

struct ConvertStoreScatter : OpConversionPattern<StoreScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(StoreScatterOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    InitTileOp init = getLocalInit(op);
    CacheHints hints = CacheHints::forStores(op.getContext());
    xegpu::StoreScatterOp::create(rewriter, op.getLoc(), op.getValue(), init.getSource(),
                                  init.getIndices(), op.getMask(), IntegerAttr(), hints.l1,
                                  hints.l1, hints.l3, xegpu::DistributeLayoutAttr());
    rewriter.eraseOp(op);
    return success();
  }
};

/// An atomic operation of XeGPU has an element for each lane.
struct ConvertAtomicRMWScatter : OpConversionPattern<AtomicRMWScatterOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AtomicRMWScatterOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    InitTileOp init = getLocalInit(op);
    VectorType type = op.getValue().getType();
    int64_t number = type.getNumElements();
    auto inOneRow = [&](Value vector) -> Value {
      Type element = cast<VectorType>(vector.getType()).getElementType();
      return vector::ShapeCastOp::create(rewriter, loc, VectorType::get({number}, element), vector);
    };
    Value places = inOneRow(init.getIndices()), mask = inOneRow(op.getMask()),
          values = inOneRow(op.getValue());
    for (int64_t start = 0; start < number; start += kLanes) {
      int64_t count = std::min<int64_t>(kLanes, number - start);
      auto part = [&](Value row) -> Value {
        return vector::ExtractStridedSliceOp::create(rewriter, loc, row, ArrayRef<int64_t>{start},
                                                     ArrayRef<int64_t>{count},
                                                     ArrayRef<int64_t>{1});
      };
      auto descriptorType =
          xegpu::TensorDescType::get({count}, type.getElementType(), /*chunk_size=*/1,
                                     xegpu::MemorySpace::Global, /*layout=*/nullptr);
      Value descriptor = xegpu::CreateDescOp::create(rewriter, loc, descriptorType,
                                                     init.getSource(), part(places));
      xegpu::AtomicRMWOp::create(rewriter, loc, VectorType::get({count}, type.getElementType()),
                                 op.getKind(), descriptor, part(mask), part(values),
                                 /*layout=*/xegpu::DistributeLayoutAttr());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

bool isBlocked(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 4 && !vector.isScalable();
}

/// Refuses prefetches that would not be a program.
LogicalResult checkPrefetch(PrefetchTileOp op) {
  TileType tile = op.getTile().getType();
  int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1);
  if (tile.isColumnMajor())
    std::swap(rows, columns);
  int64_t lines =
      rows * llvm::divideCeil(columns * memoryBits(tile.getElementType()) / 8, kCacheLineBytes);
  if (lines <= kMaxPrefetchLines)
    return success();
  return op.emitOpError("has a tile of ")
         << lines << " cache lines, expected at most " << kMaxPrefetchLines
         << "; use more subgroups or a smaller tile";
}

/// Refuses operations that would be left with a vector of blocks.
LogicalResult checkBlocked(Operation *op) {
  if (auto prefetch = dyn_cast<PrefetchTileOp>(op))
    return checkPrefetch(prefetch);
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    for (Type type :
         llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      if (isBlocked(type) && !function.isExternal())
        return op->emitOpError("has a vector of blocks in its signature, ")
               << type << "; expected 2D vectors, or blocks that are loaded where they are used";
  if (llvm::none_of(op->getOperandTypes(), isBlocked) &&
      llvm::none_of(op->getResultTypes(), isBlocked))
    return success();
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto broadcast = dyn_cast<vector::BroadcastOp>(op);
  if (isa_and_present<XeTileDialect>(op->getDialect()) || isElementwiseOnVectors(op) ||
      isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp, scf::YieldOp, scf::ConditionOp>(
          op) ||
      (constant && isa<DenseElementsAttr>(constant.getValue())) ||
      (broadcast && !isa<VectorType>(broadcast.getSourceType())))
    return success();
  return op->emitOpError("has no rule for vectors of blocks; expected xetile operations, scf.for, "
                         "scf.while, scf.if, scf.index_switch, elementwise operations, constants "
                         "or tile_unpack before");
}

struct ConvertXeTileToXeGPU : xetile::impl::ConvertXeTileToXeGPUBase<ConvertXeTileToXeGPU> {
  using ConvertXeTileToXeGPUBase::ConvertXeTileToXeGPUBase;

  void runOnOperation() override {
    if (failed(blockTiles(getOperation(), chip)))
      return signalPassFailure();
    auto check = [](Operation *op) { return WalkResult(checkBlocked(op)); };
    SurfaceVersions versions;
    if (getOperation()->walk(check).wasInterrupted() || failed(versions.run(getOperation(), chip)))
      return signalPassFailure();

    SharedBlocks shared;
    shared.run(getOperation(), versions);

    TypeConverter converter;
    addBlockConversions(converter);
    MLIRContext *context = &getContext();
    AccessContext accesses{versions, shared, chip};
    RewritePatternSet patterns(context);
    patterns.add<ConvertLoadTile, ConvertStoreTile, ConvertPrefetchTile, ConvertAtomicRMWTile>(
        converter, context, accesses);
    patterns.add<ConvertLoadGather, ConvertStoreScatter, ConvertAtomicRMWScatter>(converter,
                                                                                  context);
    populateBlockPatterns(converter, patterns);
    populatePiecewisePatterns(converter, patterns, isElementwiseOnVectors);
    scf::populateSCFStructuralTypeConversions(converter, patterns);
    ConversionTarget target(*context);
    target.addIllegalDialect<XeTileDialect>();
    target.addLegalOp<InitTileOp>(); // of what is described by them until the end
    target.addDynamicallyLegalOp<vector::ExtractStridedSliceOp>(
        [](vector::ExtractStridedSliceOp op) { return !isInBlocks(op.getResult()); });
    target.markUnknownOpDynamicallyLegal([](Operation *op) {
      return llvm::none_of(op->getOperandTypes(), isBlocked) &&
             llvm::none_of(op->getResultTypes(), isBlocked);
    });
    // Folding would make new values, which no analysis has seen.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      return signalPassFailure();
    SmallVector<Operation *> descriptions;
    getOperation()->walk([&](InitTileOp op) { descriptions.push_back(op); });
    for (Operation *op : descriptions)
      op->erase();
  }
};
} // namespace
