//===- TileGathers.cpp - elements of tensors at any indices -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tensor and a vector of indices for each of its dimensions. Out: the vector of its elements
// there: gathered from memory, or computed of what is gathered. Refused: what reduces, inserts or
// concatenates, which has to be in memory.
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Tiles/TileWriter.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xetile::transform_ops {

/// Where elements of a collapsed tensor were: for each dimension of its source, a quotient and a
/// remainder.
SmallVector<AffineExpr> delinearize(tensor::CollapseShapeOp op, ArrayRef<int64_t> shape) {
  SmallVector<AffineExpr> places(shape.size());
  for (auto [number, group] : llvm::enumerate(op.getReassociationIndices())) {
    AffineExpr rest = getAffineDimExpr(number, op.getContext());
    for (int64_t dim : llvm::reverse(group)) {
      places[dim] = dim == group.front() ? rest : rest % shape[dim];
      if (dim != group.front())
        rest = rest.floorDiv(shape[dim]);
    }
  }
  return places;
}

bool hasKnownInnerSizes(ArrayRef<int64_t> wide, ArrayRef<ReassociationIndices> groups) {
  return llvm::all_of(groups, [&](const ReassociationIndices &group) {
    return llvm::none_of(llvm::drop_begin(group),
                         [&](int64_t dim) { return ShapedType::isDynamic(wide[dim]); });
  });
}

SmallVector<int64_t> TileWriter::numbersOf(Value tensor) {
  return llvm::map_to_vector(extents.of(tensor), [](const Extent &each) { return each.number; });
}

FailureOr<Value> TileWriter::valueAt(Operation *reader, Value tensor, ArrayRef<Value> indices) {
  if (TypedAttr constant = getSplat(tensor))
    return splat(constant);
  if (isInMemory(tensor))
    return gather(tensor, indices, {});
  if (!tensor.getDefiningOp())
    return refuse(reader, "expected what is read by indices to be in memory, a loop carries it");
  if (failed(enter(reader)))
    return failure();
  llvm::scope_exit leave([&] { --depth; });
  if (auto op = tensor.getDefiningOp<linalg::LinalgOp>();
      op && op.getNumLoops() == op.getNumParallelLoops())
    return computedAt(op, cast<OpResult>(tensor).getResultNumber(), indices);
  if (auto pad = tensor.getDefiningOp<tensor::PadOp>())
    return paddedAt(pad, indices);
  return movedAt(reader, tensor.getDefiningOp(), indices);
}

/// The same elements where an op that only moves them found them.
FailureOr<Value> TileWriter::movedAt(Operation *reader, Operation *op, ArrayRef<Value> indices) {
  SmallVector<AffineExpr> inner;
  MLIRContext *context = op->getContext();
  bool known = TypeSwitch<Operation *, bool>(op)
                   .Case([&](tensor::CastOp cast) {
                     for (unsigned dim = 0; dim < indices.size(); ++dim)
                       inner.push_back(getAffineDimExpr(dim, context));
                     return true;
                   })
                   .Case([&](tensor::CollapseShapeOp collapse) {
                     SmallVector<int64_t> shape = numbersOf(collapse.getSrc());
                     if (!hasKnownInnerSizes(shape, collapse.getReassociationIndices()))
                       return false;
                     inner = delinearize(collapse, shape);
                     return true;
                   })
                   .Case([&](tensor::ExpandShapeOp expand) {
                     SmallVector<int64_t> shape = numbersOf(expand.getResult());
                     if (!hasKnownInnerSizes(shape, expand.getReassociationIndices()))
                       return false;
                     for (const ReassociationIndices &group : expand.getReassociationIndices()) {
                       AffineExpr whole = getAffineConstantExpr(0, context);
                       for (int64_t dim : group)
                         whole = (dim == group.front() ? whole : whole * shape[dim]) +
                                 getAffineDimExpr(dim, context);
                       inner.push_back(whole);
                     }
                     return true;
                   })
                   .Case([&](tensor::ExtractSliceOp slice) {
                     unsigned next = 0;
                     llvm::SmallBitVector dropped = slice.getDroppedDims();
                     for (auto [dim, offset, step] :
                          llvm::enumerate(slice.getStaticOffsets(), slice.getStaticStrides())) {
                       if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(step))
                         return false;
                       inner.push_back(dropped.test(dim)
                                           ? getAffineConstantExpr(offset, context)
                                           : getAffineDimExpr(next++, context) * step + offset);
                     }
                     return true;
                   })
                   .Default([](Operation *) { return false; });
  SmallVector<Value> vectors;
  for (AffineExpr expr : inner) {
    FailureOr<Value> vector = this->indices(expr, indices.size(), indices);
    if (known = known && succeeded(vector); !known)
      break;
    vectors.push_back(*vector);
  }
  if (!known)
    return refuse(reader,
                  "expected what is read by indices to be in memory, or computed element by "
                  "element of what is: it is computed by " +
                      op->getName().getStringRef());
  return valueAt(reader, op->getOperand(0), vectors);
}

