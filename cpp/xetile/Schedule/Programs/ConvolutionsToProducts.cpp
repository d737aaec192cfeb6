//===- ConvolutionsToProducts.cpp - transform.xetile.convolutions_to_products ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels of convolutions of f32. Out: those that gain on the matrix unit as kernels of
// products, whose one operand is the image as a matrix of its windows (WindowedMatrix.h): nothing
// is copied. Refused: other units than matrix and vector; what does not fit stays as it is.
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/IR/WindowedMatrix.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

constexpr int64_t kMostElements = int64_t(1) << 30; // that numbers of 32 bits count

using Dims = SmallVector<unsigned, 4>;

/// A kernel whose one convolution is to be a product.
class Unfolding {
public:
  Unfolding(RewriterBase &rewriter, ModuleOp kernel, const Target &target)
      : b(rewriter), kernel(kernel), target(target) {}

  /// True if the kernel is such a convolution, with elementwise ops behind it.
  bool match();
  void rewrite();

private:
  bool findOps();
  bool matchOperands();
  bool matchDims();
  bool matchImage();
  bool gains();
  bool followsInRows(linalg::LinalgOp op);
  bool isInOrder(AffineMap map, ArrayRef<unsigned> dims);
  SmallVector<ReassociationIndices> groupsOf(AffineMap map, ArrayRef<unsigned> joined);
  Value collapse(Value tensor, AffineMap map, ArrayRef<unsigned> joined);
  AffineMap joinedMap(AffineMap map, ArrayRef<unsigned> joined, unsigned as);
  Value viewOfImage();
  linalg::GenericOp dropUnits(linalg::GenericOp op);
  void collapseRest();

  RewriterBase &b;
  ModuleOp kernel;
  const Target &target;
  func::FuncOp func;
  linalg::LinalgOp op;
  SmallVector<linalg::LinalgOp> others; // in the order of the block
  BlockArgument image;
  SmallVector<int64_t> low; // zeros before each side of the image
  bool isPadded = false;
  AffineMap input, filter, output;
  SmallVector<int64_t> extents;
  Dims loops, pixels, inner;
  unsigned channel = 0;
  bool channelsLast = false;
  WindowedMatrix window;
};

bool Unfolding::findOps() {
  auto functions = kernel.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions))
    return false;
  func = *functions.begin();
  if (func.isExternal() || !func.getBody().hasOneBlock())
    return false;
  for (Operation &each : func.getBody().front().without_terminator()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(each);
    if (!linalgOp) {
      if (!isa<arith::ConstantOp, tensor::EmptyOp, tensor::PadOp, tensor::CollapseShapeOp,
               tensor::ExpandShapeOp>(each))
        return false;
    } else if (linalgOp.getNumReductionLoops() == 0) {
      others.push_back(linalgOp);
    } else if (op) {
      return false;
    } else {
      op = linalgOp;
    }
  }
  return op && op.hasPureTensorSemantics() && op->getNumOperands() == 3 &&
         addsProduct(op->getRegion(0).front()) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           auto tensor = cast<RankedTensorType>(type);
           return tensor.getElementType().isF32() && tensor.hasStaticShape() &&
                  tensor.getNumElements() > 0 && tensor.getNumElements() < kMostElements;
         });
}

/// The image is an argument, with zeros around it at most; the filter is in memory, too.
bool Unfolding::matchOperands() {
  Value from = op->getOperand(0), weights = op->getOperand(1);
  low.assign(cast<RankedTensorType>(from.getType()).getRank(), 0);
  if (auto pad = from.getDefiningOp<tensor::PadOp>()) {
    Value with = pad.getConstantPaddingValue();
    if (!with || !matchPattern(with, m_AnyZeroFloat()) || !pad->hasOneUse() ||
        llvm::any_of(pad.getStaticLow(), ShapedType::isDynamic))
      return false;
    llvm::copy(pad.getStaticLow(), low.begin());
    isPadded = true;
    from = pad.getSource();
  }
  if (isa_and_present<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(weights.getDefiningOp()))
    weights = weights.getDefiningOp()->getOperand(0);
  image = dyn_cast<BlockArgument>(from);
  return image && isa<BlockArgument>(weights);
}

/// True if `dims` stand side by side in the map, in their order.
bool Unfolding::isInOrder(AffineMap map, ArrayRef<unsigned> dims) {
  const auto *first = llvm::find_if(map.getResults(), [&](AffineExpr expr) {
    return cast<AffineDimExpr>(expr).getPosition() == dims.front();
  });
  if (map.getResults().end() - first < int64_t(dims.size()))
    return false;
  return llvm::all_of(llvm::enumerate(dims), [&](auto each) {
    return cast<AffineDimExpr>(first[each.index()]).getPosition() == each.value();
  });
}

