//===- ConvolutionsToMatmuls.cpp - windows copied to columns of matmuls ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: convolutions of linalg on tensors. Out: for each image, group and some rows of the result, a
// copy of what the windows see and a matmul of it with the filter ("im2col"), in a parallel loop
// where the filter is small. Refused: nothing; left as they are: those without input or output
// channels (depthwise ones, poolings), of other bodies than a sum of products, and of operands
// whose channels are not before or after the image.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/ConvolutionsToMatmuls.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/IR/BytesOf.h"
#include "xetile/IR/DialectAttrs.h"
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
/// Elements of a filter that each thread keeps in that cache beside its copy.
constexpr int64_t kMaxFilter = 1 << 18;
/// Blocks that are enough to share, for machines with few cores to have even parts, and columns of
/// a block that fill vectors.
constexpr int64_t kManyBlocks = 16, kFewBlocks = 8, kColumns = 48;

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
  int64_t extentOf(ArrayRef<unsigned> dims) const;
  /// A divisor of the rows of which a copy has at most so many elements.
  int64_t rowsAtOnce(int64_t most) const;
  /// Rows of the blocks of a parallel loop; 0 where threads had better share each matmul: a filter
  /// is large, blocks are few, or sizes are not known.
  int64_t sharedRows() const;
  Value sequential(int64_t rows);
  Value parallel(int64_t rows);
  Value start();
  Value filled();
  /// The part of the result at `offsets`, to put into `result` where it is.
  Value compute(Value result, ArrayRef<Index> offsets, ArrayRef<Index> sizes);
  /// The slice of the input that a tile of the iteration domain reads, less the dims of `loops`.
  Value inputPart(ArrayRef<Index> offsets, ArrayRef<Index> sizes);
  Value paddedPart(tensor::PadOp pad, RankedTensorType type, ArrayRef<Index> starts,
                   ArrayRef<Index> counts);
  /// The input as a matrix of the matmul.
  Value columns(Value input, ArrayRef<Index> sizes);
  Value flatten(Value tensor, size_t leading);

  RewriterBase &b;
  linalg::LinalgOp op;
  Location loc = op.getLoc();
  AffineMap input, filter, output;
  SmallVector<int64_t> extents;
  SmallVector<Index> whole;
  Dims loops;   // of batches and groups
  Dims images;  // in the order of the result
  Dims channel; // of the result
  Dims inner;   // channels of the input and taps of the filter, in the order of the filter
  Dims taps;
  bool channelsFirst = false, filterLeadsByOutput = false, isParallel = false;
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

  unsigned own = dims->outputChannel.front();
  channel = {own};
  // Besides what is looped over, channel and image stand side by side, and so do those of a filter.
  Dims results = images, weights = inner;
  results.push_back(own), weights.push_back(own);
  Dims outputs = inOrder(output, results), filters = inOrder(filter, weights);
  channelsFirst = outputs.front() == own;
  filterLeadsByOutput = filters.front() == own;
  return (channelsFirst || outputs.back() == own) && (filterLeadsByOutput || filters.back() == own);
}

int64_t Convolution::extentOf(ArrayRef<unsigned> dims) const {
  int64_t extent = 1;
  for (unsigned dim : dims)
    extent = saturatingProduct(extent, extents[dim]);
  return extent;
}

int64_t Convolution::rowsAtOnce(int64_t most) const {
  int64_t rows = extents[images.front()];
  int64_t row = saturatingProduct(extentOf(ArrayRef(images).drop_front()), extentOf(inner));
  for (int64_t some = std::min(rows, most / std::max<int64_t>(row, 1)); some > 1; --some)
    if (rows % some == 0)
      return some;
  return 1;
}

