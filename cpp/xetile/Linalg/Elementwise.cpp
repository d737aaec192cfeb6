//===- Elementwise.cpp - what is computed element by element ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: ops on tensors, bodies of linalg ops. Out: whether they are elementwise, ops merged with
// those that read them. Refused: nothing; what `mayMerge` does not allow stays.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/ScheduleMark.h"

using namespace mlir;

bool xetile::isElementwiseOnTensors(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() ||
      linalgOp.getNumParallelLoops() != linalgOp.getNumLoops())
    return false;
  for (OpOperand &init : linalgOp.getDpsInitsMutable())
    if (!linalgOp.getMatchingIndexingMap(&init).isPermutation())
      return false;
  for (OpOperand *input : linalgOp.getDpsInputOperands())
    if (!linalgOp.getMatchingIndexingMap(input).isProjectedPermutation(
            /*allowZeroInResults=*/true))
      return false;
  return llvm::all_of(linalgOp.getBlock()->without_terminator(), [](Operation &inner) {
    return isa<arith::ConstantOp>(inner) ||
           (OpTrait::hasElementwiseMappableTraits(&inner) && inner.getNumResults() == 1);
  });
}

bool xetile::comesElementwiseFrom(Value tensor, function_ref<bool(Operation *)> isOne) {
  auto shapeOf = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? type.getShape() : ArrayRef<int64_t>();
  };
  SmallVector<Value> open{tensor};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isOne(op))
      return true;
    if (isElementwiseOnTensors(op))
      llvm::copy_if(op->getOperands(), std::back_inserter(open),
                    [&](Value operand) { return shapeOf(operand) == shapeOf(tensor); });
  }
  return false;
}

/// Integer divisions end the process if a lane that nobody asked for, of an edge, divides by zero.
static bool mayTrap(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
           arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return false;
  APInt divisor;
  return !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) || divisor.isZero() ||
         divisor.isAllOnes();
}

bool xetile::isElementwiseBody(mlir::Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    auto isNumber = [](Type type) { return type.isIntOrFloat(); };
    return isMemoryEffectFree(&op) && !mayTrap(&op) && op.getNumResults() > 0 &&
           op.getNumRegions() == 0 && llvm::all_of(op.getOperandTypes(), isNumber) &&
           llvm::all_of(op.getResultTypes(), isNumber) &&
           (op.hasTrait<OpTrait::ConstantLike>() || OpTrait::hasElementwiseMappableTraits(&op));
  });
}

bool xetile::isMergeable(Operation *op) {
  if (!op || op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) ||
      !isFor(op, {}))
    return false;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return OpTrait::hasElementwiseMappableTraits(op) && isMemoryEffectFree(op) && !mayTrap(op) &&
           llvm::all_of(op->getOperandTypes(),
                        [](Type type) { return isa<RankedTensorType>(type); });
  if (isa<linalg::FillOp>(op) || linalgOp.getNumParallelLoops() != linalgOp.getNumLoops() ||
      !linalgOp.hasPureTensorSemantics() || linalgOp.getNumDpsInits() != 1 ||
      linalgOp.hasIndexSemantics() || op->getNumRegions() != 1 ||
      !isElementwiseBody(op->getRegion(0).front()))
    return false;
  return llvm::all_of(linalgOp.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0)).isPermutation();
}

GreedyRewriteConfig xetile::plainRewrites(RewriterBase::Listener *listener) {
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
      .enableFolding(false)
      .enableConstantCSE(false)
      .setListener(listener);
  return config;
}

void xetile::mergeElementwise(MLIRContext *context,
                              function_ref<SmallVector<Operation *>()> findOps,
                              const linalg::ControlFusionFn &mayMerge, GreedyRewriteConfig config) {
  RewritePatternSet patterns(context);
  linalg::populateElementwiseOpsFusionPatterns(patterns, mayMerge);
  FrozenRewritePatternSet frozen(std::move(patterns));
  // Each round makes at least one op less; without convergence the ops are valid all the same.
  for (bool changed = true; changed;) {
    changed = false;
    (void)applyOpPatternsGreedily(findOps(), frozen, config, &changed);
  }
}
