//===- Order.cpp - transform.xetile.order -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels that ask where in a grid they are. Out: the same, at places in another order.
// Refused: targets that are no kernels, unknown orders, sizes that they do not have.
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Transforms/WorkgroupOrder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

constexpr int64_t kMostRows = 1024, kLongestSide = 64;
constexpr StringLiteral kRows = "rows", kGroups = "groups", kHilbert = "hilbert";

DiagnosedSilenceableFailure OrderOp::apply(TransformRewriter &rewriter, TransformResults &results,
                                           TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  StringRef by;
  int64_t size;
  DiagnosedSilenceableFailure diag = readString(op, state, getBy(), "order", by);
  if (diag.succeeded())
    diag = readInteger(op, state, getSize(), "order_size", 0, size);
  if (!diag.succeeded())
    return diag;
  if (by != kRows && by != kGroups && by != kHilbert)
    return op.emitDefiniteFailure() << "order = \"" << by << "\": expected \"" << kRows << "\", \""
                                    << kGroups << "\" or \"" << kHilbert << "\"";
  if (by == kGroups && (size < 2 || size > kMostRows))
    return op.emitDefiniteFailure()
           << "order_size = " << size << ": expected groups of 2 to " << kMostRows << " rows";
  if (by == kHilbert && (size < 2 || size > kLongestSide || !llvm::isPowerOf2_64(size)))
    return op.emitDefiniteFailure()
           << "order_size = " << size
           << ": expected the side of a square on Hilbert's curve, a power of two from 2 to "
           << kLongestSide;
  for (Operation *target : state.getPayloadOps(getKernel())) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(target);
    if (!kernel) {
      DiagnosedSilenceableFailure failure = emitSilenceableError()
                                            << "expected gpu.func, got " << target->getName();
      failure.attachNote(target->getLoc()) << "target op";
      return failure;
    }
    if (by == kGroups)
      orderByGroups(kernel, size);
    else if (by == kHilbert)
      orderByHilbert(kernel, size);
  }
  return DiagnosedSilenceableFailure::success();
}

void OrderOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
