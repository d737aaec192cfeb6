//===- XeTileToVector.cpp - XeTile of one subgroup to vectors and memrefs --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile without wg_map, 2D or blocked, in any of its memory forms.
// Out: vector, memref, arith and scf (llvm and cf where a matrix is given by its address); no
// XeTile. Refused: wg_maps, tf32 and integers with a sign in their type, tiles in operations
// without a rule.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "xetile/Conversion/Passes.h"
#include "xetile/Conversion/XeTileToVectorPatterns.h"
#include "xetile/IR/NeutralValue.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"

namespace xetile {
#define GEN_PASS_DEF_CONVERTXETILETOVECTOR
#include "xetile/Conversion/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value xetile::packVector(OpBuilder &builder, Location loc, Value vector, ArrayRef<int64_t> blocks) {
  auto type = cast<VectorType>(vector.getType());
  SmallVector<int64_t> shape{type.getDimSize(0) / blocks[0], blocks[0],
                             type.getDimSize(1) / blocks[1], blocks[1]};
  Value split = vector::ShapeCastOp::create(builder, loc,
                                            VectorType::get(shape, type.getElementType()), vector);
  return vector::TransposeOp::create(builder, loc, split, ArrayRef<int64_t>{0, 2, 1, 3});
}

Value xetile::unpackVector(OpBuilder &builder, Location loc, Value blocks) {
  auto type = cast<VectorType>(blocks.getType());
  ArrayRef<int64_t> shape = type.getShape();
  Value rows = vector::TransposeOp::create(builder, loc, blocks, ArrayRef<int64_t>{0, 2, 1, 3});
  auto matrix = VectorType::get({shape[0] * shape[2], shape[1] * shape[3]}, type.getElementType());
  return vector::ShapeCastOp::create(builder, loc, matrix, rows);
}

namespace {

//===----------------------------------------------------------------------===//
// Rewrites of the operations on vectors
//===----------------------------------------------------------------------===//

/// Blocked matrices are multiplied as whole ones, which later lowerings handle best.
struct ConvertTileMma : OpConversionPattern<TileMmaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileMmaOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType result = op.getResult().getType();
    bool isBlocked = result.getRank() == 4;
    Type sum = result.getElementType();
    auto toMatrix = [&](Value vector, bool isUnsigned = false) -> Value {
      if (isBlocked)
        vector = unpackVector(rewriter, loc, vector);
      auto type = cast<VectorType>(vector.getType()), wide = VectorType::get(type.getShape(), sum);
      if (type == wide)
        return vector;
      if (isUnsigned)
        return arith::ExtUIOp::create(rewriter, loc, wide, vector);
      return isa<FloatType>(sum) ? arith::ExtFOp::create(rewriter, loc, wide, vector).getResult()
                                 : arith::ExtSIOp::create(rewriter, loc, wide, vector).getResult();
    };
    Value a = toMatrix(op.getA(), op.getUnsignedA()), b = toMatrix(op.getB(), op.getUnsignedB()), c;
    if (op.getC()) {
      c = toMatrix(op.getC());
    } else {
      auto type = VectorType::get({cast<VectorType>(a.getType()).getDimSize(0),
                                   cast<VectorType>(b.getType()).getDimSize(1)},
                                  sum);
      c = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    }
    AffineExpr m, n, k;
    bindDims(getContext(), m, n, k);
    using Iterator = vector::IteratorType;
    Value d = vector::ContractionOp::create(
        rewriter, loc, a, b, c, ArrayRef<ArrayRef<AffineExpr>>{{m, k}, {k, n}, {m, n}},
        ArrayRef<Iterator>{Iterator::parallel, Iterator::parallel, Iterator::reduction});
    rewriter.replaceOp(op, isBlocked ? packVector(rewriter, loc, d, result.getShape().take_back(2))
                                     : d);
    return success();
  }
};

struct ConvertTileTranspose : OpConversionPattern<TileTransposeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileTransposeOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::TransposeOp>(op, op.getVector(), op.getPermutation());
    return success();
  }
};

struct ConvertTileReduce : OpConversionPattern<TileReduceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileReduceOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    VectorType type = op.getVector().getType();
    Value vector = op.getVector();
    // Exact for minima and maxima, closer for sums, and LLVM's code generation stops at some
    // reductions of narrow floats.
    bool isNarrow = type.getElementType().isF16() || type.getElementType().isBF16();
    if (isNarrow) {
      type = VectorType::get(type.getShape(), rewriter.getF32Type());
      vector = arith::ExtFOp::create(rewriter, loc, type, vector);
    }
    SmallVector<bool> reduced(type.getRank(), false);
    for (int64_t dim : op.getReductionDims())
      reduced[dim] = true;
    SmallVector<int64_t> kept;
    for (auto [size, isReduced] : llvm::zip_equal(type.getShape(), reduced))
      if (!isReduced)
        kept.push_back(size);
    TypedAttr neutral = getNeutralValue(op.getKind(), type.getElementType());
    if (!kept.empty())
      neutral =
          DenseElementsAttr::get(VectorType::get(kept, type.getElementType()), Attribute(neutral));
    Value start = arith::ConstantOp::create(rewriter, loc, neutral);
    Value result =
        vector::MultiDimReductionOp::create(rewriter, loc, vector, start, reduced, op.getKind());
    auto resultType = VectorType::get(op.getType().getShape(), type.getElementType());
    if (kept.empty())
      result = vector::BroadcastOp::create(rewriter, loc, resultType, result);
    else
      result = vector::ShapeCastOp::create(rewriter, loc, resultType, result);
    if (isNarrow)
      result = arith::TruncFOp::create(rewriter, loc, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ConvertTileBroadcast : OpConversionPattern<TileBroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileBroadcastOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, op.getType(), op.getVector());
    return success();
  }
};

