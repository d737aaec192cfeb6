//===- MatchOps.cpp - match_matmul and match_convolution --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an op. Out: whether it is a contraction, or a convolution that becomes some; the payload
// stays as it is. Refused: others, as silenceable failures that say what was expected.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/ConvolutionsToMatmuls.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

DiagnosedSilenceableFailure MatchMatmulOp::matchOperation(Operation *current, TransformResults &,
                                                          TransformState &) {
  IRRewriter rewriter(current->getContext());
  Operation *standIn = nullptr;
  Result<Contraction> matmul = matchOrUnfold(rewriter, current, standIn);
  if (standIn)
    eraseStandIn(rewriter, standIn);
  if (!matmul)
    return emitSilenceableError() << "no matmul to be tiled: " << matmul.error().message;
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure
MatchConvolutionOp::matchOperation(Operation *current, TransformResults &, TransformState &) {
  auto op = dyn_cast<linalg::LinalgOp>(current);
  if (!op || !becomesMatmuls(op))
    return emitSilenceableError() << "expected a convolution with a sum over channels";
  return DiagnosedSilenceableFailure::success();
}

} // namespace xetile::transform_ops