bool Unfolding::matchDims() {
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(op);
  if (failed(dims) || dims->outputChannel.size() != 1 || dims->inputChannel.empty() ||
      dims->outputImage.empty())
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  input = maps[0], filter = maps[1], output = maps[2];
  extents = op.getStaticLoopRanges();
  if (!filter.isProjectedPermutation() || !output.isProjectedPermutation())
    return false;
  channel = dims->outputChannel.front();
  loops.append(dims->batch.begin(), dims->batch.end());
  loops.append(dims->depth.begin(), dims->depth.end());
  auto inOrder = [](AffineMap map, llvm::function_ref<bool(unsigned)> isOne) {
    Dims ordered;
    for (AffineExpr expr : map.getResults())
      if (unsigned dim = cast<AffineDimExpr>(expr).getPosition(); isOne(dim))
        ordered.push_back(dim);
    return ordered;
  };
  pixels =
      inOrder(output, [&](unsigned dim) { return llvm::is_contained(dims->outputImage, dim); });
  inner = inOrder(filter,
                  [&](unsigned dim) { return dim != channel && !llvm::is_contained(loops, dim); });
  loops = inOrder(output, [&](unsigned dim) { return llvm::is_contained(loops, dim); });
  if (loops.size() + pixels.size() + inner.size() + 1 != extents.size())
    return false;
  auto last = [](AffineMap map) {
    return cast<AffineDimExpr>(map.getResults().back()).getPosition();
  };
  return isInOrder(filter, inner) && isInOrder(output, pixels) &&
         !llvm::is_contained(loops, last(filter)) && !llvm::is_contained(loops, last(output));
}

/// Finds how far each loop moves in the image.
bool Unfolding::matchImage() {
  auto type = cast<RankedTensorType>(image.getType());
  SmallVector<WindowedMatrix::Digit> digits;
  for (int64_t extent : extents)
    digits.push_back({extent, 0, -1, 0});
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * type.getDimSize(dim);
  for (auto [dim, expr] : llvm::enumerate(input.getResults())) {
    SmallVector<int64_t> factors;
    if (failed(getFlattenedAffineExpr(expr, input.getNumDims(), 0, &factors)) ||
        factors.size() != extents.size() + 1 || factors.back() != 0)
      return false;
    bool hasEdge = low[dim] != 0 ||
                   cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(int64_t(dim)) !=
                       type.getDimSize(dim);
    int64_t axis = hasEdge ? int64_t(window.axes.size()) : -1;
    if (hasEdge)
      window.axes.push_back({type.getDimSize(dim), low[dim], strides[dim]});
    for (auto [loop, factor] : llvm::enumerate(ArrayRef(factors).drop_back())) {
      if (factor == 0)
        continue;
      if (factor < 0 || digits[loop].stride != 0 ||
          (hasEdge && (llvm::is_contained(loops, loop) || loop == channel)))
        return false;
      digits[loop] = {extents[loop], factor * strides[dim], axis, factor};
    }
  }
  for (unsigned loop : loops)
    window.batches.push_back(digits[loop].stride);
  for (unsigned loop : pixels)
    window.pixels.push_back(digits[loop]);
  for (unsigned loop : inner)
    window.k.push_back(digits[loop]);
  auto lastDim = dyn_cast<AffineDimExpr>(input.getResults().back());
  channelsLast = lastDim && llvm::is_contained(inner, lastDim.getPosition());
  // The rows of the result are the operand A's.
  const auto *at = llvm::find(output.getResults(), b.getAffineDimExpr(channel));
  const auto *pixel = llvm::find(output.getResults(), b.getAffineDimExpr(pixels.front()));
  window.operand = at < pixel ? 1 : 0;
  return digits[channel].stride == 0;
}

bool Unfolding::gains() {
  int64_t filters = extents[channel], places = WindowedMatrix::count(window.pixels);
  bool isFirst = window.operand == 0;
  MatmulProblem problem = {isFirst ? places : filters, isFirst ? filters : places,
                           WindowedMatrix::count(window.k), 32, /*byElements=*/true};
  for (unsigned loop : loops)
    problem.batches *= extents[loop];
  problem.isExact = true;
  Type f32 = b.getF32Type();
  return target.multipliesF32(problem) &&
         !target.checkTiling(target.chooseTiling(problem, {}), f32, f32) &&
         llvm::all_of(func.getResultTypes(), [&](Type type) {
           return target.storesOfProducts(getElementTypeOrSelf(type));
         });
}