struct ConvertTilePack : OpConversionPattern<TilePackOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TilePackOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, packVector(rewriter, op.getLoc(), op.getVector(), op.getInnerBlocks()));
    return success();
  }
};

struct ConvertTileUnpack : OpConversionPattern<TileUnpackOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TileUnpackOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, unpackVector(rewriter, op.getLoc(), op.getVector()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

bool hasTile(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isa<TileType>(type); });
}

/// The verifier asks the same of what is in the operation itself; constants beside it that no
/// folding has brought there are as well known.
LogicalResult checkConstantBase(InitTileOp op) {
  SmallVector<OpFoldResult> shape = op.getMixedBaseShape(), strides = op.getMixedBaseStrides();
  for (const auto &[what, parts] : {std::pair("sizes", shape), std::pair("strides", strides)})
    for (OpFoldResult part : parts)
      if (std::optional<int64_t> value = getConstantIntValue(part); value && *value < 1)
        return op.emitOpError("expected base ") << what << " to be positive, got " << *value;
  bool isColumnMajor = op.getTile().getType().isColumnMajor();
  unsigned fastest = isColumnMajor ? 0 : 1;
  if (strides.empty() || getConstantIntValue(strides[fastest]).value_or(1) == 1)
    return success();
  return op.emitOpError("expected stride 1 in dimension ")
         << fastest << ", the fastest-changing one of a " << (isColumnMajor ? "column" : "row")
         << "-major tile, got " << *getConstantIntValue(strides[fastest])
         << "; order = " << (isColumnMajor ? "[1, 0]" : "[0, 1]") << " describes the other layout";
}

/// Checks what the rewrites rely on, with an error at the operation.
LogicalResult check(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (hasTile(block.getArgumentTypes()) &&
          !(isa<scf::ForOp, scf::WhileOp>(op) || (isa<func::FuncOp>(op) && block.isEntryBlock())))
        return op->emitOpError("has a tile as argument of a block and no rule for it; expected "
                               "tiles in scf.for, scf.while or arguments of func.func");
  if (auto function = dyn_cast<FunctionOpInterface>(op); function && !isa<func::FuncOp>(op))
    if (hasTile(function.getArgumentTypes()) || hasTile(function.getResultTypes()))
      return op->emitOpError("has a tile in its signature and no rule for it; expected func.func, "
                             "or memrefs");
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (auto tile = dyn_cast<TileType>(type); tile && tile.getWgMap())
      return op->emitOpError("has a tile with a wg_map: expected subgroup-level code, run "
                             "xetile-wg-to-sg before");
  if (!isa_and_present<XeTileDialect>(op->getDialect())) {
    if (!hasTile(types) || isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp,
                               scf::IndexSwitchOp, func::CallOp, func::ReturnOp>(op))
      return success();
    return op->emitOpError(
        "has no rule for its tiles; expected xetile operations, scf.for, scf.if, "
        "scf.while, scf.index_switch, func.call or func.return");
  }
  if (getResultWgMap(op))
    return op->emitOpError(
        "has a wg_map: expected subgroup-level code, run xetile-wg-to-sg before");
  auto init = dyn_cast<InitTileOp>(op);
  if (init && !init.getTile().getType().isScattered()) {
    if (failed(checkConstantBase(init)))
      return failure();
    if (auto memref = dyn_cast<MemRefType>(init.getSource().getType());
        memref && !memref.isStrided())
      return op->emitOpError("has a matrix whose layout is not strided: ")
             << memref << "; run normalize-memrefs before, or write it as a strided layout";
  }
  for (Type type : types) {
    Type element = getElementTypeOrSelf(type);
    auto integer = dyn_cast<IntegerType>(element);
    if (isa<FloatTF32Type>(element) || (integer && !integer.isSignless()))
      return op->emitOpError("has elements of type ")
             << element
             << ", which the host has no arithmetic for; expected floats of IEEE's formats, bf16 "
                "or "
                "integers without a sign in their type";
  }
  return success();
}

struct ConvertXeTileToVector : xetile::impl::ConvertXeTileToVectorBase<ConvertXeTileToVector> {
  void runOnOperation() override {
    auto checkOne = [](Operation *op) { return WalkResult(check(op)); };
    if (getOperation()->walk(checkOne).wasInterrupted())
      return signalPassFailure();

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](TileType tile, SmallVectorImpl<Type> &types) -> LogicalResult {
      if (tile.isScattered())
        types.append({getScatteredBaseType(tile),
                      VectorType::get(tile.getShape(), IndexType::get(tile.getContext()))});
      else
        types.append(MemoryTile::getTypes(tile));
      return success();
    });

    MLIRContext *context = &getContext();
    StackBuffers buffers;
    RewritePatternSet patterns(context);
    patterns.add<ConvertTileMma, ConvertTileTranspose, ConvertTileReduce, ConvertTileBroadcast,
                 ConvertTilePack, ConvertTileUnpack>(converter, context);
    populateTileAccessPatterns(converter, patterns, buffers);
    scf::populateSCFStructuralTypeConversions(converter, patterns);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
    populateCallOpTypeConversionPattern(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);

    ConversionTarget target(*context);
    target.addIllegalDialect<XeTileDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *op) {
      if (auto function = dyn_cast<FunctionOpInterface>(op))
        return !hasTile(function.getArgumentTypes()) && !hasTile(function.getResultTypes());
      return !hasTile(op->getOperandTypes()) && !hasTile(op->getResultTypes());
    });
    // Preconditions of the patterns were verified; canonicalization folds before or after.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
