//===- AssignKernels.cpp - transform.xetile.assign_kernels -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: the same, each op with the number and schedule of its kernel; ops
// whose results nobody reads are gone.
// Refused: ops that neither kernels nor the host around them can do; numbers, given before, of
// kernels that wait for one another, that are in several blocks of the host, or that have several
// schedules.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/Programs/Partition.h"
#include "xetile/Schedule/Programs/ProgramSteps.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"
#include <map>

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

namespace {

/// Numbers the kernels of a function, in the order in which they run.
class Numbering {
public:
  Numbering(RewriterBase &rewriter, func::FuncOp func, bool joinsProducts, const Target *attentions)
      : rewriter(rewriter), func(func), joinsProducts(joinsProducts), attentions(attentions) {}

  LogicalResult run() {
    if (failed(checkOps()) || failed(checkGiven()))
      return failure();
    return number(func.getBody().front());
  }

  Operation *where = nullptr;
  /// An op that `where` contradicts, if there is one.
  Operation *other = nullptr;
  std::string why;

private:
  LogicalResult checkOps();
  LogicalResult checkGiven();
  LogicalResult number(Block &block);

  RewriterBase &rewriter;
  func::FuncOp func;
  bool joinsProducts;
  /// One with tiles of its own for these, or null.
  const Target *attentions;
  int64_t next = 0;
};

/// Kernels take ops of the function's one block, and of loops and branches in it.
LogicalResult Numbering::checkOps() {
  if (!func.getBody().hasOneBlock()) {
    where = func.getBody().front().getTerminator();
    why = "expected loops and branches of the host to be scf.for, scf.while, scf.if or "
          "scf.index_switch, got branches to other blocks";
    return failure();
  }
  for (Block *block : hostBlocks(func))
    for (Operation &op : *block)
      if (Problem problem = whyNotOnHost(&op); problem && &op != block->getTerminator()) {
        where = &op;
        why = *problem;
        return failure();
      }
  return success();
}

/// A kernel runs in one block, by one schedule.
LogicalResult Numbering::checkGiven() {
  std::map<int64_t, Operation *> first;
  std::map<int64_t, std::pair<Operation *, StringRef>> schedules;
  for (Block *block : hostBlocks(func))
    for (Operation &op : block->without_terminator()) {
      auto given = op.getAttrOfType<IntegerAttr>(kKernelAttr);
      if (!given || !belongsToKernel(&op))
        continue;
      std::string number = std::to_string(given.getInt());
      Operation *before = first.try_emplace(given.getInt(), &op).first->second;
      StringRef schedule = scheduleOf(&op);
      if (before->getBlock() != block)
        why =
            "expected the ops of kernel " + number +
            " in one block: the host's loops and branches stay around kernels; give ops of others "
            "another number (xetile.kernel)";
      if (!schedule.empty()) {
        auto &[named, as] = schedules[given.getInt()];
        if (named && as != schedule) {
          why = "expected one schedule for kernel " + number + ", got '" + schedule.str() +
                "' here and '" + as.str() +
                "' before; give the ops two numbers (xetile.kernel), or " +
                "one schedule (xetile.schedule)";
          before = named;
        }
        named = &op;
        as = schedule;
      }
      if (why.empty())
        continue;
      where = &op;
      other = before;
      return failure();
    }
  return success();
}

LogicalResult Numbering::number(Block &block) {
  SmallVector<KernelOps> kernels = partition(block, joinsProducts, attentions);
  HostSteps order = orderSteps(kernels, block);
  if ((where = order.waiting)) {
    why = "the kernel of this op and others wait for one another's results: expected numbers "
          "(xetile.kernel) of kernels that can run one after the other";
    return failure();
  }
  for (const HostSteps::Step &step : order.steps) {
    if (step.kernel) {
      const KernelOps &kernel = kernels[*step.kernel];
      for (Operation *each : kernel.ops)
        rewriter.modifyOpInPlace(each, [&] {
          each->setAttr(kKernelAttr, rewriter.getI64IntegerAttr(next));
          each->setAttr(kScheduleAttr, rewriter.getStringAttr(kernel.schedule));
        });
      ++next;
      continue;
    }
    if (isHostControl(step.op))
      for (Region &region : step.op->getRegions())
        for (Block &inner : region)
          if (failed(number(inner)))
            return failure();
  }
  return success();
}

} // namespace

DiagnosedSilenceableFailure assignKernels(RewriterBase &rewriter, func::FuncOp func,
                                          Operation *step, bool joinsProducts,
                                          const Target *attentions) {
  // Dead ops belong to no kernel.
  func.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *each) {
    if (isOpTriviallyDead(each))
      rewriter.eraseOp(each);
  });
  Numbering numbering(rewriter, func, joinsProducts, attentions);
  if (succeeded(numbering.run()))
    return DiagnosedSilenceableFailure::success();
  DiagnosedDefiniteFailure diag = ::emitDefiniteFailure(numbering.where->getLoc(), numbering.why);
  if (numbering.other)
    diag.attachNote(numbering.other->getLoc()) << "the other op of this kernel";
  diag.attachNote(step->getLoc()) << "required by this step of the schedule";
  return diag;
}

DiagnosedSilenceableFailure AssignKernelsOp::apply(TransformRewriter &rewriter, TransformResults &,
                                                   TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  StringRef chip;
  if (Value given = getChip())
    if (auto diag = readString(op, state, given, "chip", chip); !diag.succeeded())
      return diag;
  bool isOfOthers = findTilingTarget(chip) != nullptr;
  SmallVector<func::FuncOp> funcs;
  for (Operation *target : state.getPayloadOps(getTarget()))
    target->walk([&](func::FuncOp func) {
      if (!func.isExternal())
        funcs.push_back(func);
    });
  for (func::FuncOp func : funcs)
    if (auto diag =
            assignKernels(rewriter, func, getOperation(), !isOfOthers, findAttentionTarget(chip));
        !diag.succeeded())
      return diag;
  return DiagnosedSilenceableFailure::success();
}

void AssignKernelsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
