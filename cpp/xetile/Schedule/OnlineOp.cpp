//===- OnlineOp.cpp - transform.xetile.online ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a sum of powers exp(x - max x) or squares (x - mean)^2 on tensors, or, where the op says so,
// a product of what other products make; or a function with one.
// Out: one loop over blocks of what it sums, with all reductions that it depends on. Refused,
// silenceably: elements of other forms, loops of blocks of less than one.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Schedule/OnlineIn.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

/// Elements of n at once, where the schedule leaves it open: as many as make what is done once a
/// row and block little beside the products, and whose scores fit the registers with a row of
/// outputs. Powers of bf16 are registers of their own, where those of f16 take the place of scores.
static int64_t chooseBlock(Online &online) {
  constexpr int64_t kUsual = 64, kLong = 128;
  for (OnlineReduction &reduction : online.reductions)
    if (isContraction(reduction.op)) {
      int64_t columns =
          cast<RankedTensorType>(reduction.op.getResult(0).getType()).getShape().back();
      bool isBf16 = llvm::any_of(reduction.op.getDpsInputs(), [](Value input) {
        return getElementTypeOrSelf(input.getType()).isBF16();
      });
      return columns > kUsual && columns <= kLong && !isBf16 ? kLong : kUsual;
    }
  return kUsual;
}

std::optional<Online> findOnlineIn(func::FuncOp func, Operation *&where, std::string &why,
                                   bool products) {
  where = func;
  why = products
            ? "expected a product of what other products make, got no reduction"
            : "expected a sum of powers exp(x - m), m = max x, or of squares, got no reduction";
  for (Operation &op : llvm::reverse(func.getBody().front())) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() == 0)
      continue;
    Operation *at = nullptr;
    std::string text;
    if (std::optional<Online> found = findOnline(generic, at, text, products))
      return found;
    // The last one tells most.
    if (where == func) {
      where = at;
      why = text;
    }
  }
  return std::nullopt;
}

DiagnosedSilenceableFailure OnlineOp::apply(TransformRewriter &rewriter, TransformResults &results,
                                            TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  int64_t block = 0;
  if (auto diag = readInteger(op, state, getBlock(), "block", 0, block); !diag.succeeded())
    return diag;
  if (block > kMaxTileSize)
    return op.emitDefiniteFailure() << "block = " << block << ": expected at most " << kMaxTileSize;
  SmallVector<Operation *> loops;
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getTarget()))) {
    Operation *where = target;
    std::string why;
    std::optional<Online> found;
    auto func = dyn_cast<func::FuncOp>(target);
    if (func && func.getBody().hasOneBlock())
      found = findOnlineIn(func, where, why, getProducts());
    else if (auto generic = dyn_cast<linalg::GenericOp>(target))
      found = findOnline(generic, where, why, getProducts());
    else
      why = "expected a linalg.generic that reduces, or a func.func with a body of one block";
    if (!found) {
      DiagnosedSilenceableFailure diag = emitSilenceableFailure(where->getLoc(), why);
      diag.attachNote(op->getLoc()) << "required by this step of the schedule";
      return diag;
    }
    loops.push_back(makeOnline(rewriter, *found, block == 0 ? chooseBlock(*found) : block));
  }
  results.set(cast<OpResult>(getLoops()), loops);
  return DiagnosedSilenceableFailure::success();
}

void OnlineOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
