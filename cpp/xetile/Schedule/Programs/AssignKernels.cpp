//===- AssignKernels.cpp - transform.xetile.assign_kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: the same, each op with the number and schedule of its kernel; ops
// whose results nobody reads are gone.
// Refused: numbers, given before, of kernels that wait for one another.
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Schedule/Programs/Partition.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

DiagnosedSilenceableFailure AssignKernelsOp::apply(TransformRewriter &rewriter, TransformResults &,
                                                   TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  SmallVector<func::FuncOp> funcs;
  for (Operation *target : state.getPayloadOps(getTarget()))
    target->walk([&](func::FuncOp func) {
      if (!func.isExternal())
        funcs.push_back(func);
    });
  for (func::FuncOp func : funcs) {
    // Dead ops belong to no kernel.
    func.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *each) {
      if (isOpTriviallyDead(each))
        rewriter.eraseOp(each);
    });
    SmallVector<KernelOps> kernels = partition(func);
    if (Operation *waiting = sortKernels(kernels)) {
      DiagnosedDefiniteFailure diag = ::emitDefiniteFailure(
          waiting->getLoc(), "the kernel of this op and others wait for one another's results: "
                             "expected numbers (xetile.kernel) of kernels that can run one after "
                             "the other");
      diag.attachNote(op->getLoc()) << "required by this step of the schedule";
      return diag;
    }
    int64_t number = 0;
    for (const KernelOps &kernel : kernels) {
      for (Operation *each : kernel.ops)
        rewriter.modifyOpInPlace(each, [&] {
          each->setAttr(kKernelAttr, rewriter.getI64IntegerAttr(number));
          each->setAttr(kScheduleAttr, rewriter.getStringAttr(kernel.schedule));
        });
      ++number;
    }
  }
  return DiagnosedSilenceableFailure::success();
}

void AssignKernelsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
