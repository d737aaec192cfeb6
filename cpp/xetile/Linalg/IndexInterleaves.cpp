//===- IndexInterleaves.cpp - interleaved dimensions, read by index -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: transposes whose result has a short last dimension, which a reshape joins with others: of
// pixel shuffles, of transposed convolutions. Out: for a chip whose threads load element by element
// as fast as others, ops that compute where each element of the joined result is. Refused: nothing;
// other transposes stay, and all of chips with blocks of memory.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_INDEXINTERLEAVES
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// The transpose of an interleave: tiles of its last two dimensions have few elements.
static linalg::TransposeOp interleaveOf(tensor::CollapseShapeOp op) {
  constexpr int64_t kShort = 16;
  auto transpose = op.getSrc().getDefiningOp<linalg::TransposeOp>();
  if (!transpose || !transpose.hasPureTensorSemantics() || !transpose->hasOneUse() ||
      !op.getSrcType().hasStaticShape())
    return {};
  ArrayRef<int64_t> shape = op.getSrcType().getShape(), order = transpose.getPermutation();
  ReassociationIndices last = op.getReassociationIndices().back();
  int64_t joined = 1;
  for (int64_t dim : last)
    joined *= shape[dim];
  bool isShort = shape.back() > 1 && shape.back() < kShort && joined > shape.back();
  return isShort && order.back() != int64_t(shape.size()) - 1 ? transpose : linalg::TransposeOp();
}

/// Writes where the element of the transpose's source is that the current element is.
static SmallVector<Value> placesOf(OpBuilder &b, Location loc, tensor::CollapseShapeOp op,
                                   ArrayRef<int64_t> order) {
  SmallVector<Value> places(order.size());
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  for (auto [loop, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value rest = linalg::IndexOp::create(b, loc, int64_t(loop));
    for (int64_t dim : llvm::reverse(group)) {
      int64_t size = op.getSrcType().getDimSize(dim);
      Value &place = places[size_t(order[size_t(dim)])];
      if (dim == group.front()) {
        place = rest;
        continue;
      }
      place = arith::RemUIOp::create(b, loc, rest, number(size));
      rest = arith::DivUIOp::create(b, loc, rest, number(size));
    }
  }
  return places;
}

namespace {

struct IndexInterleaves : xetile::impl::IndexInterleavesBase<IndexInterleaves> {
  using IndexInterleavesBase::IndexInterleavesBase;

  void runOnOperation() override {
    if (chip.empty() || xetile::lookupTarget(chip))
      return;
    SmallVector<tensor::CollapseShapeOp> found;
    getOperation()->walk([&](tensor::CollapseShapeOp op) {
      if (interleaveOf(op))
        found.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (tensor::CollapseShapeOp op : found)
      rewrite(rewriter, op);
  }

  static void rewrite(IRRewriter &b, tensor::CollapseShapeOp op) {
    linalg::TransposeOp transpose = interleaveOf(op);
    RankedTensorType type = op.getResultType();
    b.setInsertionPoint(op);
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(), type.getElementType());
    SmallVector<utils::IteratorType> kinds(size_t(type.getRank()), utils::IteratorType::parallel);
    auto read = linalg::GenericOp::create(
        b, op.getLoc(), type, ValueRange{}, empty,
        ArrayRef<AffineMap>{b.getMultiDimIdentityMap(unsigned(type.getRank()))}, kinds,
        [&](OpBuilder &inside, Location loc, ValueRange) {
          SmallVector<Value> places = placesOf(inside, loc, op, transpose.getPermutation());
          Value element = tensor::ExtractOp::create(inside, loc, transpose.getInput(), places);
          linalg::YieldOp::create(inside, loc, element);
        });
    b.replaceOp(op, read);
    b.eraseOp(transpose);
  }
};

} // namespace