/// Elements of the padded tensor where the indices, less the padding before it, are its own; else
/// the padding.
FailureOr<Value> TileWriter::paddedAt(tensor::PadOp op, ArrayRef<Value> indices) {
  Value padding = op.getConstantPaddingValue();
  TypedAttr around = padding ? getSplat(padding) : TypedAttr();
  if (!around)
    return refuse(op, "expected a constant around a padded tensor");
  SmallVector<Value> inner;
  Value inside;
  for (auto [index, low, high, extent] : llvm::zip_equal(
           indices, op.getStaticLow(), op.getStaticHigh(), extents.of(op.getSource()))) {
    if (ShapedType::isDynamic(low))
      return refuse(op, "expected padding known when compiled of what is read by indices");
    inner.push_back(low == 0 ? index : addVectors(index, indexSplat(-low, {1, 1})));
    if (low != 0 || high != 0)
      inside = both(inside, isBelow(inner.back(), extent));
  }
  FailureOr<Value> result = valueAt(op, op.getSource(), inner);
  if (failed(result) || !inside)
    return result;
  return select(inside, *result, splat(around));
}

FailureOr<Value> TileWriter::computedAt(linalg::LinalgOp op, unsigned result,
                                        ArrayRef<Value> indices) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  SmallVector<Value> loops(op.getNumLoops());
  for (auto [expr, vector] : llvm::zip_equal(map.getResults(), indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = vector;
  for (auto [loop, extent] : llvm::zip_equal(loops, extents.loopsOf(op))) {
    if (!loop && !extent.is(1))
      return refuse(op, "expected parallel loops to go over the result");
    if (!loop)
      loop = indexSplat(0, {1, 1});
  }
  auto readAt = [&](OpOperand &operand) -> FailureOr<Value> {
    if (!isa<RankedTensorType>(operand.get().getType())) {
      if (TypedAttr constant = getSplat(operand.get()))
        return splat(constant);
      return numberOfRun(op, operand.get());
    }
    FailureOr<SmallVector<Value>> inner = throughMap(op, operand, loops);
    if (failed(inner))
      return failure();
    return valueAt(op, operand.get(), *inner);
  };
  return scalarCode(op, op.getBlock()->getTerminator()->getOperand(result), readAt,
                    [&](unsigned loop) { return loops[loop]; });
}

/// Indices in an operand by those of the loops.
FailureOr<SmallVector<Value>> TileWriter::throughMap(linalg::LinalgOp op, OpOperand &operand,
                                                     ArrayRef<Value> loops) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<Value> vectors;
  for (AffineExpr expr : map.getResults()) {
    FailureOr<Value> vector = indices(expr, map.getNumDims(), loops);
    if (failed(vector)) {
      (void)refuse(
          op, "expected indices that are sums, products, quotients and remainders from zero on");
      return failure();
    }
    vectors.push_back(*vector);
  }
  return vectors;
}

FailureOr<Value> TileWriter::readByIndices(linalg::LinalgOp op, OpOperand &operand,
                                           ArrayRef<Place> loops, TypedAttr padding) {
  SmallVector<Value> dims =
      llvm::map_to_vector(loops, [&](const Place &place) { return indices(place); });
  FailureOr<SmallVector<Value>> vectors = throughMap(op, operand, dims);
  if (failed(vectors))
    return failure();
  if (padding && isInMemory(operand.get()))
    return gather(operand.get(), *vectors, padding);
  return valueAt(op, operand.get(), *vectors);
}

} // namespace xetile::transform_ops
