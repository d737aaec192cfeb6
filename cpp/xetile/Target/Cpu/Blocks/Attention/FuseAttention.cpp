//===- FuseAttention.cpp - attention without all of its scores --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: contractions on tensors, outside of loops. Out: those of an attention in one loop over heads
// and blocks of rows, with what lies between them, or remarks. Refused: threads below 0; what is no
// attention, or is better computed one op after the other, stays as it is.
//===----------------------------------------------------------------------===//
#include "mlir/IR/IRMapping.h"
#include "xetile/Linalg/Attention/AttentionOps.h"
#include "xetile/Target/Cpu/Blocks/Attention/EmitAttention.h"
#include "xetile/Target/Cpu/Matmul/Config/Request.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "xetile-fuse-attention"

namespace xetile {
#define GEN_PASS_DEF_FUSEATTENTION
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Puts what `function` does in the place of `attention`.
static void inlineInPlace(RewriterBase &b, const AttentionOps &attention, func::FuncOp function,
                          ValueRange arguments) {
  b.setInsertionPoint(attention.ops.back());
  IRMapping map;
  map.map(function.getArguments(), arguments);
  for (Operation &op : function.front().without_terminator())
    b.clone(op, map);
  Value result = map.lookupOrDefault(function.front().getTerminator()->getOperand(0));
  b.replaceAllUsesWith(attention.result, result);
  for (Operation *op : llvm::reverse(attention.ops))
    if (op->use_empty())
      b.eraseOp(op);
}

static void remarkAttention(linalg::LinalgOp output, AttentionPlan &plan, int64_t l2) {
  InFlightDiagnostic remark = output.emitRemark()
                              << "attention: blocks of " << plan.blockRows << " of " << plan.rows
                              << " rows of scores, by " << plan.keys << " keys";
  std::string heads = llvm::join(
      llvm::map_range(plan.heads, [](int64_t count) { return llvm::utostr(count); }), "x");
  remark.attachNote(plan.scores.getLoc())
      << "scores of " << plan.inner << " elements of queries and keys, for " << plan.values
      << " of values; " << plan.ops.size() << " ops on a block";
  remark.attachNote() << "the scores of a block take " << plan.blockBytes << " bytes, all of them "
                      << plan.allBytes << "; half of the second-level cache has " << l2 / 2;
  remark.attachNote() << (heads.empty() ? "one head" : heads + " heads") << ", rows in "
                      << plan.parts << (plan.parts == 1 ? " part" : " parts") << " for threads";
}

namespace {
struct FuseAttention : xetile::impl::FuseAttentionBase<FuseAttention> {
  using FuseAttentionBase::FuseAttentionBase;

  void runOnOperation() override {
    if (failed(checkThreads(getOperation(), threads)))
      return signalPassFailure();
    if (!enabled || !StringRef(config).trim("{} ").empty())
      return;
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isContraction(op))
        ops.push_back(op);
    });
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (linalg::LinalgOp op : ops) {
      if (gone.contains(op))
        continue;
      Result<AttentionOps> attention = findAttention(op);
      std::string why;
      if (!attention) {
        why = attention.error().message;
      } else {
        gone.insert(attention->scores);
        if (failed(fuse(*attention, why)))
          return signalPassFailure();
      }
      if (attention || !why.empty())
        LDBG() << op << ": " << (why.empty() ? "in blocks of scores" : why);
      if (explain && !why.empty())
        op.emitRemark("attention: one op after the other").attachNote() << why;
    }
  }

private:
  /// Leaves in `why` what keeps it from being fused, which is no error.
  LogicalResult fuse(const AttentionOps &attention, std::string &why) {
    FailureOr<Machine> machine = describeMachine(attention.output, /*require=*/false);
    if (failed(machine))
      return failure();
    for (linalg::LinalgOp op : {attention.scores, attention.output})
      for (StringRef name : {StringRef(kConfigAttr), StringRef(kPackAttr)})
        if (op->hasAttr(name)) {
          why = ("a matmul of it has a " + name + " of its own").str();
          return success();
        }
    SmallVector<Value> arguments;
    OwningOpRef<func::FuncOp> function = outlineAttention(attention, arguments);
    if (failed(simplifyAttention(*function))) {
      why = "its ops could not be brought to a common form";
      return success();
    }
    Result<AttentionPlan> plan =
        planAttention(*function, *machine, threads == 0 ? machine->cores : threads);
    if (!plan) {
      why = plan.error().message;
      return success();
    }
    AttentionPlan chosen = *plan;
    if (explain) {
      remarkAttention(attention.output, chosen, machine->l2);
      return success();
    }
    IRRewriter rewriter(&getContext());
    emitAttention(rewriter, chosen);
    inlineInPlace(rewriter, attention, *function, arguments);
    return success();
  }
};
} // namespace