int64_t Convolution::sharedRows() const {
  if (saturatingProduct(extentOf(channel), extentOf(inner)) > kMaxFilter)
    return 0;
  int64_t rows = extents[images.front()], columns = extentOf(ArrayRef(images).drop_front());
  int64_t some = rowsAtOnce(kMaxCopied);
  auto blocks = [&](int64_t size) { return saturatingProduct(extentOf(loops), rows / size); };
  for (int64_t fewer = some; fewer > 0 && blocks(some) < kManyBlocks; --fewer)
    if (rows % fewer == 0 && saturatingProduct(fewer, columns) >= kColumns)
      some = fewer;
  return blocks(some) < kFewBlocks ? 0 : some;
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
  if (auto pad = source.getDefiningOp<tensor::PadOp>(); pad && isParallel && type.hasStaticShape())
    if (Value padded = paddedPart(pad, type, starts, counts))
      return padded;
  return tensor::ExtractSliceOp::create(b, loc, type, source, starts, counts, steps);
}

/// A block of what is padded: its own fill, and in it what there is of the source. Null for other
/// paddings than with a constant.
Value Convolution::paddedPart(tensor::PadOp pad, RankedTensorType type, ArrayRef<Index> starts,
                              ArrayRef<Index> counts) {
  Value number = pad.getConstantPaddingValue();
  if (!number || !pad.getSourceType().hasStaticShape() ||
      llvm::any_of(pad.getStaticLow(), ShapedType::isDynamic))
    return {};
  SmallVector<Index> from, sizes, at, kept;
  SmallVector<int64_t> shape;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    Index low = b.getIndexAttr(pad.getStaticLow()[dim]), zero = b.getIndexAttr(0);
    Index extent = b.getIndexAttr(pad.getSourceType().getDimSize(dim));
    auto within = [&](Index place) {
      return minIndex(b, loc, maxIndex(b, loc, subIndex(b, loc, place, low), zero), extent);
    };
    Index first = within(start), end = within(addIndex(b, loc, start, counts[dim]));
    from.push_back(first);
    sizes.push_back(subIndex(b, loc, end, first));
    auto loop = dyn_cast<AffineDimExpr>(input.getResult(dim));
    if (loop && llvm::is_contained(loops, loop.getPosition())) {
      // A slice of one element at most, whose dimension is dropped.
      if (!isZeroInteger(low) || pad.getStaticHigh()[dim] != 0)
        return {};
      from.back() = start, sizes.back() = b.getIndexAttr(1);
      continue;
    }
    at.push_back(subIndex(b, loc, addIndex(b, loc, first, low), start));
    kept.push_back(sizes.back());
    shape.push_back(getConstantIntValue(sizes.back()).value_or(ShapedType::kDynamic));
  }
  SmallVector<Index> steps(from.size(), b.getIndexAttr(1)), ones(at.size(), b.getIndexAttr(1));
  Value seen = tensor::ExtractSliceOp::create(b, loc, type.clone(shape), pad.getSource(), from,
                                              sizes, steps);
  Value block = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  block = linalg::FillOp::create(b, loc, number, block).getResult(0);
  return tensor::InsertSliceOp::create(b, loc, seen, block, at, kept, ones);
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