/// A map without its results that are no loops.
AffineMap withoutZeros(AffineMap map) {
  SmallVector<AffineExpr> results(
      llvm::make_filter_range(map.getResults(), llvm::IsaPred<AffineDimExpr>));
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

/// True if dimensions that no loop walks over have one element.
bool zerosAreUnits(OpOperand &operand, AffineMap map) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  return llvm::all_of(llvm::enumerate(map.getResults()), [&](auto each) {
    return isa<AffineDimExpr>(each.value()) || type.getDimSize(int64_t(each.index())) == 1;
  });
}

/// True if `op` computes elements of the result's shape, each from those of its place, of its
/// channel, or of its pixel.
bool Unfolding::followsInRows(linalg::LinalgOp each) {
  if (each->getNumResults() != 1 ||
      cast<RankedTensorType>(each->getResult(0).getType()).getShape() !=
          cast<RankedTensorType>(op->getResult(0).getType()).getShape() ||
      !each.getMatchingIndexingMap(each.getDpsInitOperand(0)).isIdentity() ||
      each.hasIndexSemantics())
    return false;
  if (isa<linalg::FillOp>(each))
    return true;
  // Loops are dimensions of the result.
  Dims places;
  for (unsigned dim : pixels)
    places.push_back(unsigned(llvm::find(output.getResults(), b.getAffineDimExpr(dim)) -
                              output.getResults().begin()));
  return llvm::all_of(each->getOpOperands(), [&](OpOperand &operand) {
    AffineMap map = each.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) || !zerosAreUnits(operand, map))
      return false;
    map = withoutZeros(map);
    bool hasNone =
        llvm::none_of(places, [&](unsigned place) { return map.isFunctionOfDim(place); });
    return hasNone ||
           (llvm::all_of(places, [&](unsigned place) { return map.isFunctionOfDim(place); }) &&
            isInOrder(map, places));
  });
}

bool Unfolding::match() {
  return findOps() && matchOperands() && matchDims() && matchImage() && gains() &&
         llvm::all_of(others, [&](linalg::LinalgOp each) { return followsInRows(each); });
}

/// The results of a map, those of `joined` as one.
SmallVector<ReassociationIndices> Unfolding::groupsOf(AffineMap map, ArrayRef<unsigned> joined) {
  SmallVector<ReassociationIndices> groups;
  bool isIn = false;
  for (auto [place, expr] : llvm::enumerate(map.getResults())) {
    bool isJoined = llvm::is_contained(joined, cast<AffineDimExpr>(expr).getPosition());
    if (isJoined && isIn)
      groups.back().push_back(int64_t(place));
    else
      groups.push_back({int64_t(place)});
    isIn = isJoined;
  }
  return groups;
}

Value Unfolding::collapse(Value tensor, AffineMap map, ArrayRef<unsigned> joined) {
  if (joined.size() < 2)
    return tensor;
  return tensor::CollapseShapeOp::create(b, op.getLoc(), tensor, groupsOf(map, joined));
}

/// Of loops that are `loops`, then the channel, pixels and k.
AffineMap Unfolding::joinedMap(AffineMap map, ArrayRef<unsigned> joined, unsigned as) {
  SmallVector<AffineExpr> results;
  for (const ReassociationIndices &group : groupsOf(map, joined)) {
    unsigned dim = cast<AffineDimExpr>(map.getResult(unsigned(group.front()))).getPosition();
    unsigned number = llvm::is_contained(joined, dim) ? as
                      : dim == channel ? unsigned(loops.size())
                                       : unsigned(llvm::find(loops, dim) - loops.begin());
    results.push_back(b.getAffineDimExpr(number));
  }
  return AffineMap::get(unsigned(loops.size()) + 3, 0, results, b.getContext());
}

/// The memory of the image with the sizes of the matrix.
Value Unfolding::viewOfImage() {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(image.getType());
  SmallVector<int64_t> shape;
  for (unsigned loop : loops)
    shape.push_back(extents[loop]);
  int64_t k = WindowedMatrix::count(window.k), places = WindowedMatrix::count(window.pixels);
  shape.append({channelsLast ? places : k, channelsLast ? k : places});
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * shape[dim];
  auto memory = MemRefType::get(type.getShape(), type.getElementType());
  Value buffer =
      bufferization::ToBufferOp::create(b, loc, memory, image, /*read_only=*/b.getUnitAttr());
  Value view = memref::ReinterpretCastOp::create(
      b, loc, MemRefType::get(shape, type.getElementType()), buffer, /*offset=*/0, shape, strides);
  return bufferization::ToTensorOp::create(b, loc, type.clone(shape), view, /*restrict=*/true);
}

