//===- ConvolutionsToProducts.cpp - transform.xetile.convolutions_to_products ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels of convolutions of f32. Out: those that gain on the matrix unit as kernels of
// products (UnfoldConvolution.cpp), whose one operand is the image as a matrix of its windows
// (WindowedMatrix.h). Refused: other units than matrix and vector; what does not fit stays.
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/Programs/UnfoldConvolution.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

constexpr int64_t kMostElements = int64_t(1) << 30; // that numbers of 32 bits count

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

std::optional<MatmulProblem> productOf(linalg::LinalgOp convolution) {
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(convolution);
  SmallVector<int64_t> extents = convolution.getStaticLoopRanges();
  if (failed(dims) || llvm::any_of(extents, ShapedType::isDynamic))
    return std::nullopt;
  auto count = [&](std::initializer_list<ArrayRef<unsigned>> lists) {
    int64_t all = 1;
    for (ArrayRef<unsigned> list : lists)
      for (unsigned dim : list)
        all = saturatingProduct(all, extents[dim]);
    return all;
  };
  MatmulProblem problem = {count({dims->outputChannel}), count({dims->outputImage}),
                           count({dims->inputChannel, dims->filterLoop}), 32, /*byElements=*/true};
  problem.batches = count({dims->batch, dims->depth});
  problem.isExact = true;
  AffineMap output = convolution.getMatchingIndexingMap(convolution.getDpsInitOperand(0));
  if (auto last = dyn_cast<AffineDimExpr>(output.getResults().back());
      last && llvm::is_contained(dims->outputImage, last.getPosition()))
    problem.imageRow = extents[last.getPosition()];
  return problem;
}

bool Unfolding::gains() {
  MatmulProblem problem = *productOf(op); // of sizes that are known
  if (!target.multipliesF32(problem))
    return false;
  if (window.operand == 0)
    std::swap(problem.m, problem.n);
  Type f32 = b.getF32Type();
  return !target.checkTiling(target.chooseTiling(problem, {}), f32, f32) &&
         llvm::all_of(func.getResultTypes(), [&](Type type) {
           return target.storesOfProducts(getElementTypeOrSelf(type));
         });
}

/// True if dimensions that no loop walks over have one element.
static bool zerosAreUnits(OpOperand &operand, AffineMap map) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  return llvm::all_of(llvm::enumerate(map.getResults()), [&](auto each) {
    return isa<AffineDimExpr>(each.value()) || type.getDimSize(int64_t(each.index())) == 1;
  });
}

bool Unfolding::hasShapeOfResult(linalg::LinalgOp each) {
  return each->getNumResults() == 1 &&
         cast<RankedTensorType>(each->getResult(0).getType()).getShape() ==
             cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

/// The op that computes a tensor, maybe with dimensions of one element besides.
static Operation *makerOf(Value tensor) {
  Operation *made = tensor.getDefiningOp();
  if (isa_and_present<tensor::ExpandShapeOp>(made))
    made = made->getOperand(0).getDefiningOp();
  return made;
}

/// True for an argument, maybe reshaped, and for what has no elements of others.
static bool isGiven(Value tensor) {
  Operation *made = tensor.getDefiningOp();
  if (isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(made))
    made = made->getOperand(0).getDefiningOp();
  return !made || isa<tensor::EmptyOp, arith::ConstantOp>(made);
}

/// Takes ops of another shape than the result's from `others`. True if they do not depend on the
/// convolution, so that who reads them can compute them, too.
bool Unfolding::splitOthers() {
  llvm::SmallPtrSet<Operation *, 8> taken;
  for (linalg::LinalgOp each : others)
    if (!hasShapeOfResult(each)) {
      bool isPlain = isa<linalg::GenericOp>(each) && each->getNumResults() == 1 &&
                     !each.hasIndexSemantics() &&
                     each.getMatchingIndexingMap(each.getDpsInitOperand(0)).isIdentity();
      for (Value operand : each->getOperands())
        isPlain &= taken.contains(operand.getDefiningOp()) || isGiven(operand);
      if (!isPlain)
        return false;
      taken.insert(each);
      ofChannels.push_back(each);
    }
  llvm::erase_if(others, [&](linalg::LinalgOp each) { return taken.contains(each); });
  return true;
}

/// True if `op` computes elements of the result's shape, each from those of its place, of its
/// channel, or of its pixel.
bool Unfolding::followsInRows(linalg::LinalgOp each) {
  if (!each.getMatchingIndexingMap(each.getDpsInitOperand(0)).isIdentity() ||
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
    if (Operation *made = makerOf(operand.get()); llvm::is_contained(ofChannels, made))
      return hasNone;
    return hasNone ||
           (llvm::all_of(places, [&](unsigned place) { return map.isFunctionOfDim(place); }) &&
            isInOrder(map, places));
  });
}

bool Unfolding::match() {
  return findOps() && matchOperands() && matchDims() && matchImage() && gains() && splitOthers() &&
         llvm::all_of(others, [&](linalg::LinalgOp each) { return followsInRows(each); });
}

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
