//===- TileProducts.cpp - products of matrices in a kernel ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction of f16 or bf16 whose result runs along rows and columns. Out: tile_mma of its
// operands, each as long as k. Refused: nothing; other contractions are sums.
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Schedule/Tiles/Seams.h"
#include "xetile/Schedule/Tiles/WithSizes.h"

using namespace mlir;

namespace xetile::transform_ops {

std::optional<TileWriter::Product>
TileWriter::matchProduct(linalg::LinalgOp op, ArrayRef<Place> loops, ArrayRef<unsigned> reduced) {
  constexpr int64_t kFewest = 4;
  if (!plan.blocks || reduced.size() != 1 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !addsProduct(*op.getBlock()))
    return std::nullopt;
  auto elementType = [&](unsigned operand) {
    return getElementTypeOrSelf(op->getOperand(operand).getType());
  };
  if (!isa<Float16Type, BFloat16Type>(elementType(0)) || elementType(0) != elementType(1) ||
      !elementType(2).isF32())
    return std::nullopt;
  Product product;
  product.op = op;
  product.k = reduced.front();
  product.extent = op.getStaticLoopRanges()[product.k];
  if (product.extent <= kFewest)
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  std::array<int, 2> side = {-1, -1};
  for (auto [loop, place] : llvm::enumerate(loops)) {
    if (place.isNumber())
      continue;
    Role role = place.steps[kRows] != 0 ? kRows : kColumns;
    if (place.isFolded() || place.steps[role] != 1 || side[role] >= 0 ||
        maps[0].isFunctionOfDim(loop) == maps[1].isFunctionOfDim(loop))
      return std::nullopt;
    side[role] = maps[0].isFunctionOfDim(loop) ? 0 : 1;
  }
  if (side[kRows] < 0 || side[kColumns] < 0 || side[kRows] == side[kColumns])
    return std::nullopt;
  product.a = side[kRows];
  return product;
}

/// True if `tensor` ends with its memory along `dim`, so that loads beyond it give zeros.
static bool endsWithMemory(Value tensor, unsigned dim) {
  while (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    if (slice.getDroppedDims().any() || !slice.hasUnitStride())
      return false;
    int64_t offset = slice.getStaticOffsets()[dim], size = slice.getStaticSizes()[dim];
    int64_t whole = slice.getSourceType().getDimSize(dim);
    // All elements of a dimension begin at its first one, whatever the slice calls it.
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(whole) ||
        (size != whole && (ShapedType::isDynamic(offset) || offset + size != whole)))
      return false;
    tensor = slice.getSource();
  }
  return isInMemory(tensor);
}

/// Elements of k of one multiplication of the matrix unit.
constexpr int64_t kDepth = 16;

/// All of k at once; or what lies between the seams of operands that are put together of others, as
/// the halves of turned heads are: of each part, their elements are read where they are.
SmallVector<TileWriter::KPart> TileWriter::partsOf(const Product &product) const {
  linalg::LinalgOp op = product.op;
  llvm::SmallSet<int64_t, 4> seams;
  AffineExpr k = getAffineDimExpr(product.k, b.getContext());
  // Attentions have few keys in a step: two more products take more than the selects.
  if (!plan.narrow)
    for (OpOperand *operand : op.getDpsInputOperands())
      findSeams(operand->get(), *op.getMatchingIndexingMap(operand).getResultPosition(k), seams);
  SmallVector<int64_t> ends;
  for (int64_t seam : seams)
    if (seam > 0 && seam < product.extent)
      ends.push_back(seam);
  // Blocks of memory and of the matrix unit begin there.
  if (llvm::any_of(ends, [](int64_t end) { return end % kDepth != 0; }))
    ends.clear();
  llvm::sort(ends);
  ends.push_back(product.extent);
  SmallVector<KPart> parts;
  int64_t first = 0;
  for (int64_t end : ends) {
    parts.push_back({first, end - first, static_cast<int64_t>(llvm::alignTo(end - first, kDepth))});
    first = end;
  }
  return parts;
}

