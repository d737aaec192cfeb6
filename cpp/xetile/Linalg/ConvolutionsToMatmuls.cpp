//===- ConvolutionsToMatmuls.cpp - windows copied to columns of matmuls ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: convolutions of linalg on tensors. Out: for each image, group and some rows of the result, a
// copy of what the windows see and a matmul of it with the filter ("im2col"). Refused: nothing;
// left as they are: those without input or output channels (depthwise ones, poolings), of other
// bodies than a sum of products, and of operands whose channels are not before or after the image.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/ConvolutionsToMatmuls.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/IR/BytesOf.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Linalg/TileLoops.h"

namespace xetile {
#define GEN_PASS_DEF_CONVOLUTIONSTOMATMULS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Elements of a copy: it is read again from the second-level cache.
constexpr int64_t kMaxCopied = 1 << 17;

class Convolution {
public:
  Convolution(RewriterBase &rewriter, linalg::LinalgOp op) : b(rewriter), op(op) {}

  /// Returns true if the op is a convolution that is rewritten to matmuls.
  bool match();
  void rewrite();

private:
  using Dims = SmallVector<unsigned, 4>;

  /// Dimensions in the order of `map`, those of `which` only.
  static Dims inOrder(AffineMap map, ArrayRef<unsigned> which);
  int64_t rowsAtOnce() const;
  Value part(Value result, ArrayRef<Index> offsets, ArrayRef<Index> sizes);
  /// The slice of the input that a tile of the iteration domain reads, less the dims of `loops`.
  Value inputPart(ArrayRef<Index> offsets, ArrayRef<Index> sizes);
  /// The input as a matrix of the matmul.
  Value columns(Value input, ArrayRef<Index> sizes);
  Value flatten(Value tensor, size_t leading);

  RewriterBase &b;
  linalg::LinalgOp op;
  Location loc = op.getLoc();
  AffineMap input, filter, output;
  SmallVector<int64_t> extents;
  Dims loops;  // of batches and groups
  Dims images; // in the order of the result
  Dims inner;  // channels of the input and taps of the filter, in the order of the filter
  Dims taps;
  bool channelsFirst = false, filterLeadsByOutput = false;
};

} // namespace

Convolution::Dims Convolution::inOrder(AffineMap map, ArrayRef<unsigned> which) {
  Dims ordered;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      if (llvm::is_contained(which, dim.getPosition()))
        ordered.push_back(dim.getPosition());
  return ordered;
}

bool Convolution::match() {
  if (!op.hasPureTensorSemantics() || op->getNumOperands() != 3 || op.getNumDpsInits() != 1 ||
      !addsProduct(op->getRegion(0).front()) || !llvm::all_of(op->getOperandTypes(), [](Type type) {
        return isAddressable(cast<ShapedType>(type));
      }))
    return false;
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(op);
  if (failed(dims) || dims->outputChannel.size() != 1 || dims->inputChannel.empty())
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  input = maps[0], filter = maps[1], output = maps[2];
  extents = op.getStaticLoopRanges();
  if (!filter.isProjectedPermutation() || !output.isProjectedPermutation() ||
      llvm::is_contained(extents, 0))
    return false;
  loops.append(dims->batch.begin(), dims->batch.end());
  loops.append(dims->depth.begin(), dims->depth.end());
  taps.append(dims->filterLoop.begin(), dims->filterLoop.end());
  images = inOrder(output, dims->outputImage);
  Dims all = taps;
  all.append(dims->inputChannel.begin(), dims->inputChannel.end());
  inner = inOrder(filter, all);
  if (loops.size() + images.size() + inner.size() + 1 != extents.size())
    return false;

  unsigned channel = dims->outputChannel.front();
  // Besides what is looped over, channel and image stand side by side, and so do those of a filter.
  Dims results = images, weights = inner;
  results.push_back(channel), weights.push_back(channel);
  Dims outputs = inOrder(output, results), filters = inOrder(filter, weights);
  channelsFirst = outputs.front() == channel;
  filterLeadsByOutput = filters.front() == channel;
  return (channelsFirst || outputs.back() == channel) &&
         (filterLeadsByOutput || filters.back() == channel);
}

