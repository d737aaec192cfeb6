//===- HangOverEdges.cpp - transform.xetile.hang_over_edges ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an scf.forall over tiles of a matmul, the tiles' sizes. Out: its body on vectors.
// Refused: other targets, and what EdgeVectorizer refuses.
#include "xetile/Schedule/EdgeVectorizer.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

DiagnosedSilenceableFailure HangOverEdgesOp::apply(TransformRewriter &rewriter,
                                                   TransformResults &results,
                                                   TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  std::array<int64_t, 3> tile = {};
  std::array<Value, 3> params = {getTileM(), getTileN(), getTileK()};
  constexpr std::array<StringLiteral, 3> names = {"tile of m", "tile of n", "tile of k"};
  for (unsigned i = 0; i < 3; ++i) {
    if (auto diag = readInteger(op, state, params[i], names[i], 1, tile[i]); !diag.succeeded())
      return diag;
    if (tile[i] > kMaxTileSize)
      return op.emitDefiniteFailure()
             << names[i] << " = " << tile[i] << ": expected at most " << kMaxTileSize;
  }
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getWorkgroups()))) {
    auto loop = dyn_cast<scf::ForallOp>(target);
    if (!loop)
      return wrongTarget(op, target, "scf.forall");
    EdgeVectorizer vectorizer(rewriter, loop, tile);
    if (failed(vectorizer.run())) {
      DiagnosedDefiniteFailure diag =
          ::emitDefiniteFailure(vectorizer.where->getLoc(), vectorizer.why);
      diag.attachNote(op->getLoc()) << "required by this step of the schedule";
      return diag;
    }
  }
  return DiagnosedSilenceableFailure::success();
}

void HangOverEdgesOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
