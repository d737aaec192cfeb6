//===- RefuseRest.cpp - transform.xetile.refuse_rest -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module whose matmul is a loop over tiles. Out: the same. Refused: ops on tensors that are
// not part of the loop, all of them by name.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Schedule/KParts.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Schedule/Untaken.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

/// Ops that compute tensors, element by element or not.
static bool computes(Operation *op) {
  return isa<linalg::LinalgOp, linalg::SoftmaxOp, linalg::PackOp, linalg::UnPackOp, tensor::PadOp,
             tensor::ConcatOp, tensor::GenerateOp, tensor::GatherOp, tensor::ScatterOp>(op);
}

Problem whyUntakable(Operation *op) {
  if (!computes(op) || isElementwiseOnTensors(op) || looksLikeMatmul(op))
    return {};
  if (isa<linalg::SoftmaxOp>(op))
    return "reductions other than a matmul's are kernels of the schedule 'rows'";
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (auto pad = dyn_cast<tensor::PadOp>(op); pad && fillsParts(pad))
    return {};
  if (!linalgOp)
    return "it is no elementwise op";
  if (isa<linalg::ConvolutionOpInterface>(op))
    return "convolutions and poolings are kernels of the schedule 'rows'";
  if (linalgOp.getNumReductionLoops() != 0)
    return "reductions other than a matmul's are kernels of the schedule 'rows'";
  if (linalgOp.hasIndexSemantics())
    return "it uses linalg.index";
  return "it is not elementwise, on vectors as well as on elements";
}

std::string describe(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  llvm::SmallSetVector<StringRef, 4> inner;
  if (isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(op))
    for (Operation &each : op->getRegion(0).front().without_terminator())
      inner.insert(each.getName().getStringRef());
  return inner.empty() ? text : text + " of " + llvm::join(inner, ", ");
}

DiagnosedSilenceableFailure RefuseRestOp::apply(TransformRewriter &rewriter,
                                                TransformResults &results, TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  for (Operation *target : state.getPayloadOps(getTarget())) {
    SmallVector<Operation *> rest;
    bool isTiled = false;
    target->walk<WalkOrder::PreOrder>([&](Operation *each) {
      if (isa<scf::ForallOp>(each)) {
        isTiled = true;
        return WalkResult::skip();
      }
      if (computes(each))
        rest.push_back(each);
      return WalkResult::advance();
    });
    // Before, elementwise ops and matmuls may become part of it.
    if (!isTiled)
      llvm::erase_if(rest, [](Operation *each) { return !whyUntakable(each); });
    if (rest.empty())
      continue;
    std::string count = rest.size() == 1 ? "an op is" : std::to_string(rest.size()) + " ops are";
    DiagnosedDefiniteFailure diag = ::emitDefiniteFailure(
        rest.front()->getLoc(), count + " not part of a matmul's kernel; " + kTakeElsewhere);
    for (Operation *each : rest) {
      diag.attachNote(each->getLoc())
          << describe(each) << ": "
          << whyUntakable(each).value_or("it is beside the matmul, or behind another of these ops");
    }
    diag.attachNote(op->getLoc()) << "required by this step of the schedule";
    return diag;
  }
  return DiagnosedSilenceableFailure::success();
}

void RefuseRestOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  onlyReadsPayload(effects);
}

} // namespace xetile::transform_ops