/// A divisor of the rows, so that all parts have one size.
int64_t Convolution::rowsAtOnce() const {
  int64_t rows = extents[images.front()], row = 1;
  for (unsigned dim : ArrayRef(images).drop_front())
    row = saturatingProduct(row, extents[dim]);
  for (unsigned dim : inner)
    row = saturatingProduct(row, extents[dim]);
  for (int64_t some = std::min(rows, kMaxCopied / std::max<int64_t>(row, 1)); some > 1; --some)
    if (rows % some == 0)
      return some;
  return 1;
}

Value Convolution::inputPart(ArrayRef<Index> offsets, ArrayRef<Index> sizes) {
  Value source = op->getOperand(0);
  SmallVector<Index> starts, counts, steps, first(offsets), last;
  for (auto [offset, size] : llvm::zip(offsets, sizes))
    last.push_back(subIndex(b, loc, size, b.getIndexAttr(1)));
  auto apply = [&](AffineExpr expr, ArrayRef<Index> place) {
    return affine::makeComposedFoldedAffineApply(
        b, loc, AffineMap::get(input.getNumDims(), 0, expr, b.getContext()), place);
  };
  SmallVector<int64_t> shape;
  for (AffineExpr expr : input.getResults()) {
    starts.push_back(apply(expr, first));
    counts.push_back(addIndex(b, loc, apply(expr, last), b.getIndexAttr(1)));
    steps.push_back(b.getIndexAttr(1));
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || !llvm::is_contained(loops, dim.getPosition()))
      shape.push_back(getConstantIntValue(counts.back()).value_or(ShapedType::kDynamic));
  }
  auto type = cast<RankedTensorType>(source.getType()).clone(shape);
  return tensor::ExtractSliceOp::create(b, loc, type, source, starts, counts, steps);
}

Value Convolution::columns(Value part, ArrayRef<Index> sizes) {
  Dims order = channelsFirst ? inner : images;
  const Dims &second = channelsFirst ? images : inner;
  order.append(second.begin(), second.end());
  // The place of each dimension in the copy; those that are looped over are at 0.
  SmallVector<AffineExpr> places(extents.size(), b.getAffineConstantExpr(0));
  SmallVector<Index> shape;
  for (auto [place, dim] : llvm::enumerate(order)) {
    places[dim] = b.getAffineDimExpr(place);
    shape.push_back(sizes[dim]);
  }
  SmallVector<AffineExpr> indices;
  for (AffineExpr expr : input.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || !llvm::is_contained(loops, dim.getPosition()))
      indices.push_back(expr.replaceDims(places));
  }
  auto from = AffineMap::get(order.size(), 0, indices, b.getContext());
  Type element = getElementTypeOrSelf(part.getType());
  Value empty = tensor::EmptyOp::create(b, loc, shape, element);
  SmallVector<AffineMap> maps = {from, b.getMultiDimIdentityMap(order.size())};
  SmallVector<utils::IteratorType> kinds(order.size(), utils::IteratorType::parallel);
  auto copy =
      linalg::GenericOp::create(b, loc, empty.getType(), part, empty, maps, kinds,
                                [](OpBuilder &builder, Location where, ValueRange arguments) {
                                  linalg::YieldOp::create(builder, where, arguments.front());
                                });
  return flatten(copy.getResult(0), channelsFirst ? inner.size() : images.size());
}

/// As a matrix: the first `leading` dimensions are its rows.
Value Convolution::flatten(Value tensor, size_t leading) {
  size_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  if (rank == 2)
    return tensor;
  SmallVector<ReassociationIndices> groups(2);
  for (size_t dim = 0; dim < rank; ++dim)
    groups[dim < leading ? 0 : 1].push_back(static_cast<int64_t>(dim));
  return tensor::CollapseShapeOp::create(b, loc, tensor, groups);
}

