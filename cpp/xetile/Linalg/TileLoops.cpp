//===- LoopNest.cpp - loops over tiles and slices of operands ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: extents, steps, offsets. Out: scf.for, affine.min, slices; constants wherever they are known.
// Nothing is refused: callers pass positive steps.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/TileLoops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace xetile;

static Index apply(OpBuilder &builder, Location loc, AffineExpr expr, ArrayRef<Index> operands) {
  return affine::makeComposedFoldedAffineApply(builder, loc,
                                               AffineMap::get(0, operands.size(), expr), operands);
}

Index xetile::addIndex(OpBuilder &builder, Location loc, Index a, Index b) {
  if (isZeroInteger(a))
    return b;
  if (isZeroInteger(b))
    return a;
  return apply(builder, loc, builder.getAffineSymbolExpr(0) + builder.getAffineSymbolExpr(1),
               {a, b});
}

Index xetile::subIndex(OpBuilder &builder, Location loc, Index a, Index b) {
  return apply(builder, loc, builder.getAffineSymbolExpr(0) - builder.getAffineSymbolExpr(1),
               {a, b});
}

Index xetile::minIndex(OpBuilder &builder, Location loc, Index a, Index b) {
  if (a == b)
    return a;
  MLIRContext *context = builder.getContext();
  AffineMap map = AffineMap::get(
      0, 2, {builder.getAffineSymbolExpr(0), builder.getAffineSymbolExpr(1)}, context);
  return affine::makeComposedFoldedAffineMin(builder, loc, map, {a, b});
}

Index xetile::maxIndex(OpBuilder &builder, Location loc, Index a, Index b) {
  if (a == b)
    return a;
  MLIRContext *context = builder.getContext();
  AffineMap map = AffineMap::get(
      0, 2, {builder.getAffineSymbolExpr(0), builder.getAffineSymbolExpr(1)}, context);
  return affine::makeComposedFoldedAffineMax(builder, loc, map, {a, b});
}

Index xetile::mulIndex(OpBuilder &builder, Location loc, Index a, int64_t factor) {
  return factor == 1 ? a : apply(builder, loc, builder.getAffineSymbolExpr(0) * factor, {a});
}

Index xetile::floorDivIndex(OpBuilder &builder, Location loc, Index a, int64_t divisor) {
  return divisor == 1 ? a
                      : apply(builder, loc, builder.getAffineSymbolExpr(0).floorDiv(divisor), {a});
}

Index xetile::ceilDivIndex(OpBuilder &builder, Location loc, Index a, int64_t divisor) {
  return divisor == 1 ? a
                      : apply(builder, loc, builder.getAffineSymbolExpr(0).ceilDiv(divisor), {a});
}

Value xetile::asValue(OpBuilder &builder, Location loc, Index index) {
  return getValueOrCreateConstantIndexOp(builder, loc, index);
}

Value xetile::forEachTile(OpBuilder &builder, Location loc, Index extent, int64_t step, Value init,
                          TileBody body) {
  auto one = [&](Index offset, Index size, ValueRange carried) -> SmallVector<Value> {
    return {body(offset, size, carried[0])};
  };
  return forEachTile(builder, loc, extent, step, ValueRange(init), one)[0];
}

SmallVector<Value> xetile::forEachTile(OpBuilder &builder, Location loc, Index extent, int64_t step,
                                       ValueRange inits, TilesBody body, bool atLeastOnce) {
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (known && *known <= step)
    return body(builder.getIndexAttr(0), extent, inits);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value stride = arith::ConstantIndexOp::create(builder, loc, step);
  Value bound = asValue(builder, loc, extent);
  if (atLeastOnce)
    bound = arith::MaxSIOp::create(builder, loc, bound,
                                   arith::ConstantIndexOp::create(builder, loc, 1));
  auto loop = scf::ForOp::create(builder, loc, zero, bound, stride, inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Index offset = loop.getInductionVar(), size = builder.getIndexAttr(step);
  if (atLeastOnce || (step != 1 && (!known || *known % step != 0)))
    size = minIndex(builder, loc, size, subIndex(builder, loc, extent, offset));
  scf::YieldOp::create(builder, loc, body(offset, size, loop.getRegionIterArgs()));
  return llvm::to_vector_of<Value>(loop.getResults());
}

namespace {
/// Offsets, sizes and strides of a slice, and its type without the dropped dimensions.
struct Slice {
  SmallVector<Index> offsets, sizes, strides;
  RankedTensorType type;
  bool whole = true;
};
} // namespace

static Slice makeSlice(OpBuilder &builder, RankedTensorType source, AffineMap map,
                       ArrayRef<Index> offsets, ArrayRef<Index> sizes, ArrayRef<unsigned> drop) {
  Slice slice;
  SmallVector<int64_t> shape;
  for (auto [number, expr] : llvm::enumerate(map.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    slice.offsets.push_back(offsets[dim]);
    slice.sizes.push_back(sizes[dim]);
    slice.strides.push_back(builder.getIndexAttr(1));
    std::optional<int64_t> size = getConstantIntValue(sizes[dim]);
    slice.whole &= isZeroInteger(offsets[dim]) && size && *size == source.getDimSize(number);
    if (llvm::is_contained(drop, dim))
      slice.whole = false;
    else
      shape.push_back(size.value_or(ShapedType::kDynamic));
  }
  slice.type = RankedTensorType::get(shape, source.getElementType());
  return slice;
}

Value xetile::extractTile(OpBuilder &builder, Location loc, Value source, AffineMap map,
                          ArrayRef<Index> offsets, ArrayRef<Index> sizes, ArrayRef<unsigned> drop) {
  auto type = cast<RankedTensorType>(source.getType());
  Slice slice = makeSlice(builder, type, map, offsets, sizes, drop);
  if (slice.whole)
    return source;
  return tensor::ExtractSliceOp::create(builder, loc, slice.type, source, slice.offsets,
                                        slice.sizes, slice.strides);
}

Value xetile::insertTile(OpBuilder &builder, Location loc, Value tile, Value destination,
                         AffineMap map, ArrayRef<Index> offsets, ArrayRef<Index> sizes) {
  auto type = cast<RankedTensorType>(destination.getType());
  Slice slice = makeSlice(builder, type, map, offsets, sizes, {});
  // A tile without its batch dimensions of one is not yet the whole.
  if (slice.whole && tile.getType() == type)
    return tile;
  return tensor::InsertSliceOp::create(builder, loc, tile, destination, slice.offsets, slice.sizes,
                                       slice.strides);
}
