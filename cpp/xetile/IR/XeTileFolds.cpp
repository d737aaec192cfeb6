//===- XeTileFolds.cpp - folds and canonicalisations of XeTile operations ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;
using namespace xetile;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Folds operands of a mixed list that are constants. Returns true on change.
static bool foldMixedList(ArrayRef<Attribute> constants, ArrayRef<int64_t> statics,
                          MutableOperandRange dynamics, SmallVectorImpl<int64_t> &newStatics) {
  SmallVector<Value> remaining;
  unsigned next = 0;
  for (int64_t value : statics) {
    if (ShapedType::isDynamic(value)) {
      auto constant = dyn_cast_or_null<IntegerAttr>(constants[next]);
      // The marker of a dynamic value cannot be written as a static one.
      if (constant && !ShapedType::isDynamic(constant.getInt()))
        value = constant.getInt();
      else
        remaining.push_back(dynamics[next].get());
      ++next;
    }
    newStatics.push_back(value);
  }
  if (remaining.size() == dynamics.size())
    return false;
  dynamics.assign(remaining);
  return true;
}

OpFoldResult InitTileOp::fold(FoldAdaptor adaptor) {
  SmallVector<int64_t> offsets, shape, strides;
  bool changed =
      foldMixedList(adaptor.getOffsets(), getStaticOffsets(), getOffsetsMutable(), offsets);
  changed |=
      foldMixedList(adaptor.getBaseShape(), getStaticBaseShape(), getBaseShapeMutable(), shape);
  changed |= foldMixedList(adaptor.getBaseStrides(), getStaticBaseStrides(),
                           getBaseStridesMutable(), strides);
  if (!changed)
    return {};
  setStaticOffsets(offsets);
  setStaticBaseShape(shape);
  setStaticBaseStrides(strides);
  return getResult();
}

OpFoldResult UpdateTileOffsetOp::fold(FoldAdaptor adaptor) {
  if (getIndexDeltas()) {
    auto deltas = dyn_cast_or_null<DenseIntElementsAttr>(adaptor.getIndexDeltas());
    return deltas && deltas.isSplat() && deltas.getSplatValue<APInt>().isZero() ? getTile()
                                                                                : OpFoldResult();
  }
  if (llvm::all_of(getStaticDeltas(), [](int64_t delta) { return delta == 0; }))
    return getTile();
  SmallVector<int64_t> deltas;
  if (!foldMixedList(adaptor.getDeltas(), getStaticDeltas(), getDeltasMutable(), deltas))
    return {};
  setStaticDeltas(deltas);
  return getResult();
}

/// `first + second`; nothing where the sum of two constants overflows.
static std::optional<OpFoldResult> addDeltas(RewriterBase &rewriter, Location loc,
                                             OpFoldResult first, OpFoldResult second) {
  std::optional<int64_t> a = getConstantIntValue(first), b = getConstantIntValue(second);
  if (a == 0)
    return second;
  if (b == 0)
    return first;
  int64_t sum;
  if (a && b) {
    if (llvm::AddOverflow(*a, *b, sum) || ShapedType::isDynamic(sum))
      return std::nullopt;
    return rewriter.getIndexAttr(sum);
  }
  Value left = getValueOrCreateConstantIndexOp(rewriter, loc, first),
        right = getValueOrCreateConstantIndexOp(rewriter, loc, second);
  return OpFoldResult(rewriter.createOrFold<arith::AddIOp>(loc, left, right));
}

/// An update of an update is one update by the sum.
LogicalResult UpdateTileOffsetOp::canonicalize(UpdateTileOffsetOp op, PatternRewriter &rewriter) {
  auto first = op.getTile().getDefiningOp<UpdateTileOffsetOp>();
  if (!first)
    return rewriter.notifyMatchFailure(op, "does not move a tile that was just moved");
  if (op.getIndexDeltas()) {
    Value sum = rewriter.createOrFold<arith::AddIOp>(op.getLoc(), first.getIndexDeltas(),
                                                     op.getIndexDeltas());
    rewriter.modifyOpInPlace(op, [&] {
      op.getTileMutable().set(first.getTile());
      op.getIndexDeltasMutable().assign(sum);
    });
    return success();
  }
  SmallVector<OpFoldResult> sums;
  for (auto [a, b] : llvm::zip_equal(first.getMixedDeltas(), op.getMixedDeltas())) {
    std::optional<OpFoldResult> sum = addDeltas(rewriter, op.getLoc(), a, b);
    if (!sum)
      return rewriter.notifyMatchFailure(op, "the sum of the deltas overflows");
    sums.push_back(*sum);
  }
  rewriter.replaceOpWithNewOp<UpdateTileOffsetOp>(op, first.getTile(), sums);
  return success();
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// A constant with equal elements, as one of another shape; null for other attributes.
static Attribute reshapeSplat(Attribute constant, Type type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(constant);
  return splat ? splat.resizeSplat(cast<ShapedType>(type)) : Attribute();
}

OpFoldResult TileTransposeOp::fold(FoldAdaptor adaptor) {
  if (getPermutation() == ArrayRef<int64_t>{0, 1})
    return getVector();
  auto first = getVector().getDefiningOp<TileTransposeOp>();
  if (first && first.getPermutation() == getPermutation())
    return first.getVector();
  // A constant has no place for the map.
  return getWgMapAttr() ? Attribute() : reshapeSplat(adaptor.getVector(), getType());
}

OpFoldResult TileBroadcastOp::fold(FoldAdaptor adaptor) {
  if (getVector().getType() == getType() && !getWgMapAttr())
    return getVector();
  return getWgMapAttr() ? Attribute() : reshapeSplat(adaptor.getVector(), getType());
}

OpFoldResult TilePackOp::fold(FoldAdaptor adaptor) {
  auto unpack = getVector().getDefiningOp<TileUnpackOp>();
  if (unpack && unpack.getVector().getType() == getType())
    return unpack.getVector();
  return reshapeSplat(adaptor.getVector(), getType());
}

OpFoldResult TileUnpackOp::fold(FoldAdaptor adaptor) {
  if (auto pack = getVector().getDefiningOp<TilePackOp>())
    return pack.getVector();
  return reshapeSplat(adaptor.getVector(), getType());
}

OpFoldResult TileConvLayoutOp::fold(FoldAdaptor) {
  WgMapAttr source = getSourceWgMapAttr();
  if (!source)
    source = getStatedWgMap(getVector());
  bool movesNothing = source && haveSamePieces(source, getWgMapAttr(), getType().getShape());
  return movesNothing ? getVector() : Value();
}

// Without a layout it has nothing to say.
OpFoldResult ConvertLanesOp::fold(FoldAdaptor) {
  return getOperation()->hasAttr(lanesAttr) ? Value() : getSource();
}