void Unfolding::rewrite() {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto rank = unsigned(loops.size());
  unsigned pixel = rank + 1, k = rank + 2;
  Value matrix = viewOfImage(), weights = collapse(op->getOperand(1), filter, inner);
  Value init = collapse(op->getOperand(2), output, pixels);
  SmallVector<AffineExpr> places;
  for (unsigned loop = 0; loop < rank; ++loop)
    places.push_back(b.getAffineDimExpr(loop));
  places.push_back(b.getAffineDimExpr(channelsLast ? pixel : k));
  places.push_back(b.getAffineDimExpr(channelsLast ? k : pixel));
  SmallVector<AffineMap> maps = {AffineMap::get(rank + 3, 0, places, b.getContext()),
                                 joinedMap(filter, inner, k), joinedMap(output, pixels, pixel)};
  SmallVector<utils::IteratorType> kinds(rank + 2, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  auto product =
      linalg::GenericOp::create(b, loc, init.getType(), ValueRange{matrix, weights}, init, maps,
                                kinds, [&](OpBuilder &builder, Location, ValueRange arguments) {
                                  IRMapping mapping;
                                  mapping.map(op->getRegion(0).front().getArguments(), arguments);
                                  for (Operation &inside : op->getRegion(0).front())
                                    builder.clone(inside, mapping);
                                });
  Value result = product.getResult(0);
  if (pixels.size() > 1)
    result = tensor::ExpandShapeOp::create(b, loc, op->getResult(0).getType(), result,
                                           groupsOf(output, pixels));
  b.replaceOp(op, result);
  collapseRest();
  b.modifyOpInPlace(func,
                    [&] { func->setDiscardableAttr(kWindowAttr, window.toAttr(b.getContext())); });
  b.modifyOpInPlace(kernel, [&] { kernel->setAttr(kScheduleAttr, b.getStringAttr("matmul")); });
}

/// The same op on inputs without the dimensions of one element that no loop walks over.
linalg::GenericOp Unfolding::dropUnits(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> inputs;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap &map = maps[operand->getOperandNumber()];
    inputs.push_back(operand->get());
    if (llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>))
      continue;
    SmallVector<ReassociationIndices> groups;
    ReassociationIndices leading;
    for (auto [place, expr] : llvm::enumerate(map.getResults())) {
      if (isa<AffineDimExpr>(expr)) {
        groups.push_back(std::exchange(leading, {}));
        groups.back().push_back(int64_t(place));
      } else {
        (groups.empty() ? leading : groups.back()).push_back(int64_t(place));
      }
    }
    map = withoutZeros(map);
    inputs.back() = tensor::CollapseShapeOp::create(b, op.getLoc(), operand->get(), groups);
  }
  auto made = linalg::GenericOp::create(b, op.getLoc(), op.getResultTypes(), inputs,
                                        op.getOutputs(), maps, op.getIteratorTypesArray());
  b.inlineRegionBefore(op.getRegion(), made.getRegion(), made.getRegion().begin());
  b.replaceOp(op, made);
  return made;
}

/// Ops before and behind the product get its shape, too.
void Unfolding::collapseRest() {
  SmallVector<ReassociationIndices> groups = groupsOf(output, pixels);
  for (linalg::LinalgOp each : others) {
    if (isa<linalg::FillOp>(each))
      continue;
    b.setInsertionPoint(each);
    auto generic = dyn_cast<linalg::GenericOp>(each.getOperation());
    if (!generic) {
      FailureOr<linalg::GenericOp> named = linalg::generalizeNamedOp(b, each);
      if (failed(named))
        continue;
      generic = *named;
    }
    linalg::GenericOp whole = dropUnits(generic);
    if (pixels.size() < 2)
      continue;
    FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(whole, groups, b);
    if (succeeded(collapsed))
      b.replaceOp(whole, collapsed->results);
  }
  RewritePatternSet patterns(b.getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, b.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, b.getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, b.getContext());
  (void)applyPatternsGreedily(func, std::move(patterns));
}

} // namespace

DiagnosedSilenceableFailure ConvolutionsToProductsOp::apply(TransformRewriter &rewriter,
                                                            TransformResults &,
                                                            TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  const Target *target = nullptr;
  if (auto diag = readF32Units(op, state, getUnits(), getChip(), target);
      !diag.succeeded() || !target)
    return diag;
  for (Operation *root : state.getPayloadOps(getTarget())) {
    SmallVector<ModuleOp> kernels;
    root->walk([&](ModuleOp kernel) {
      if (auto name = kernel->getAttrOfType<StringAttr>(kScheduleAttr);
          name && name == "convolution")
        kernels.push_back(kernel);
    });
    for (ModuleOp kernel : kernels)
      if (Unfolding unfolding(rewriter, kernel, *target); unfolding.match())
        unfolding.rewrite();
  }
  return DiagnosedSilenceableFailure::success();
}

void ConvolutionsToProductsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