Value Convolution::compute(Value result, ArrayRef<Index> offsets, ArrayRef<Index> sizes) {
  Value image = columns(inputPart(offsets, sizes), sizes);
  SmallVector<Index> whole(offsets.size(), b.getIndexAttr(0));
  for (unsigned dim : loops)
    whole[dim] = offsets[dim];
  Value weights = flatten(extractTile(b, loc, op->getOperand(1), filter, whole, sizes, loops),
                          filterLeadsByOutput ? 1 : inner.size());
  Value tile = extractTile(b, loc, result, output, offsets, sizes, loops);
  Value sums = flatten(tile, channelsFirst ? 1 : images.size()), into = sums;
  // A block begins with a fill of its own: one of all the result is a step before.
  if (Value number = isParallel ? filled() : Value())
    into = linalg::FillOp::create(b, loc, number, sums).getResult(0);

  AffineExpr m, n, k;
  bindDims(b.getContext(), m, n, k);
  AffineExpr own = channelsFirst ? m : n;
  auto map = [&](AffineExpr row, AffineExpr column) {
    return AffineMap::get(3, 0, {row, column}, b.getContext());
  };
  AffineMap weightMap = filterLeadsByOutput ? map(own, k) : map(k, own);
  AffineMap imageMap = channelsFirst ? map(k, n) : map(m, k);
  SmallVector<Value> inputs = {image, weights};
  SmallVector<AffineMap> maps = {imageMap, weightMap, map(m, n)};
  if (channelsFirst) {
    std::swap(inputs[0], inputs[1]);
    std::swap(maps[0], maps[1]);
  }
  SmallVector<utils::IteratorType> kinds(2, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  auto matmul = linalg::GenericOp::create(b, loc, sums.getType(), inputs, into, maps, kinds,
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
  return computed;
}

/// The number that sums begin with; null if they are added to more than a fill.
Value Convolution::filled() {
  auto fill = op->getOperand(2).getDefiningOp<linalg::FillOp>();
  return fill ? fill.getInputs().front() : Value();
}

Value Convolution::sequential(int64_t rows) {
  SmallVector<Index> offsets(extents.size(), b.getIndexAttr(0)), sizes = whole;
  std::function<Value(ArrayRef<unsigned>, Value)> over = [&](ArrayRef<unsigned> dims,
                                                             Value result) -> Value {
    if (dims.empty())
      return insertTile(b, loc, compute(result, offsets, sizes), result, output, offsets, sizes);
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
  return over(order, op->getOperand(2));
}

/// Blocks of `rows` rows of all images and groups, for threads to share.
Value Convolution::parallel(int64_t rows) {
  SmallVector<Index> offsets(extents.size(), b.getIndexAttr(0)), sizes = whole, low, high, steps;
  Dims order = loops;
  order.push_back(images.front());
  for (unsigned dim : order) {
    low.push_back(b.getIndexAttr(0)), high.push_back(whole[dim]);
    steps.push_back(b.getIndexAttr(dim == images.front() ? rows : 1));
    sizes[dim] = steps.back();
  }
  auto forall = scf::ForallOp::create(b, loc, low, high, steps, ValueRange(start()), std::nullopt);
  forall->setAttr(kRowsAttr, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  for (auto [dim, id] : llvm::zip_equal(order, forall.getInductionVars()))
    offsets[dim] = id;
  Value shared = forall.getRegionIterArgs()[0];
  Value tile = compute(shared, offsets, sizes);
  SmallVector<Index> at, extent, strides(output.getNumResults(), b.getIndexAttr(1));
  for (AffineExpr expr : output.getResults()) {
    at.push_back(offsets[cast<AffineDimExpr>(expr).getPosition()]);
    extent.push_back(sizes[cast<AffineDimExpr>(expr).getPosition()]);
  }
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, tile, shared, at, extent, strides);
  return forall.getResult(0);
}

/// The tensor that parts are put into.
Value Convolution::start() {
  auto fill = op->getOperand(2).getDefiningOp<linalg::FillOp>();
  return fill ? fill.getOutputs().front() : op->getOperand(2);
}

void Convolution::rewrite() {
  b.setInsertionPoint(op);
  for (Range range : op.createLoopRanges(b, loc))
    whole.push_back(range.size);
  if (llvm::any_of(extents, ShapedType::isDynamic))
    return b.replaceOp(op, sequential(0));
  if (int64_t rows = sharedRows()) {
    isParallel = true;
    return b.replaceOp(op, parallel(rows));
  }
  // A filter that is read for each block costs more than a copy that is as large.
  int64_t weights = saturatingProduct(extentOf(channel), extentOf(inner));
  b.replaceOp(op, sequential(rowsAtOnce(std::max(kMaxCopied, weights))));
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