Value Convolution::part(Value result, ArrayRef<Index> offsets, ArrayRef<Index> sizes) {
  Value image = columns(inputPart(offsets, sizes), sizes);
  SmallVector<Index> whole(offsets.size(), b.getIndexAttr(0));
  for (unsigned dim : loops)
    whole[dim] = offsets[dim];
  Value weights = flatten(extractTile(b, loc, op->getOperand(1), filter, whole, sizes, loops),
                          filterLeadsByOutput ? 1 : inner.size());
  Value tile = extractTile(b, loc, result, output, offsets, sizes, loops);
  Value sums = flatten(tile, channelsFirst ? 1 : images.size());

  AffineExpr m, n, k;
  bindDims(b.getContext(), m, n, k);
  AffineExpr channel = channelsFirst ? m : n;
  auto map = [&](AffineExpr row, AffineExpr column) {
    return AffineMap::get(3, 0, {row, column}, b.getContext());
  };
  AffineMap weightMap = filterLeadsByOutput ? map(channel, k) : map(k, channel);
  AffineMap imageMap = channelsFirst ? map(k, n) : map(m, k);
  SmallVector<Value> inputs = {image, weights};
  SmallVector<AffineMap> maps = {imageMap, weightMap, map(m, n)};
  if (channelsFirst) {
    std::swap(inputs[0], inputs[1]);
    std::swap(maps[0], maps[1]);
  }
  SmallVector<utils::IteratorType> kinds(2, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  auto matmul = linalg::GenericOp::create(b, loc, sums.getType(), inputs, sums, maps, kinds,
                                          [&](OpBuilder &builder, Location, ValueRange arguments) {
                                            SmallVector<Value> ordered(arguments);
                                            if (channelsFirst)
                                              std::swap(ordered[0], ordered[1]);
                                            mlir::Block &body = op->getRegion(0).front();
                                            IRMapping mapping;
                                            mapping.map(body.getArguments(), ordered);
                                            for (Operation &inside : body)
                                              builder.clone(inside, mapping);
                                          });
  Value computed = matmul.getResult(0);
  if (tile != sums) {
    auto collapse = sums.getDefiningOp<tensor::CollapseShapeOp>();
    computed = tensor::ExpandShapeOp::create(b, loc, tile.getType(), computed,
                                             collapse.getReassociationIndices(),
                                             tensor::getMixedSizes(b, loc, tile));
  }
  return insertTile(b, loc, computed, result, output, offsets, sizes);
}

void Convolution::rewrite() {
  b.setInsertionPoint(op);
  SmallVector<Index> offsets(extents.size(), b.getIndexAttr(0)), sizes;
  for (Range range : op.createLoopRanges(b, loc))
    sizes.push_back(range.size);
  SmallVector<Index> whole = sizes;
  int64_t rows = llvm::any_of(extents, ShapedType::isDynamic) ? 0 : rowsAtOnce();
  std::function<Value(ArrayRef<unsigned>, Value)> over = [&](ArrayRef<unsigned> dims,
                                                             Value result) -> Value {
    if (dims.empty())
      return part(result, offsets, sizes);
    unsigned dim = dims.front();
    int64_t step = dim == images.front() ? rows : 1;
    return forEachTile(b, loc, whole[dim], step, result,
                       [&](Index offset, Index size, Value carried) {
                         offsets[dim] = offset, sizes[dim] = size;
                         return over(dims.drop_front(), carried);
                       });
  };
  Dims order = loops;
  if (rows != 0)
    order.push_back(images.front());
  b.replaceOp(op, over(order, op->getOperand(2)));
}

bool xetile::becomesMatmuls(linalg::LinalgOp op) {
  IRRewriter rewriter(op.getContext());
  return Convolution(rewriter, op).match();
}

namespace {
struct ConvolutionsToMatmuls : xetile::impl::ConvolutionsToMatmulsBase<ConvolutionsToMatmuls> {
  using ConvolutionsToMatmulsBase::ConvolutionsToMatmulsBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isFor(op, schedules))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      Convolution convolution(rewriter, op);
      if (convolution.match())
        convolution.rewrite();
    }
  }
};
} // namespace
