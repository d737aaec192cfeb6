//===- AnchorF32Products.cpp - transform.xetile.anchor_f32_products ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops with the schedules of their kernels. Out: products of f32 that gain on the matrix
// unit are kernels of it. Refused: other units than matrix and vector.
#include "xetile/IR/AnchorAttr.h"
#include "xetile/Schedule/KParts.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/Programs/KernelOps.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

static bool gains(Operation *op, const Target &target) {
  if (!isProductInTiles(op))
    return false;
  Result<MatmulLoops> loops = matchMatmul(op);
  return loops && loops->elementType(0).isF32() && loops->elementType(1).isF32() &&
         loops->elementType(2).isF32() && target.multipliesF32(describeMatmul(*loops, nullptr));
}

DiagnosedSilenceableFailure AnchorF32ProductsOp::apply(TransformRewriter &rewriter,
                                                       TransformResults &, TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  StringRef units, chip;
  if (auto diag = readString(op, state, getUnits(), "units", units); !diag.succeeded())
    return diag;
  if (auto diag = readString(op, state, getChip(), "chip", chip); !diag.succeeded())
    return diag;
  if (units != "matrix" && units != "vector")
    return op.emitDefiniteFailure() << "units = " << units << ": expected matrix or vector";
  const Target *target = findTilingTarget(chip);
  if (units == "vector" || !target || !target->multipliesF32)
    return DiagnosedSilenceableFailure::success();
  for (Operation *root : state.getPayloadOps(getTarget()))
    root->walk([&](Operation *inner) {
      if (scheduleOfAnchor(inner) == "rows" && gains(inner, *target))
        rewriter.modifyOpInPlace(
            inner, [&] { inner->setAttr(kAnchorAttr, rewriter.getStringAttr("matmul")); });
    });
  return DiagnosedSilenceableFailure::success();
}

void AnchorF32ProductsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
