//===- UnfoldConvolution.cpp - a convolution as a product ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a kernel's convolution that was matched. Out: the product of its filter and a view of the
// image's memory as a matrix of windows: nothing is copied; ops around it have the product's shape,
// and compute what they read of channels. Refused: nothing.
#include "xetile/Schedule/Programs/UnfoldConvolution.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Linalg/ScheduleMark.h"

using namespace mlir;

namespace xetile::transform_ops {

AffineMap withoutZeros(AffineMap map) {
  SmallVector<AffineExpr> results(
      llvm::make_filter_range(map.getResults(), llvm::IsaPred<AffineDimExpr>));
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
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

/// The same op, which computes what it reads of channels.
linalg::GenericOp Unfolding::withChannels(linalg::GenericOp each) {
  auto isOfChannel = [&](OpOperand *operand) {
    return llvm::is_contained(ofChannels, operand->get().getDefiningOp()) &&
           linalg::areElementwiseOpsFusable(operand);
  };
  while (true) {
    auto inputs = each.getDpsInputOperands();
    auto found = llvm::find_if(inputs, isOfChannel);
    if (found == inputs.end())
      return each;
    FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(b, *found);
    if (failed(fused))
      return each;
    Value result = fused->replacements.lookup(each->getResult(0));
    b.replaceOp(each, result);
    each = cast<linalg::GenericOp>(result.getDefiningOp());
  }
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
    b.setInsertionPoint(generic);
    linalg::GenericOp whole = dropUnits(withChannels(generic));
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

} // namespace xetile::transform_ops
