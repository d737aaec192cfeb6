//===- FuseConsumers.cpp - transform.xetile.fuse_consumers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an scf.forall over tiles, elementwise ops on its results. Out: a loop that computes them,
// too. Refused: other targets. Ops that cannot be part of the loop stay behind it.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Schedule/Untaken.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// True if a tile of `op` reads only the same tile of the loop's results.
bool takesTiles(linalg::LinalgOp op, scf::ForallOp loop) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return operand.get().getDefiningOp() != loop ||
           (op.getMatchingIndexingMap(&operand).isPermutation() && op.isDpsInput(&operand));
  });
}

/// True if all other operands of `op` dominate the loop.
bool isReadyBefore(Operation *op, scf::ForallOp loop, DominanceInfo &dominance) {
  return llvm::all_of(op->getOperands(), [&](Value value) {
    return value.getDefiningOp() == loop || dominance.properlyDominates(value, loop);
  });
}

/// Gives `op` new memory for results that it would write over the loop's, which it reads as inputs
/// then: elementwise arithmetic becomes such ops, and inputs that are outputs, too, are merged.
void writeToNewMemory(RewriterBase &rewriter, linalg::LinalgOp op, scf::ForallOp loop) {
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    OpOperand *init = op.getDpsInitOperand(i);
    auto written = dyn_cast<OpResult>(init->get());
    bool isRead = op.payloadUsesValueFromOperand(init);
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!written || written.getOwner() != loop || (isRead && !generic))
      continue;
    // Sizes of the result itself come too late to be in the loop.
    rewriter.setInsertionPoint(loop);
    Value before = loop.getOutputs()[written.getResultNumber()];
    Value fresh = tensor::EmptyOp::create(rewriter, op.getLoc(),
                                          tensor::getMixedSizes(rewriter, op.getLoc(), before),
                                          getElementTypeOrSelf(before.getType()));
    rewriter.modifyOpInPlace(op, [&] {
      init->set(fresh);
      if (!isRead)
        return;
      unsigned last = op.getNumDpsInputs();
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps.insert(maps.begin() + last, op.getMatchingIndexingMap(init));
      Block &body = *op.getBlock();
      Value element = body.insertArgument(last, getElementTypeOrSelf(before), op.getLoc());
      rewriter.replaceAllUsesWith(body.getArgument(last + 1 + i), element);
      generic.getInputsMutable().append(written);
      generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
}

/// The next op to take into the loop, null if there is none.
Operation *findConsumer(RewriterBase &rewriter, scf::ForallOp loop) {
  DominanceInfo dominance(loop->getParentOp());
  for (Operation &op : llvm::make_range(std::next(loop->getIterator()), loop->getBlock()->end())) {
    if (llvm::none_of(op.getOperands(), [&](Value value) { return value.getDefiningOp() == loop; }))
      continue;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || !isElementwiseOnTensors(&op))
      continue;
    writeToNewMemory(rewriter, linalgOp, loop);
    if (takesTiles(linalgOp, loop) && isReadyBefore(&op, loop, dominance))
      return &op;
  }
  return nullptr;
}

/// Results of the loop that are inserted at one place have one value for it: an op that reads two
/// of them is tiled by comparing values.
void sharePlaces(RewriterBase &rewriter, scf::ForallOp loop, Operation *consumer) {
  llvm::SmallPtrSet<Value, 4> read;
  for (Value value : consumer->getOperands())
    if (value.getDefiningOp() == loop)
      read.insert(value);
  if (read.size() < 2)
    return;
  DominanceInfo dominance(loop);
  eliminateCommonSubExpressions(rewriter, dominance, loop);
}

