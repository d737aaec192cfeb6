//===- SliceReshapes.cpp - slices of reshapes ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: where dimensions of a slice are joined, and lie behind each other
// in what it is of, a slice of what has them joined; so with dimensions that are split behind it.
// Refused: nothing; slices of pieces that lie apart, and at places that a run knows, stay.
//
// A kernel reads a slice where it is, and a reshape of memory costs nothing; a slice whose
// dimensions are joined is copied.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SLICERESHAPES
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// True for a slice of whole dimensions of known sizes, without steps.
static bool isPlain(tensor::ExtractSliceOp slice) {
  return slice && slice.getSourceType().hasStaticShape() && slice.getType().hasStaticShape() &&
         slice.hasUnitStride() && slice.getDroppedDims().none() &&
         llvm::none_of(slice.getStaticOffsets(), ShapedType::isDynamic);
}

static Value sliceOf(PatternRewriter &b, Location loc, Value source, ArrayRef<int64_t> offsets,
                     ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> steps(sizes.size(), 1);
  auto attributes = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(b.getContext(), numbers);
  };
  return tensor::ExtractSliceOp::create(b, loc, source, attributes(offsets), attributes(sizes),
                                        attributes(steps));
}

/// A collapsed slice becomes a slice of what is collapsed.
static LogicalResult collapseBefore(tensor::CollapseShapeOp op, PatternRewriter &rewriter) {
  auto slice = op.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
  if (!isPlain(slice))
    return rewriter.notifyMatchFailure(op, "expected a slice at known places");
  ArrayRef<int64_t> whole = slice.getSourceType().getShape(), part = slice.getType().getShape();
  SmallVector<int64_t> offsets, sizes;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    int64_t offset = 0, size = 1;
    for (int64_t dim : group) {
      // Behind a dimension of several elements all others are whole.
      if (size > 1 && part[dim] != whole[dim])
        return rewriter.notifyMatchFailure(op, "expected elements behind each other");
      offset = offset * whole[dim] + slice.getStaticOffsets()[dim];
      size *= part[dim];
    }
    offsets.push_back(offset);
    sizes.push_back(size);
  }
  Value source = tensor::CollapseShapeOp::create(rewriter, op.getLoc(), slice.getSource(),
                                                 op.getReassociationIndices());
  rewriter.replaceOp(op, sliceOf(rewriter, op.getLoc(), source, offsets, sizes));
  return success();
}

/// Whole dimensions of a slice are split before it.
static LogicalResult expandBefore(tensor::ExpandShapeOp op, PatternRewriter &rewriter) {
  auto slice = op.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
  if (!isPlain(slice) ||
      !isa_and_present<tensor::CollapseShapeOp, tensor::PadOp>(slice.getSource().getDefiningOp()))
    return rewriter.notifyMatchFailure(op, "expected a slice of what is collapsed or padded");
  SmallVector<int64_t> shape, offsets, sizes;
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t whole = slice.getSourceType().getDimSize(dim);
    bool isWhole = slice.getType().getDimSize(dim) == whole;
    if (!isWhole && group.size() > 1)
      return rewriter.notifyMatchFailure(op, "expected whole dimensions that are split");
    for (int64_t each : group) {
      sizes.push_back(op.getType().getDimSize(each));
      shape.push_back(isWhole ? sizes.back() : whole);
      offsets.push_back(isWhole ? 0 : slice.getStaticOffsets()[dim]);
    }
  }
  Value source =
      tensor::ExpandShapeOp::create(rewriter, op.getLoc(), slice.getSourceType().clone(shape),
                                    slice.getSource(), op.getReassociationIndices());
  rewriter.replaceOp(op, sliceOf(rewriter, op.getLoc(), source, offsets, sizes));
  return success();
}

namespace {

struct SliceReshapes : xetile::impl::SliceReshapesBase<SliceReshapes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(collapseBefore);
    patterns.add(expandBefore);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), plainRewrites())))
      signalPassFailure();
  }
};

} // namespace
