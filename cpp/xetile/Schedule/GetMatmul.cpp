//===- GetMatmul.cpp - get_matmul and normalize_matmul -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module with one matmul on tensors. Out: handles to it and to the fill it starts from; the
// matmul with its loops in the order m, n, k, batches. Refused: none or several of them; memrefs,
// empty matrices, element types without a matrix unit, other contractions.
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Schedule/Untaken.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

/// Fails at the payload's own location, where the user can change something, and points back at
/// the step that asked.
static DiagnosedDefiniteFailure failAt(Operation *payload, Operation *step, const Twine &message) {
  DiagnosedDefiniteFailure diag = emitDefiniteFailure(payload->getLoc(), message);
  diag.attachNote(step->getLoc()) << "required by this step of the schedule";
  return diag;
}

//===----------------------------------------------------------------------===//
// get_matmul
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure GetMatmulOp::apply(TransformRewriter &rewriter,
                                               TransformResults &results, TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  auto targets = state.getPayloadOps(getTarget());
  if (!llvm::hasSingleElement(targets))
    return op.emitDefiniteFailure()
           << "expected one op to search, got " << llvm::range_size(targets);

  Operation *target = *targets.begin();
  SmallVector<Operation *> matmuls;
  target->walk([&](Operation *each) {
    if (looksLikeMatmul(each))
      matmuls.push_back(each);
  });
  if (matmuls.size() != 1) {
    DiagnosedDefiniteFailure diag = failAt(target, op,
                                           "expected exactly one linalg.matmul, found " +
                                               Twine(matmuls.size()) + "; " + kTakeElsewhere);
    target->walk([&](Operation *each) {
      if (Problem why = whyUntakable(each))
        diag.attachNote(each->getLoc()) << describe(each) << ": " << *why;
      else if (llvm::is_contained(matmuls, each))
        diag.attachNote(each->getLoc()) << describe(each);
    });
    return diag;
  }

  Result<MatmulLoops> contraction = matchMatmul(matmuls.front());
  if (!contraction)
    return failAt(matmuls.front(), op, contraction.error().message);

  results.set(cast<OpResult>(getMatmul()), {matmuls.front()});
  SmallVector<Operation *> inits;
  if (auto fill = contraction->op.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>())
    inits.push_back(fill);
  results.set(cast<OpResult>(getInit()), inits);
  return DiagnosedSilenceableFailure::success();
}

void GetMatmulOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  onlyReadsPayload(effects);
}

//===----------------------------------------------------------------------===//
// normalize_matmul
//===----------------------------------------------------------------------===//

/// `contraction` as a linalg.generic with its loops in order; null if upstream cannot make one.
static Operation *normalize(RewriterBase &rewriter, const MatmulLoops &contraction) {
  linalg::LinalgOp op = contraction.op;
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return nullptr;
    generic = *made;
  }
  SmallVector<unsigned> order{contraction.m, contraction.n, contraction.k};
  llvm::append_range(order, contraction.outer);
  FailureOr<linalg::GenericOp> ordered = linalg::interchangeGenericOp(rewriter, generic, order);
  return failed(ordered) ? nullptr : ordered->getOperation();
}

DiagnosedSilenceableFailure NormalizeMatmulOp::apply(TransformRewriter &rewriter,
                                                     TransformResults &results,
                                                     TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  SmallVector<Operation *> normal;
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getMatmul()))) {
    Result<MatmulLoops> contraction = matchMatmul(target);
    if (!contraction)
      return failAt(target, op, contraction.error().message);
    Operation *result = contraction->isNormalized() ? target : normalize(rewriter, *contraction);
    if (!result)
      return failAt(target, op, "cannot be written as a linalg.generic");
    normal.push_back(result);
  }
  results.set(cast<OpResult>(getNormal()), normal);
  return DiagnosedSilenceableFailure::success();
}

void NormalizeMatmulOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
