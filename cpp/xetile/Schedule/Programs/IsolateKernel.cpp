//===- IsolateKernel.cpp - isolate_kernel and get_program ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module on tensors, of which a step may have numbered a kernel's ops. Out: that kernel in a
// module by itself and the other kernels in theirs, or the module as it is; the module that it was
// taken out of. Refused: numbers that assign_kernels and extract_kernels refuse, several such
// kernels.
#include "mlir/IR/BuiltinOps.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/Programs/ProgramSteps.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

static bool isNumbered(Operation *target) {
  return target
      ->walk([](Operation *op) {
        return op->hasAttr(kKernelAttr) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

DiagnosedSilenceableFailure IsolateKernelOp::apply(TransformRewriter &rewriter,
                                                   TransformResults &results,
                                                   TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  SmallVector<Operation *> kernels, rest;
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getTarget()))) {
    auto module = dyn_cast<ModuleOp>(target);
    if (!module)
      return wrongTarget(op, target, "builtin.module");
    if (!isNumbered(module)) {
      kernels.push_back(module);
      continue;
    }
    SmallVector<func::FuncOp> funcs;
    module.walk([&](func::FuncOp func) {
      if (!func.isExternal())
        funcs.push_back(func);
    });
    for (func::FuncOp func : funcs)
      if (auto diag = assignKernels(rewriter, func, op, /*joinsProducts=*/false); !diag.succeeded())
        return diag;
    if (auto diag = extractKernels(rewriter, module, op); !diag.succeeded())
      return diag;
    SmallVector<Operation *> found;
    for (auto nested : module.getOps<ModuleOp>())
      if (StringRef schedule = scheduleOf(nested); schedule == getSchedule())
        found.push_back(nested);
      else if (!schedule.empty())
        rest.push_back(nested);
    if (found.size() != 1) {
      DiagnosedDefiniteFailure diag = op.emitDefiniteFailure()
                                      << "expected one kernel of schedule '" << getSchedule()
                                      << "' in the module, got " << found.size()
                                      << "; programs of several are for the schedule gpu_model";
      diag.attachNote(module->getLoc()) << "this module";
      return diag;
    }
    found.front()->setAttr(kIsolatedAttr, rewriter.getUnitAttr());
    kernels.push_back(found.front());
  }
  results.set(cast<OpResult>(getKernel()), kernels);
  results.set(cast<OpResult>(getRest()), rest);
  return DiagnosedSilenceableFailure::success();
}

void IsolateKernelOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

DiagnosedSilenceableFailure GetProgramOp::apply(TransformRewriter &, TransformResults &results,
                                                TransformState &state) {
  llvm::SetVector<Operation *> programs;
  for (Operation *target : state.getPayloadOps(getTarget())) {
    Operation *program =
        target->hasAttr(kIsolatedAttr) ? target->getParentOfType<ModuleOp>() : target;
    programs.insert(program);
  }
  results.set(cast<OpResult>(getProgram()), programs.getArrayRef());
  return DiagnosedSilenceableFailure::success();
}

void GetProgramOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  consumesHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  // Who consumes a handle says so.
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