/// An operand with k along the side that it has; elements beyond its end are zero.
FailureOr<Value> TileWriter::factor(Product &product, const KPart &part, unsigned operand,
                                    SmallVector<Place> loops) {
  bool isA = operand == product.a;
  Role along = isA ? kColumns : kRows;
  loops[product.k] = Place::along(along);
  loops[product.k].shift = part.first;
  WithSizes sizes(*this);
  sizes.set(along, part.steps);
  if (!isA)
    sizes.shareNothing();
  OpOperand &use = product.op->getOpOperand(operand);
  FailureOr<Value> result = read(product.op, use, loops);
  if (failed(result))
    return failure();
  std::optional<unsigned> dim = product.op.getMatchingIndexingMap(&use).getResultPosition(
      getAffineDimExpr(product.k, b.getContext()));
  if (part.extent != part.steps && !endsWithMemory(use.get(), *dim)) {
    Type element = cast<VectorType>(result->getType()).getElementType();
    result = select(isBelow(indices(loops[product.k]), product.extent), *result,
                    splat(cast<TypedAttr>(b.getZeroAttr(element))));
  }
  return repeat(*result, {size(kRows), size(kColumns)});
}

/// Adds rows of powers to sums of which each lane has its own.
Value TileWriter::sumByProduct(Value powers, Value sums) {
  SmallVector<int64_t> shape(cast<VectorType>(powers.getType()).getShape());
  Value narrow = arith::TruncFOp::create(b, loc, VectorType::get(shape, plan.narrow), powers);
  auto lanes = cast<VectorType>(sums.getType());
  Value ones =
      splat(b.getFloatAttr(plan.narrow, 1.0), {shape[kColumns], lanes.getDimSize(kColumns)});
  return TileMmaOp::create(b, loc, lanes, narrow, ones, sums, mapOf(lanes.getShape()), false,
                           false);
}

/// Adds rows of powers to sums of which each lane has those of its columns.
Value TileWriter::sumInLanes(Value powers, Value sums) {
  auto type = cast<VectorType>(powers.getType());
  SmallVector<int64_t> shape(cast<VectorType>(sums.getType()).getShape());
  SmallVector<Value> parts;
  for (int64_t column = 0; column < type.getDimSize(kColumns); column += shape[kColumns])
    parts.push_back(vector::ExtractStridedSliceOp::create(
        b, loc, powers, ArrayRef<int64_t>{0, column}, shape, ArrayRef<int64_t>{1, 1}));
  // As a tree: errors grow with the steps of the loop only.
  for (; parts.size() > 1; parts.resize(llvm::divideCeil(parts.size(), 2)))
    for (size_t i = 0, half = llvm::divideCeil(parts.size(), 2); half + i < parts.size(); ++i)
      parts[i] = arith::AddFOp::create(b, loc, parts[i], parts[half + i]);
  return arith::AddFOp::create(b, loc, sums, parts.front());
}

FailureOr<Value> TileWriter::multiply(Product &product, ArrayRef<Place> loops) {
  FailureOr<Value> init = read(product.op, *product.op.getDpsInitOperand(0), loops);
  if (failed(init))
    return failure();
  SmallVector<int64_t> shape{size(kRows), size(kColumns)};
  Value sum = repeat(*init, shape);
  for (const KPart &part : partsOf(product)) {
    std::array<Value, 2> factors;
    for (auto [each, operand] : llvm::zip_equal(factors, std::array{product.a, 1 - product.a})) {
      FailureOr<Value> read = factor(product, part, operand, SmallVector<Place>(loops));
      if (failed(read))
        return failure();
      each = *read;
    }
    sum = TileMmaOp::create(b, loc, sum.getType(), factors[0], factors[1], sum, mapOf(shape),
                            /*unsigned_a=*/false, /*unsigned_b=*/false);
  }
  return sum;
}

} // namespace xetile::transform_ops
