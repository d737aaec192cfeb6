//===- WindowProducts.cpp - convolutions as products of matrices ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a convolution whose windows do not overlap. Out: a product of matrices: of windows of one
// pixel with the image as it is, of others with a matrix of their patches, whose elements are moved
// once. What sums start from is added behind it. Refused: nothing; others are not matched.
#include "xetile/Linalg/WindowProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/Elementwise.h"

using namespace mlir;
using namespace xetile;

int64_t WindowProduct::count(ArrayRef<unsigned> loops) const {
  int64_t all = 1;
  for (unsigned loop : loops)
    all = saturatingProduct(all, extents[loop]);
  return all;
}

/// True if the map is of these loops, in this order, and then of as many results as `image` has.
static bool beginsWith(AffineMap map, ArrayRef<unsigned> loops, size_t image) {
  return map.getNumResults() == loops.size() + image &&
         llvm::all_of(llvm::enumerate(loops), [&](auto each) {
           return map.getResult(each.index()) == getAffineDimExpr(each.value(), map.getContext());
         });
}

std::optional<WindowProduct> xetile::matchWindowProduct(Operation *op) {
  auto convolution = dyn_cast<linalg::LinalgOp>(op);
  if (!convolution || !convolution.hasPureTensorSemantics() || op->getNumOperands() != 3 ||
      !addsProduct(op->getRegion(0).front()) || convolution.hasDynamicShape())
    return std::nullopt;
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(convolution);
  if (failed(dims) || dims->outputChannel.size() != 1 || dims->inputChannel.size() != 1 ||
      !dims->depth.empty() || dims->outputImage.empty() ||
      dims->outputImage.size() != dims->filterLoop.size())
    return std::nullopt;
  WindowProduct product;
  product.op = convolution;
  product.filter = dims->outputChannel.front();
  product.channel = dims->inputChannel.front();
  product.batches.assign(dims->batch.begin(), dims->batch.end());
  product.pixels.assign(dims->outputImage.begin(), dims->outputImage.end());
  product.taps.assign(dims->filterLoop.begin(), dims->filterLoop.end());
  product.extents = convolution.getStaticLoopRanges();
  ArrayRef<int64_t> extents = product.extents;
  auto image = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<unsigned> inner = product.batches, outer = product.batches, taps = product.taps;
  inner.push_back(product.channel);
  outer.push_back(product.filter);
  SmallVector<AffineMap> maps = convolution.getIndexingMapsArray();
  size_t space = product.pixels.size();
  if (!beginsWith(maps[0], inner, space) || !beginsWith(maps[2], outer, space) ||
      !beginsWith(maps[1], {product.filter, product.channel}, space))
    return std::nullopt;
  product.isInPlace = true;
  Builder b(op->getContext());
  for (unsigned i = 0; i < space; ++i) {
    AffineExpr pixel = b.getAffineDimExpr(product.pixels[i]),
               tap = b.getAffineDimExpr(product.taps[i]);
    int64_t stride = dims->strides[i], size = extents[product.taps[i]];
    bool isSingle = size == 1, isWhole = stride == size && dims->dilations[i] == 1;
    if (maps[1].getResult(2 + i) != tap || maps[2].getResult(outer.size() + i) != pixel ||
        !maps[0].getResult(inner.size() + i).isFunctionOfDim(product.pixels[i]) ||
        !maps[0].getResult(inner.size() + i).isFunctionOfDim(product.taps[i]) || !isWhole)
      return std::nullopt;
    product.isInPlace &=
        isSingle && image.getDimSize(inner.size() + i) == extents[product.pixels[i]];
  }
  return product;
}

/// The tensor whose first `leading` dimensions stay, and whose others are one.
static Value collapseRest(OpBuilder &b, Location loc, Value tensor, int64_t leading) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < leading; ++dim)
    groups.push_back({dim});
  groups.push_back(llvm::to_vector(llvm::seq<int64_t>(leading, rank)));
  return tensor::CollapseShapeOp::create(b, loc, tensor, groups);
}