/// Moves what consumers read beside the loop's results, where it does not depend on them, before
/// the loop: an op in the middle of a chain may be written behind it.
void moveOperandsBefore(RewriterBase &rewriter, scf::ForallOp loop) {
  SmallVector<Operation *> free;
  llvm::SmallPtrSet<Operation *, 8> moved;
  DominanceInfo dominance(loop->getParentOp());
  for (Operation &op : llvm::make_range(std::next(loop->getIterator()), loop->getBlock()->end())) {
    bool isFree = op.getNumRegions() <= 1 && op.hasTrait<OpTrait::IsTerminator>() == false &&
                  isMemoryEffectFree(&op);
    for (Value value : op.getOperands()) {
      Operation *definition = value.getDefiningOp();
      isFree &=
          dominance.properlyDominates(value, loop) || (definition && moved.contains(definition));
    }
    // Values captured by a region are operands, too.
    if (op.getNumRegions() == 1 && !isa<linalg::LinalgOp>(op))
      isFree = false;
    if (isFree) {
      moved.insert(&op);
      free.push_back(&op);
    }
  }
  for (Operation *op : free)
    rewriter.moveOpBefore(op, loop);
}

/// Results whose consumers were all fused into the loop have no uses left.
scf::ForallOp dropUnusedResults(RewriterBase &rewriter, scf::ForallOp loop) {
  SmallVector<Value> outputs;
  SmallVector<unsigned> kept;
  for (OpResult result : loop.getResults())
    if (!result.use_empty()) {
      kept.push_back(result.getResultNumber());
      outputs.push_back(loop.getOutputs()[result.getResultNumber()]);
    }
  if (kept.empty() || kept.size() == loop.getNumResults())
    return loop;
  rewriter.setInsertionPoint(loop);
  auto smaller = scf::ForallOp::create(rewriter, loop.getLoc(), loop.getMixedLowerBound(),
                                       loop.getMixedUpperBound(), loop.getMixedStep(), outputs,
                                       loop.getMapping());
  SmallVector<Value> arguments(smaller.getInductionVars());
  auto next = smaller.getRegionIterArgs().begin();
  for (OpResult result : loop.getResults()) {
    BlockArgument output = loop.getRegionIterArgs()[result.getResultNumber()];
    if (!result.use_empty()) {
      arguments.push_back(*next++);
      continue;
    }
    for (Operation *user : llvm::make_early_inc_range(output.getUsers()))
      if (isa<tensor::ParallelInsertSliceOp>(user))
        rewriter.eraseOp(user);
    // The body may still read the init value.
    arguments.push_back(loop.getOutputs()[result.getResultNumber()]);
  }
  rewriter.eraseOp(smaller.getTerminator());
  rewriter.mergeBlocks(loop.getBody(), smaller.getBody(), arguments);
  for (auto [number, result] : llvm::zip_equal(kept, smaller.getResults()))
    rewriter.replaceAllUsesWith(loop.getResult(number), result);
  rewriter.eraseOp(loop);
  return smaller;
}

} // namespace

DiagnosedSilenceableFailure FuseConsumersOp::apply(TransformRewriter &rewriter,
                                                   TransformResults &results,
                                                   TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  SmallVector<Operation *> fused;
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getWorkgroups()))) {
    auto loop = dyn_cast<scf::ForallOp>(target);
    if (!loop)
      return wrongTarget(op, target, "scf.forall");
    moveOperandsBefore(rewriter, loop);
    while (Operation *consumer = findConsumer(rewriter, loop)) {
      sharePlaces(rewriter, loop, consumer);
      SmallVector<LoopLikeOpInterface> loops{cast<LoopLikeOpInterface>(loop.getOperation())};
      rewriter.setInsertionPoint(consumer);
      if (failed(scf::tileAndFuseConsumer(rewriter, consumer, loops)))
        return ::emitDefiniteFailure(consumer->getLoc(),
                                     describe(consumer) +
                                         " cannot be computed in the loop over tiles of its "
                                         "operand; " +
                                         kTakeElsewhere);
      loop = cast<scf::ForallOp>(loops.front().getOperation());
      if (consumer->use_empty())
        rewriter.eraseOp(consumer);
    }
    fused.push_back(dropUnusedResults(rewriter, loop));
  }
  results.set(cast<OpResult>(getFused()), fused);
  return DiagnosedSilenceableFailure::success();
}

void FuseConsumersOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // Handles to what is in the loop stay good.
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
