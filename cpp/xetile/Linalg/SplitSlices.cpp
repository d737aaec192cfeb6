//===- SplitSlices.cpp - slices that step or drop dimensions, not both -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tensor.extract_slice and tensor.insert_slice. Out: those that drop dimensions have steps of
// one. Refused: nothing. Upstream's memref.subview cannot tell which dimensions it drops if some
// are stepped over and others that stay are of size one too, and reads outside of its memory.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SPLITSLICES
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

static bool stepsAndDrops(OffsetSizeAndStrideOpInterface slice,
                          const llvm::SmallBitVector &dropped) {
  return dropped.any() && !llvm::all_of(slice.getMixedStrides(), isOneInteger);
}

/// Steps, without those over single elements.
static SmallVector<OpFoldResult> stepsOf(OffsetSizeAndStrideOpInterface slice) {
  SmallVector<OpFoldResult> steps = slice.getMixedStrides();
  for (auto [step, size] : llvm::zip(steps, slice.getMixedSizes()))
    if (isOneInteger(size))
      step = size;
  return steps;
}

namespace {
struct SplitSlices : xetile::impl::SplitSlicesBase<SplitSlices> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      rewriter.setInsertionPoint(op);
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
          slice && stepsAndDrops(slice, slice.getDroppedDims()))
        split(rewriter, slice);
      else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
               insertion && stepsAndDrops(insertion, insertion.getDroppedDims()))
        split(rewriter, insertion);
    });
  }

private:
  static void split(IRRewriter &b, tensor::ExtractSliceOp slice) {
    Location loc = slice.getLoc();
    SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
    Value all = tensor::ExtractSliceOp::create(b, loc, slice.getSource(), slice.getMixedOffsets(),
                                               sizes, stepsOf(slice));
    SmallVector<OpFoldResult> zeros(sizes.size(), b.getIndexAttr(0)),
        ones(sizes.size(), b.getIndexAttr(1));
    b.replaceOpWithNewOp<tensor::ExtractSliceOp>(slice, slice.getType(), all, zeros, sizes, ones);
  }

  static void split(IRRewriter &b, tensor::InsertSliceOp insertion) {
    Location loc = insertion.getLoc();
    SmallVector<OpFoldResult> sizes = insertion.getMixedSizes();
    llvm::SmallBitVector dropped = insertion.getDroppedDims();
    // Each dimension that stays takes the dropped ones before it, the last one those behind, too.
    SmallVector<ReassociationIndices> groups;
    ReassociationIndices group;
    for (unsigned dim = 0; dim < sizes.size(); ++dim) {
      group.push_back(dim);
      if (!dropped.test(dim))
        groups.push_back(std::exchange(group, {}));
    }
    if (!groups.empty())
      groups.back().append(group);
    auto source = cast<RankedTensorType>(insertion.getSource().getType());
    SmallVector<int64_t> shape;
    int64_t place = 0;
    for (unsigned dim = 0; dim < sizes.size(); ++dim)
      shape.push_back(dropped.test(dim) ? 1 : source.getDimSize(place++));
    Value all =
        tensor::ExpandShapeOp::create(b, loc, RankedTensorType::get(shape, source.getElementType()),
                                      insertion.getSource(), groups, sizes);
    b.replaceOpWithNewOp<tensor::InsertSliceOp>(insertion, all, insertion.getDest(),
                                                insertion.getMixedOffsets(), sizes,
                                                stepsOf(insertion));
  }
};
} // namespace
