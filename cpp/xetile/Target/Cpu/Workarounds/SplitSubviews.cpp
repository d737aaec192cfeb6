//===- SplitSubviews.cpp - subviews of memory, and dropped dimensions --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: memref.subview. Out: where its own types do not tell which dimensions it drops, one that
// keeps them and a cast. Refused: nothing. Upstream finds dropped dimensions by their strides;
// where several of size one have strides that are not known it takes another one than the result's
// type has left out, and then refuses what it made of that.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SPLITSUBVIEWS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// True if upstream's dropped dimensions do not match the shape of the result.
static bool isMisread(memref::SubViewOp subview) {
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(subview.getStaticSizes()))
    if (!dropped.test(dim))
      kept.push_back(size);
  return ArrayRef<int64_t>(kept) != subview.getType().getShape();
}

/// The dimensions that stay, by their sizes: of those of size one it does not matter which.
static SmallVector<unsigned> keptDims(ArrayRef<int64_t> sizes, ArrayRef<int64_t> kept) {
  SmallVector<unsigned> dims;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (dims.size() < kept.size() && size == kept[dims.size()])
      dims.push_back(dim);
  return dims;
}

namespace {
struct SplitSubviews : xetile::impl::SplitSubviewsBase<SplitSubviews> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](memref::SubViewOp subview) {
      if (!isMisread(subview))
        return;
      rewriter.setInsertionPoint(subview);
      Location loc = subview.getLoc();
      auto all =
          memref::SubViewOp::create(rewriter, loc, subview.getSource(), subview.getMixedOffsets(),
                                    subview.getMixedSizes(), subview.getMixedStrides());
      auto metadata = memref::ExtractStridedMetadataOp::create(rewriter, loc, all);
      MemRefType type = subview.getType();
      SmallVector<unsigned> dims = keptDims(subview.getStaticSizes(), type.getShape());
      // Static strides and offsets stay static.
      auto [staticStrides, staticOffset] = type.getStridesAndOffset();
      auto known = [&](int64_t number, OpFoldResult computed) -> OpFoldResult {
        return ShapedType::isDynamic(number) ? computed : rewriter.getIndexAttr(number);
      };
      SmallVector<OpFoldResult> sizes, strides;
      for (auto [dim, stride] : llvm::zip(dims, staticStrides)) {
        sizes.push_back(subview.getMixedSizes()[dim]);
        strides.push_back(known(stride, metadata.getConstifiedMixedStrides()[dim]));
      }
      rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
          subview, type, metadata.getBaseBuffer(),
          known(staticOffset, metadata.getConstifiedMixedOffset()), sizes, strides);
    });
  }
};
} // namespace
