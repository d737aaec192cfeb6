//===- ExpandDynamicShapes.cpp - memref.expand_shape of sizes in the run ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: memref.expand_shape. Out: where one dimension becomes several whose sizes the run knows,
// arithmetic of strides and a memref.reinterpret_cast. Refused: nothing. Upstream's
// expand-strided-metadata crashes on these.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_EXPANDDYNAMICSHAPES
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

static bool hasUnknownGroup(memref::ExpandShapeOp op) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  return llvm::any_of(op.getReassociationIndices(), [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) { return ShapedType::isDynamic(shape[dim]); }) >
           1;
  });
}

static void expand(RewriterBase &b, memref::ExpandShapeOp op) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto source = memref::ExtractStridedMetadataOp::create(b, loc, op.getSrc());
  SmallVector<OpFoldResult> before = source.getConstifiedMixedStrides();
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape(), strides(sizes.size());
  for (auto [number, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = before[number];
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = stride;
      Value product = arith::MulIOp::create(b, loc, getValueOrCreateConstantIndexOp(b, loc, stride),
                                            getValueOrCreateConstantIndexOp(b, loc, sizes[dim]));
      stride = product;
    }
  }
  // Static strides of the result type are taken as they are.
  SmallVector<int64_t> known;
  int64_t offset;
  if (succeeded(op.getResultType().getStridesAndOffset(known, offset)))
    for (auto [stride, value] : llvm::zip(strides, known))
      if (!ShapedType::isDynamic(value))
        stride = b.getIndexAttr(value);
  b.replaceOpWithNewOp<memref::ReinterpretCastOp>(op, op.getResultType(), source.getBaseBuffer(),
                                                  source.getConstifiedMixedOffset(), sizes,
                                                  strides);
}

namespace {
struct ExpandDynamicShapes : xetile::impl::ExpandDynamicShapesBase<ExpandDynamicShapes> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](memref::ExpandShapeOp op) {
      if (hasUnknownGroup(op))
        expand(rewriter, op);
    });
  }
};
} // namespace
