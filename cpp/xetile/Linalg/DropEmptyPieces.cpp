//===- DropEmptyPieces.cpp - what is computed of nothing ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: ops on tensors that have no elements, as their types or constants say. Out: pads,
// concatenations and reductions of what is around them alone, and tensor.empty. Refused: nothing.
//
// Upstream takes pieces to views of memory that begin behind its last element, and slices of slices
// to ones of their sources; its verifiers refuse both, as there is no element at that place.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Linalg/HasElements.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_DROPEMPTYPIECES
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

static bool isEmpty(Type type) { return llvm::is_contained(cast<ShapedType>(type).getShape(), 0); }

/// The sizes of the op's result that its type does not say.
static SmallVector<Value> dynamicSizes(IRRewriter &b, ReifyRankedShapedTypeOpInterface op) {
  ReifiedRankedShapedTypeDims sizes;
  SmallVector<Value> found;
  if (failed(op.reifyResultShapes(b, sizes)))
    return found;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (auto [number, size] : llvm::enumerate(sizes.front()))
    if (type.isDynamicDim(number))
      found.push_back(getValueOrCreateConstantIndexOp(b, op->getLoc(), size));
  return found;
}

/// The padding of an empty tensor is the result.
static void rewrite(IRRewriter &b, tensor::PadOp pad) {
  auto sizes = dynamicSizes(b, cast<ReifyRankedShapedTypeOpInterface>(pad.getOperation()));
  auto all = tensor::GenerateOp::create(b, pad.getLoc(), pad.getResultType(), sizes);
  b.inlineRegionBefore(pad.getRegion(), all.getBody(), all.getBody().end());
  b.replaceOp(pad, all);
}

static void rewrite(IRRewriter &b, tensor::ConcatOp concat) {
  Location loc = concat.getLoc();
  RankedTensorType type = concat.getResultType();
  SmallVector<Value> pieces;
  if (!isEmpty(type))
    llvm::copy_if(concat.getInputs(), std::back_inserter(pieces),
                  [](Value piece) { return !isEmpty(piece.getType()); });
  Value all;
  if (pieces.empty())
    all = tensor::EmptyOp::create(
        b, loc, type,
        dynamicSizes(b, cast<ReifyRankedShapedTypeOpInterface>(concat.getOperation())));
  else if (pieces.size() == 1)
    all = pieces[0].getType() == type ? pieces[0]
                                      : tensor::CastOp::create(b, loc, type, pieces[0]).getResult();
  else
    all = tensor::ConcatOp::create(b, loc, type, concat.getDim(), pieces);
  b.replaceOp(concat, all);
}

static void rewrite(IRRewriter &b, tensor::ExtractSliceOp slice) {
  auto sizes = dynamicSizes(b, cast<ReifyRankedShapedTypeOpInterface>(slice.getOperation()));
  b.replaceOpWithNewOp<tensor::EmptyOp>(slice, slice.getType(), sizes);
}

/// True if all that `op` does is to compute tensors that have no elements, whose sizes are known.
/// Loops may never end.
static bool computesNothing(Operation *op) {
  return op->getNumResults() > 0 && isMemoryEffectFree(op) && !isa<tensor::EmptyOp>(op) &&
         !isa<RegionBranchOpInterface>(op) && llvm::all_of(op->getResultTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor && tensor.hasStaticShape() && isEmpty(tensor);
         });
}

static void replaceByEmpty(IRRewriter &b, Operation *op) {
  SmallVector<Value> results;
  for (Type type : op->getResultTypes())
    results.push_back(tensor::EmptyOp::create(b, op->getLoc(), type, ValueRange()));
  b.replaceOp(op, results);
}

namespace {
struct DropEmptyPieces : xetile::impl::DropEmptyPiecesBase<DropEmptyPieces> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](Operation *op) {
      rewriter.setInsertionPoint(op);
      if (computesNothing(op))
        replaceByEmpty(rewriter, op);
      else if (auto loops = dyn_cast<linalg::LinalgOp>(op);
               loops && loops.hasPureTensorSemantics() && !xetile::hasElements(loops))
        rewriter.replaceOp(op, loops.getDpsInits());
      else if (auto pad = dyn_cast<tensor::PadOp>(op); pad && isEmpty(pad.getSourceType()))
        rewrite(rewriter, pad);
      else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
               slice && llvm::any_of(slice.getMixedSizes(), isZeroInteger))
        rewrite(rewriter, slice);
      else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op);
               insertion && llvm::any_of(insertion.getMixedSizes(), isZeroInteger))
        rewriter.replaceOp(insertion, insertion.getDest());
      else if (auto concat = dyn_cast<tensor::ConcatOp>(op);
               concat && (isEmpty(concat.getResultType()) ||
                          llvm::any_of(concat.getInputs().getTypes(), isEmpty)))
        rewrite(rewriter, concat);
    });
  }
};
} // namespace
