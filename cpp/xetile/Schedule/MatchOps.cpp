//===- MatchOps.cpp - match_matmul, match_convolution and others ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an op. Out: whether it is a contraction, a convolution that becomes some, a product of the
// matrix unit, a scan or a gather; the payload stays as it is. Refused: others, as silenceable
// failures that say what was expected.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/ConvolutionsToMatmuls.h"
#include "xetile/Linalg/Scan.h"
#include "xetile/Linalg/Scatter.h"
#include "xetile/Schedule/Programs/KernelOps.h"
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

DiagnosedSilenceableFailure MatchProductOp::matchOperation(Operation *current, TransformResults &,
                                                           TransformState &) {
  if (!isProductOfMatrixUnit(current))
    return emitSilenceableError()
           << "expected a contraction that a matrix unit multiplies exactly, in tiles";
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure MatchScanOp::matchOperation(Operation *current, TransformResults &,
                                                        TransformState &) {
  if (!Scan::match(current))
    return emitSilenceableError() << "expected an op that combines each element with those before";
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure MatchScatterOp::matchOperation(Operation *current, TransformResults &,
                                                           TransformState &) {
  if (!Scatter::match(current))
    return emitSilenceableError() << "expected an op that updates rows by their numbers";
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure MatchGatherOp::matchOperation(Operation *current, TransformResults &,
                                                          TransformState &) {
  if (!readsByIndices(current))
    return emitSilenceableError()
           << "expected a linalg op of parallel loops with a tensor.extract in its body";
  return DiagnosedSilenceableFailure::success();
}

} // namespace xetile::transform_ops
