//===- FuseElementwise.cpp - chains of elementwise ops to one each ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on tensors. Out: an elementwise op with one use, which reads each element once, is
// part of the op that uses it, a cheap one part of all, and results that nobody uses are gone.
// Refused: nothing; what stands in loops stays as it is: those were made with care for memory.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Linalg/InFunction.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Linalg/Simplify.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "xetile-fuse-elementwise"

namespace xetile {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// True if the use's indexing map drops a loop: each element is read several times.
static bool isRepeated(OpOperand *use) {
  auto op = cast<linalg::LinalgOp>(use->getOwner());
  AffineMap map = op.getMatchingIndexingMap(use);
  return llvm::any_of(llvm::seq(op.getNumLoops()),
                      [&](unsigned dim) { return !map.isFunctionOfDim(dim); });
}

/// True if recomputing `op` costs no more than loading its result: an operation or two of
/// arithmetic on one tensor, besides broadcast operands.
static bool isCheap(linalg::GenericOp op) {
  int64_t operations = 0, tensors = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::ExtFOp,
             arith::TruncFOp, math::AbsFOp>(inner))
      return false;
    ++operations;
  }
  for (OpOperand *input : op.getDpsInputOperands())
    tensors += op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops();
  return operations <= 2 && tensors <= 1 && op.getNumResults() == 1 &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0));
}

/// Gives each of an op's users a copy of its own, where all of them can take it in.
static void copyToUsers(RewriterBase &b, linalg::GenericOp op,
                        function_ref<bool(Operation *)> isTaken) {
  if (op->hasOneUse() || op->use_empty() || !isCheap(op) ||
      !llvm::all_of(op->getUses(), [&](OpOperand &use) {
        auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
        return user && isTaken(user) && user.isDpsInput(&use) && !isRepeated(&use);
      }))
    return;
  LDBG() << op << ": each of its users computes it";
  for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(op->getUses()))) {
    b.setInsertionPoint(op);
    Operation *copy = b.clone(*op);
    b.modifyOpInPlace(use.getOwner(), [&] { use.set(copy->getResult(0)); });
  }
}

static SmallVector<Operation *> findOps(Operation *root, function_ref<bool(Operation *)> isTaken) {
  SmallVector<Operation *> ops;
  root->walk([&](linalg::GenericOp op) {
    if (isTaken(op))
      ops.push_back(op);
  });
  return ops;
}

/// Tensors that `user` reads when it computes `producer`, too.
static size_t countInputs(Operation *producer, Operation *user) {
  llvm::SmallPtrSet<Value, 16> inputs;
  for (Operation *op : {producer, user})
    for (OpOperand *input : cast<linalg::LinalgOp>(op).getDpsInputOperands())
      if (input->get().getDefiningOp() != producer && isa<RankedTensorType>(input->get().getType()))
        inputs.insert(input->get());
  return inputs.size();
}

/// Lets an op that reads what it writes over, and that a reduction will take in, read it as an
/// operand. Merged as it is it would become a result of the reduction that each of its steps reads
/// and writes.
static void readDestination(RewriterBase &b, linalg::GenericOp op) {
  OpOperand *init = op.getNumResults() == 1 ? op.getDpsInitOperand(0) : nullptr;
  if (!init || op.getNumParallelLoops() != op.getNumLoops() || !op->hasOneUse() ||
      !op.payloadUsesValueFromOperand(init))
    return;
  auto user = dyn_cast<linalg::GenericOp>(*op->user_begin());
  if (!user || user.getNumReductionLoops() == 0)
    return;
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs.push_back(init->get());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.push_back(maps.back());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, init->get()),
                                        getElementTypeOrSelf(init->get()));
  auto copy = linalg::GenericOp::create(b, loc, op->getResultTypes(), inputs, empty, maps,
                                        op.getIteratorTypesArray());
  copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  b.inlineRegionBefore(op.getRegion(), copy.getRegion(), copy.getRegion().begin());
  copy.getBody()->addArgument(getElementTypeOrSelf(init->get()), loc);
  b.replaceOp(op, copy);
}

void xetile::fuseElementwise(Operation *root, bool repeatCheapOps,
                             function_ref<bool(Operation *)> mayTake, unsigned mostInputs) {
  auto isTaken = [&](Operation *op) { return isInFunction(op) && mayTake(op); };
  IRRewriter rewriter(root->getContext());
  SmallVector<Operation *> all = findOps(root, isTaken);
  if (repeatCheapOps)
    for (Operation *op : llvm::reverse(all))
      copyToUsers(rewriter, cast<linalg::GenericOp>(op), isTaken);
  for (Operation *op : findOps(root, isTaken))
    readDestination(rewriter, cast<linalg::GenericOp>(op));
  mergeElementwise(
      root->getContext(), [&] { return findOps(root, isTaken); },
      [&](OpOperand *use) {
        Operation *producer = use->get().getDefiningOp();
        bool merges = isTaken(producer) && isTaken(use->getOwner()) && producer->hasOneUse() &&
                      !isRepeated(use) &&
                      (mostInputs == 0 || countInputs(producer, use->getOwner()) <= mostInputs);
        LDBG() << *producer << (merges ? ": part of " : ": apart from ") << *use->getOwner();
        return merges;
      },
      plainRewrites());
}

namespace {
struct FuseElementwise : xetile::impl::FuseElementwiseBase<FuseElementwise> {
  using FuseElementwiseBase::FuseElementwiseBase;

  void runOnOperation() override {
    fuseElementwise(
        getOperation(), /*repeatCheapOps=*/true,
        // A number that was given says which ops are together.
        [this](Operation *op) { return isFor(op, schedules) && !op->hasAttr(kKernelAttr); },
        mostInputs);
  }
};
} // namespace
