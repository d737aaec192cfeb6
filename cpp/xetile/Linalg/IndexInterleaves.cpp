//===- IndexInterleaves.cpp - interleaved dimensions, read by index -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: transposes and repetitions whose result has a short last dimension, which a reshape joins
// with others: of pixel shuffles, of transposed convolutions, of enlarged images. Out: for a chip
// whose threads load element by element as fast as others, ops that compute where each element of
// the joined result is. Refused: nothing; other ops stay, and all of chips with blocks of memory.
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

namespace {

/// The operand that an op moves, and where its element is that belongs at the loops' places.
struct Moved {
  linalg::LinalgOp op;
  Value source;
  AffineMap map;
};

} // namespace

/// An op that transposes or repeats a tensor, with an identity for its result.
static std::optional<Moved> movedBy(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() || linalgOp.getNumDpsInputs() != 1 ||
      op->getNumResults() != 1 || !op->hasOneUse() || linalgOp.getNumReductionLoops() != 0)
    return std::nullopt;
  Block *body = linalgOp.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  AffineMap read = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInputOperand(0)),
            written = linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
  AffineMap places = inversePermutation(written);
  if (yielded != body->getArgument(0) || !places ||
      !read.isProjectedPermutation(/*allowZeroInResults=*/true))
    return std::nullopt;
  return Moved{linalgOp, linalgOp.getDpsInputOperand(0)->get(), read.compose(places)};
}

/// The op of an interleave: tiles of its last two dimensions have few elements.
static std::optional<Moved> interleaveOf(tensor::CollapseShapeOp op) {
  constexpr int64_t kShort = 16;
  std::optional<Moved> moved = movedBy(op.getSrc().getDefiningOp());
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  if (!moved || groups.empty() || !op.getSrcType().hasStaticShape() ||
      moved->map.getNumResults() == 0)
    return std::nullopt;
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  int64_t joined = 1, last = int64_t(shape.size()) - 1;
  for (int64_t dim : groups.back())
    joined *= shape[dim];
  bool isShort = shape.back() > 1 && shape.back() < kShort && joined > shape.back();
  auto inner = dyn_cast<AffineDimExpr>(moved->map.getResults().back());
  bool isRow = inner && int64_t(inner.getPosition()) == last;
  return isShort && !isRow ? moved : std::nullopt;
}

/// Writes where the element of the source is that the current element is.
static SmallVector<Value> placesOf(OpBuilder &b, Location loc, tensor::CollapseShapeOp op,
                                   AffineMap map) {
  SmallVector<Value> loops(map.getNumDims()), places;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  for (auto [loop, group] : llvm::enumerate(groups)) {
    Value rest = linalg::IndexOp::create(b, loc, int64_t(loop));
    for (int64_t dim : llvm::reverse(group)) {
      if (dim == group.front()) {
        loops[size_t(dim)] = rest;
        continue;
      }
      Value size = number(op.getSrcType().getDimSize(dim));
      loops[size_t(dim)] = arith::RemUIOp::create(b, loc, rest, size);
      rest = arith::DivUIOp::create(b, loc, rest, size);
    }
  }
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    places.push_back(dim ? loops[dim.getPosition()] : number(0));
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
    Moved moved = *interleaveOf(op);
    RankedTensorType type = op.getResultType();
    b.setInsertionPoint(op);
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(), type.getElementType());
    SmallVector<utils::IteratorType> kinds(size_t(type.getRank()), utils::IteratorType::parallel);
    auto read = linalg::GenericOp::create(
        b, op.getLoc(), type, ValueRange{}, empty,
        ArrayRef<AffineMap>{b.getMultiDimIdentityMap(unsigned(type.getRank()))}, kinds,
        [&](OpBuilder &inside, Location loc, ValueRange) {
          SmallVector<Value> places = placesOf(inside, loc, op, moved.map);
          Value element = tensor::ExtractOp::create(inside, loc, moved.source, places);
          linalg::YieldOp::create(inside, loc, element);
        });
    b.replaceOp(op, read);
    b.eraseOp(moved.op);
  }
};

} // namespace
