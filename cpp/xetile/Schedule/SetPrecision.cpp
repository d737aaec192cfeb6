//===- SetPrecision.cpp - transform.xetile.set_precision ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: products of tiles. Out: those of f32 with leave to round to tf32, if that is given.
// Refused: other precisions than exact and tf32.
#include "xetile/IR/RingAttrs.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

DiagnosedSilenceableFailure SetPrecisionOp::apply(TransformRewriter &rewriter, TransformResults &,
                                                  TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  bool isTf32 = false;
  if (auto diag = readPrecision(op, state, getPrecision(), isTf32); !diag.succeeded())
    return diag;
  if (!isTf32)
    return DiagnosedSilenceableFailure::success();
  for (Operation *target : state.getPayloadOps(getTarget()))
    target->walk([&](TileMmaOp mma) {
      if (cast<VectorType>(mma.getA().getType()).getElementType().isF32())
        rewriter.modifyOpInPlace(mma, [&] { mma->setAttr(kTf32Attr, rewriter.getUnitAttr()); });
    });
  return DiagnosedSilenceableFailure::success();
}

void SetPrecisionOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
