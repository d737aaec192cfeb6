//===- PartialSums.cpp - sums of several threads of k ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: sums of K threads, in f32 at least. Out: one elementwise op that adds and converts them, with
// the consumer where there is one. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/PartialSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/TileLoops.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"

using namespace mlir;
using namespace xetile;

Value xetile::createPartials(OpBuilder &b, Location loc, const DeepTilePlan &plan) {
  SmallVector<Index> shape = {b.getIndexAttr(plan.threads.counts[kK])};
  llvm::append_range(shape, tensor::getMixedSizes(b, loc, plan.matmul.op->getOperand(2)));
  return tensor::EmptyOp::create(b, loc, shape, plan.epilogue.resultType);
}

Value xetile::addPartials(OpBuilder &b, Location loc, const DeepTilePlan &plan, Value partials) {
  Value start = plan.matmul.op.getDpsInits()[0];
  TypedAttr initial = plan.epilogue.accumulator;
  bool hasConsumer = bool(plan.fusion.consumer);
  auto startType = cast<RankedTensorType>(start.getType());
  unsigned rank = startType.getRank();
  SmallVector<Index> offsets(rank + 1, b.getIndexAttr(0)), strides(rank + 1, b.getIndexAttr(1));
  SmallVector<Index> shape = tensor::getMixedSizes(b, loc, start), sizes = {b.getIndexAttr(1)};
  llvm::append_range(sizes, shape);
  auto partialType = cast<RankedTensorType>(partials.getType());
  auto type =
      RankedTensorType::get(partialType.getShape().drop_front(), partialType.getElementType());
  SmallVector<Value> inputs;
  for (int64_t thread = 0; thread < plan.threads.counts[kK]; ++thread) {
    offsets[0] = b.getIndexAttr(thread);
    inputs.push_back(
        tensor::ExtractSliceOp::create(b, loc, type, partials, offsets, sizes, strides));
  }
  // A consumer that is fused with this op gives it a place of its own to write to.
  Value into = plan.epilogue.destination.value;
  if (hasConsumer) {
    into = tensor::EmptyOp::create(b, loc, shape, startType.getElementType());
    if (!initial)
      inputs.push_back(start);
  }
  SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto sum = linalg::GenericOp::create(
      b, loc, TypeRange(into.getType()), inputs, ValueRange(into), maps, iterators,
      [&](OpBuilder &builder, Location at, ValueRange args) {
        SmallVector<Value> terms(args.drop_back());
        if (!initial && !hasConsumer)
          terms.push_back(args.back());
        if (initial && initial != b.getZeroAttr(initial.getType()))
          terms.push_back(arith::ConstantOp::create(builder, at, initial));
        Value total = terms[0];
        for (Value term : ArrayRef(terms).drop_front()) {
          term = extendElement(builder, at, term, total.getType(), false);
          total = addElements(builder, at, total, term);
        }
        linalg::YieldOp::create(builder, at,
                                narrowElement(builder, at, total, args.back().getType()));
      });
  return sum.getResult(0);
}

Value xetile::fuseReduction(RewriterBase &rewriter, Value sum, linalg::GenericOp consumer) {
  OpOperand *use = llvm::find_if(consumer->getOpOperands(),
                                 [&](OpOperand &operand) { return operand.get() == sum; });
  if (!linalg::areElementwiseOpsFusable(use))
    return consumer->getResult(0);
  rewriter.setInsertionPoint(consumer);
  Operation *reduction = sum.getDefiningOp();
  FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, use);
  if (failed(fused))
    return consumer->getResult(0);
  rewriter.replaceOp(consumer, fused->fusedOp->getResults());
  if (reduction->use_empty())
    rewriter.eraseOp(reduction);
  return fused->fusedOp->getResult(0);
}