/// The sum of the products and what the convolution's sums start from, whose dimension `filters` is
/// that of `sums` called `own`; elements otherwise as `startAs` has them.
static Value addStart(OpBuilder &b, const WindowProduct &product, Value sums, unsigned own,
                      llvm::function_ref<Value(Value)> startAs) {
  Location loc = product.op->getLoc();
  Value start = product.op->getOperand(2);
  if (auto fill = start.getDefiningOp<linalg::FillOp>();
      fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
    return sums;
  auto type = cast<RankedTensorType>(sums.getType());
  AffineMap all = b.getMultiDimIdentityMap(type.getRank()), map = all;
  auto repeated = start.getDefiningOp<linalg::BroadcastOp>();
  if (repeated && repeated.getInput().getType().getRank() == 1 &&
      !llvm::is_contained(repeated.getDimensions(), int64_t(product.batches.size()))) {
    start = repeated.getInput();
    map = AffineMap::get(type.getRank(), 0, b.getAffineDimExpr(own));
  } else {
    start = startAs(start);
  }
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, type, ValueRange{sums, start}, empty,
                                   ArrayRef<AffineMap>{all, map, all}, kinds,
                                   [](OpBuilder &inside, Location at, ValueRange arguments) {
                                     Value sum = arith::AddFOp::create(inside, at, arguments[0],
                                                                       arguments[1]);
                                     linalg::YieldOp::create(inside, at, sum);
                                   })
      .getResult(0);
}

/// The products of `left` and `right`, summed up along the last loop into a result of `shape`.
static Value multiply(OpBuilder &b, const WindowProduct &product, Value image, Value filter,
                      ArrayRef<int64_t> shape, ArrayRef<AffineMap> maps) {
  linalg::LinalgOp op = product.op;
  Location loc = op->getLoc();
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  Value empty = tensor::EmptyOp::create(b, loc, shape, element);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  Value start = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> kinds(shape.size(), utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  return linalg::GenericOp::create(b, loc, start.getType(), ValueRange{image, filter}, start, maps,
                                   kinds,
                                   [&](OpBuilder &inside, Location, ValueRange arguments) {
                                     IRMapping mapping;
                                     mapping.map(op.getBlock()->getArguments(), arguments);
                                     for (Operation &each : *op.getBlock())
                                       inside.clone(each, mapping);
                                   })
      .getResult(0);
}

Multiplied xetile::multiplyInPlace(OpBuilder &b, const WindowProduct &product) {
  Operation *op = product.op;
  Location loc = op->getLoc();
  unsigned batches = product.batches.size(), rank = batches + 2;
  Value image = collapseRest(b, loc, op->getOperand(0), batches + 1),
        filter = collapseRest(b, loc, op->getOperand(1), 1);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape().take_front(batches + 1));
  shape.push_back(product.count(product.pixels));
  // The loops: batches, filters, pixels, channels.
  SmallVector<AffineExpr> loops;
  for (unsigned loop = 0; loop <= rank; ++loop)
    loops.push_back(b.getAffineDimExpr(loop));
  SmallVector<AffineExpr> ofImage(loops.begin(), loops.begin() + batches);
  ofImage.append({loops[rank], loops[rank - 1]});
  MLIRContext *context = b.getContext();
  SmallVector<AffineMap> maps{AffineMap::get(rank + 1, 0, ofImage, context),
                              AffineMap::get(rank + 1, 0, {loops[batches], loops[rank]}, context),
                              AffineMap::get(rank + 1, 0, ArrayRef(loops).drop_back(), context)};
  Value products = multiply(b, product, image, filter, shape, maps);
  Value sums = addStart(b, product, products, batches,
                        [&](Value start) { return collapseRest(b, loc, start, batches + 1); });
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim <= batches; ++dim)
    groups.push_back({dim});
  groups.push_back(llvm::to_vector(llvm::seq<int64_t>(batches + 1, type.getRank())));
  return {products.getDefiningOp(), tensor::ExpandShapeOp::create(b, loc, type, sums, groups)};
}

