//===- ReshapesToViews.cpp - reshapes as collapse_shape and expand_shape -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tensor.reshape to sizes that tensor.from_elements lists, transposes that only move dimensions
// of one. Out: dimensions that are collapsed to one and expanded. Refused: nothing; others stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_RESHAPESTOVIEWS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// `size` where it is not negative: others are refused, not inferred from the rest. What else is of
/// that size has no other one then.
static Value withoutInference(IRRewriter &b, Value size) {
  auto select = size.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  bool asksForNegative = compare && compare.getPredicate() == arith::CmpIPredicate::slt &&
                         compare.getLhs() == select.getFalseValue() &&
                         matchPattern(compare.getRhs(), m_Zero());
  if (!asksForNegative)
    return size;
  Value given = select.getFalseValue();
  b.replaceAllUsesWith(select, given);
  return given;
}

static void rewrite(IRRewriter &b, tensor::ReshapeOp reshape) {
  auto list = reshape.getShape().getDefiningOp<tensor::FromElementsOp>();
  auto source = dyn_cast<RankedTensorType>(reshape.getSource().getType());
  auto type = dyn_cast<RankedTensorType>(reshape.getResult().getType());
  if (!list || !source || !type || source.getRank() == 0 || type.getRank() == 0)
    return;
  Location loc = reshape.getLoc();
  b.setInsertionPoint(reshape);
  SmallVector<OpFoldResult> sizes;
  for (auto [size, known] : llvm::zip_equal(list.getElements(), type.getShape()))
    sizes.push_back(ShapedType::isDynamic(known)
                        ? getAsOpFoldResult(getValueOrCreateCastToIndexLike(
                              b, loc, b.getIndexType(), withoutInference(b, size)))
                        : b.getIndexAttr(known));
  int64_t kept = 0;
  auto sizeFromEnd = [&](RankedTensorType of) { return of.getDimSize(of.getRank() - 1 - kept); };
  while (kept + 1 < std::min(source.getRank(), type.getRank()) &&
         !ShapedType::isDynamic(sizeFromEnd(source)) && sizeFromEnd(source) == sizeFromEnd(type))
    ++kept;
  auto groups = [&](int64_t rank) {
    SmallVector<ReassociationIndices> found(1 + kept);
    for (int64_t dim = 0; dim < rank; ++dim)
      found[std::max<int64_t>(0, dim - (rank - 1 - kept))].push_back(dim);
    return found;
  };
  Value value = reshape.getSource();
  if (source.getRank() > kept + 1)
    value = tensor::CollapseShapeOp::create(b, loc, value, groups(source.getRank()));
  if (type.getRank() > kept + 1) {
    b.replaceOpWithNewOp<tensor::ExpandShapeOp>(reshape, type, value, groups(type.getRank()),
                                                sizes);
    return;
  }
  if (value.getType() != type)
    value = tensor::CastOp::create(b, loc, type, value);
  b.replaceOp(reshape, value);
}

/// Groups of dimensions with one that is not 1 each, if there is any.
static SmallVector<ReassociationIndices> groupsAroundOnes(ArrayRef<int64_t> shape) {
  SmallVector<ReassociationIndices> groups(1);
  bool isFull = false;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (isFull && size != 1)
      groups.emplace_back();
    isFull |= size != 1;
    groups.back().push_back(dim);
  }
  return groups;
}

static void rewrite(IRRewriter &b, linalg::TransposeOp transpose) {
  if (!transpose.hasPureTensorSemantics())
    return;
  auto source = cast<RankedTensorType>(transpose.getInput().getType());
  auto type = cast<RankedTensorType>(transpose->getResult(0).getType());
  // In the order of the source, the dimensions that are more than one.
  SmallVector<int64_t> moved = llvm::to_vector(llvm::make_filter_range(
      transpose.getPermutation(), [&](int64_t dim) { return source.getDimSize(dim) != 1; }));
  if (source.getRank() == 0 || !llvm::is_sorted(moved))
    return;
  Location loc = transpose.getLoc();
  b.setInsertionPoint(transpose);
  Value dense = tensor::CollapseShapeOp::create(b, loc, transpose.getInput(),
                                                groupsAroundOnes(source.getShape()));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, loc, transpose.getDpsInitOperand(0)->get());
  b.replaceOpWithNewOp<tensor::ExpandShapeOp>(transpose, type, dense,
                                              groupsAroundOnes(type.getShape()), sizes);
}

namespace {
struct ReshapesToViews : xetile::impl::ReshapesToViewsBase<ReshapesToViews> {
  using ReshapesToViewsBase::ReshapesToViewsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<tensor::ReshapeOp, linalg::TransposeOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (auto reshape = dyn_cast<tensor::ReshapeOp>(op))
        rewrite(rewriter, reshape);
      else if (transposes)
        rewrite(rewriter, cast<linalg::TransposeOp>(op));
  }
};
} // namespace
