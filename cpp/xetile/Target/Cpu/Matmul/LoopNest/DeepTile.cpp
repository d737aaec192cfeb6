//===- DeepTile.cpp - the nine-loop rewrite of a matmul ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction on tensors, its configuration, the work around it. Out: loops of threads,
// blocks and innermost blocks, and the reduction of K threads, in its place. Nothing is refused:
// the configuration is legal.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/DeepTile.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/PartialSums.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadLoop.h"
#include "xetile/Target/Cpu/Matmul/Packing/PackBlocks.h"

using namespace mlir;
using namespace xetile;

/// The sizes of all dimensions, those that no type tells from operands.
static IterationSpace createSpace(OpBuilder &b, Location loc, const DeepTilePlan &plan) {
  const Contraction &matmul = plan.matmul;
  unsigned dims = matmul.sizes.size();
  IterationSpace space = {matmul, SmallVector<Index>(dims), b.getIndexAttr(0), b.getIndexAttr(1)};
  for (unsigned dim = 0; dim < dims; ++dim) {
    if (!ShapedType::isDynamic(matmul.sizes[dim])) {
      space.sizes[dim] = b.getIndexAttr(matmul.sizes[dim]);
      continue;
    }
    for (unsigned operand = 0; operand < 3; ++operand)
      if (std::optional<unsigned> place =
              matmul.map(operand).getResultPosition(b.getAffineDimExpr(dim))) {
        Value source = matmul.op->getOperand(operand);
        // A producer is gone in the end; where it would write to has the same sizes.
        if (linalg::GenericOp producer =
                operand < 2 ? plan.fusion.producers[operand] : linalg::GenericOp())
          source = producer.getDpsInits()[0];
        space.sizes[dim] = tensor::DimOp::create(b, loc, source, *place).getResult();
      }
  }
  return space;
}

Value xetile::deepTile(RewriterBase &rewriter, const Contraction &matmul,
                       const ConfigChoice &choice, const Fusion &fusion) {
  const DeepTilePlan plan(matmul, choice, fusion);
  Operation *op = matmul.op;
  Location loc = op->getLoc();
  linalg::GenericOp consumer = fusion.consumer;
  // The consumer's other operands may be defined after the matmul.
  rewriter.setInsertionPoint(consumer ? consumer.getOperation() : op);
  const IterationSpace space = createSpace(rewriter, loc, plan);
  const PackedConstants constants = packConstants(rewriter, loc, plan);
  bool splitsK = plan.threads.splitsK();
  Value into = splitsK ? createPartials(rewriter, loc, plan) : plan.epilogue.destination.value;
  Value result = emitThreadLoop(rewriter, plan, space, constants, into);
  if (splitsK)
    result = addPartials(rewriter, loc, plan, result);
  if (plan.epilogue.consumer) {
    rewriter.replaceOp(consumer, result);
    rewriter.eraseOp(op);
  } else {
    rewriter.replaceOp(op, result);
    if (consumer)
      result = fuseReduction(rewriter, result, consumer);
  }
  for (linalg::GenericOp producer : fusion.producers)
    if (producer)
      rewriter.eraseOp(producer);
  return result;
}