/// The patches of the image, of batches and pixels, a row each: channels and taps.
static Value patchesOf(OpBuilder &b, const WindowProduct &product) {
  linalg::LinalgOp op = product.op;
  Location loc = op->getLoc();
  ArrayRef<int64_t> extents = product.extents;
  Value image = op->getOperand(0);
  auto type = cast<RankedTensorType>(image.getType());
  int64_t before = product.batches.size() + 1;
  SmallVector<int64_t> whole(type.getShape()), split(type.getShape().take_front(before));
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < before; ++dim)
    groups.push_back({dim});
  // Batches, places of patches, channels, places in them.
  SmallVector<int64_t> order(llvm::to_vector(llvm::seq<int64_t>(0, before - 1))), inside;
  inside.push_back(before - 1);
  for (auto [i, pixel, tap] : llvm::enumerate(product.pixels, product.taps)) {
    whole[before + i] = extents[pixel] * extents[tap];
    int64_t place = split.size();
    split.append({extents[pixel], extents[tap]});
    groups.push_back({place, place + 1});
    order.push_back(place);
    inside.push_back(place + 1);
  }
  if (ArrayRef(whole) != type.getShape()) {
    SmallVector<OpFoldResult> offsets(whole.size(), b.getIndexAttr(0)),
        steps(whole.size(), b.getIndexAttr(1)),
        sizes = getAsIndexOpFoldResult(b.getContext(), whole);
    image = tensor::ExtractSliceOp::create(b, loc, image, offsets, sizes, steps);
  }
  image = tensor::ExpandShapeOp::create(b, loc, type.clone(split), image, groups);
  order.append(inside);
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(split[dim]);
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  Value moved = linalg::TransposeOp::create(b, loc, image, empty, order)->getResult(0);
  int64_t rows = before - 1 + product.pixels.size();
  return tensor::CollapseShapeOp::create(
      b, loc, moved,
      SmallVector<ReassociationIndices>{
          llvm::to_vector(llvm::seq<int64_t>(0, rows)),
          llvm::to_vector(llvm::seq<int64_t>(rows, int64_t(order.size())))});
}

Multiplied xetile::multiplyPatches(OpBuilder &b, const WindowProduct &product) {
  Operation *op = product.op;
  Location loc = op->getLoc();
  Value image = patchesOf(b, product), filter = collapseRest(b, loc, op->getOperand(1), 1);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rows = cast<RankedTensorType>(image.getType()).getDimSize(0),
          filters = product.count({product.filter}), batches = int64_t(product.batches.size());
  AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1), k = b.getAffineDimExpr(2);
  MLIRContext *context = b.getContext();
  Value products =
      multiply(b, product, image, filter, {rows, filters},
               {AffineMap::get(3, 0, {m, k}, context), AffineMap::get(3, 0, {n, k}, context),
                AffineMap::get(3, 0, {m, n}, context)});
  // Filters last.
  SmallVector<int64_t> order(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))), shape;
  order.erase(order.begin() + batches);
  order.push_back(batches);
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  SmallVector<ReassociationIndices> groups{
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() - 1)), {type.getRank() - 1}};
  Value sums = addStart(b, product, products, 1, [&](Value start) -> Value {
    Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
    Value last = linalg::TransposeOp::create(b, loc, start, empty, order)->getResult(0);
    return tensor::CollapseShapeOp::create(b, loc, last, groups);
  });
  return {products.getDefiningOp(),
          tensor::ExpandShapeOp::create(b, loc, type.clone(shape), sums, groups)};
}

/// Drops an expansion that is collapsed again. Patterns run without folding.
static LogicalResult dropExpansion(tensor::CollapseShapeOp op, PatternRewriter &rewriter) {
  auto expand = op.getSrc().getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand || expand.getSrc().getType() != op.getType() ||
      expand.getReassociationIndices() != op.getReassociationIndices())
    return rewriter.notifyMatchFailure(op, "expected what was expanded of the same dimensions");
  rewriter.replaceOp(op, expand.getSrc());
  return success();
}

void xetile::populateBehindProducts(RewritePatternSet &patterns,
                                    const llvm::SmallPtrSetImpl<Operation *> &products) {
  linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, [&](OpOperand *operand) {
    auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
    return expand && isElementwiseOnTensors(operand->getOwner()) &&
           comesElementwiseFrom(expand.getSrc(),
                                [&](Operation *op) { return products.contains(op); });
  });
  tensor::populateFoldTensorEmptyPatterns(patterns);
  patterns.add(dropExpansion);
}
