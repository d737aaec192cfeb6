//===- GetMatmul.cpp - transform.xetile.get_matmul --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module with one linalg.matmul on tensors. Out: handles to it and to the fill it starts
// from. Refused: none or several of them; memrefs, unknown sizes, other element types, transposed
// operands.
#include "xetile/Schedule/SupportedMatmul.h"
#include "xetile/Schedule/TransformOps.h"

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

/// True if operand `index` is read straight: A as (m, k), B as (k, n).
static bool hasPlainMaps(linalg::MatmulOp matmul) {
  return llvm::equal(
      matmul.getIndexingMaps(), linalg::MatmulOp::getDefaultIndexingMaps(matmul.getContext()),
      [](Attribute attr, AffineMap map) { return cast<AffineMapAttr>(attr).getValue() == map; });
}

std::string whyUnsupported(linalg::MatmulOp matmul) {
  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (!matmul.hasPureTensorSemantics()) {
    os << "expected linalg.matmul on tensors, got memrefs: schedules start before bufferisation";
    return reason;
  }
  for (Value operand : matmul->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (!type.hasStaticShape() || llvm::is_contained(type.getShape(), 0)) {
      os << "expected static sizes other than zero, got " << type;
      return reason;
    }
  }
  // Before the element types: a broadcast operand has another rank.
  if (!hasPlainMaps(matmul)) {
    os << "expected A as m x k and B as k x n, got transposed or broadcast indexing_maps; "
          "transpose "
          "before the matmul";
    return reason;
  }
  Type a = getElementTypeOrSelf(matmul.getDpsInputOperand(0)->get());
  Type b = getElementTypeOrSelf(matmul.getDpsInputOperand(1)->get());
  Type c = getElementTypeOrSelf(matmul.getDpsInitOperand(0)->get());
  if (a != b || !(a.isF16() || a.isBF16()) || !c.isF32())
    os << "unsupported element types: expected f16 x f16 -> f32 or bf16 x bf16 -> f32, got " << a
       << " x " << b << " -> " << c;
  return reason;
}

DiagnosedSilenceableFailure GetMatmulOp::apply(TransformRewriter &rewriter,
                                               TransformResults &results, TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  auto targets = state.getPayloadOps(getTarget());
  if (!llvm::hasSingleElement(targets))
    return op.emitDefiniteFailure()
           << "expected one op to search, got " << llvm::range_size(targets);

  Operation *target = *targets.begin();
  SmallVector<linalg::MatmulOp> matmuls;
  target->walk([&](linalg::MatmulOp matmul) { matmuls.push_back(matmul); });
  if (matmuls.size() != 1) {
    DiagnosedDefiniteFailure diag =
        failAt(target, op, "expected exactly one linalg.matmul, found " + Twine(matmuls.size()));
    for (linalg::MatmulOp matmul : matmuls)
      diag.attachNote(matmul.getLoc()) << "linalg.matmul";
    return diag;
  }

  linalg::MatmulOp matmul = matmuls.front();
  if (std::string reason = whyUnsupported(matmul); !reason.empty())
    return failAt(matmul, op, reason);

  results.set(cast<OpResult>(getMatmul()), {matmul});
  SmallVector<Operation *> inits;
  if (auto fill = matmul.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>())
    inits.push_back(fill);
  results.set(cast<OpResult>(getInit()), inits);
  return DiagnosedSilenceableFailure::success();
}

void GetMatmulOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  onlyReadsPayload(effects);
}

} // namespace xetile::transform_ops
