//===- PrefetchPayloads.cpp - prefetches by address payloads ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: LLVM IR with 2D block prefetches in loops. Out: an address payload for each, made before the
// loop; in it, the prefetch by the payload, which is moved behind it. Refused: nothing; prefetches
// stay plain where a step does not always reach them, or does not move them by a fixed distance.
//
// Intel's compiler makes such payloads itself for block reads, but builds the six fields of a
// prefetch's anew in each step.
#include "xetile/Target/Xe/Llvm/AddressPayloads.h"
#include "xetile/Target/Xe/Llvm/CacheControls.h"
#include "xetile/Target/Xe/Llvm/Loops/LoopPasses.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using namespace xetile;

namespace {

/// A prefetch that each step of the loop does once, and where.
struct Prefetch {
  CallInst *call;
  BlockShape shape;
  unsigned cacheControl;
  // x in elements, y in rows
  Value *place[2];
  const SCEV *start[2], *step[2];
};

class LoopPrefetches {
public:
  LoopPrefetches(Loop &loop, ScalarEvolution &se, DominatorTree &dominators)
      : loop(loop), se(se), dominators(dominators) {}

  bool run(const LoopInfo &loops, bool immediates);

private:
  std::optional<Prefetch> asPrefetch(CallInst &call);
  /// The value in the first iteration, computed in the preheader; null if that takes more than
  /// arithmetic.
  Value *firstOf(Value *value, IRBuilder<> &builder);
  bool canComputeFirst(Value *value);
  /// The distance in one direction, if it is a constant that a message carries.
  std::optional<int64_t> distance(const Prefetch &from, const Prefetch &to, unsigned direction);
  bool canShare(const Prefetch &first, const Prefetch &other);
  bool canExpand(const Prefetch &prefetch);
  void rewrite(ArrayRef<Prefetch> group);
  Loop &loop;
  ScalarEvolution &se;
  DominatorTree &dominators;
};

bool LoopPrefetches::canComputeFirst(Value *value) {
  if (loop.isLoopInvariant(value))
    return true;
  if (auto *phi = dyn_cast<PHINode>(value))
    return phi->getParent() == loop.getHeader();
  // A division may have no value before the loop's own tests.
  auto *inst = dyn_cast<Instruction>(value);
  return inst && (isa<CastInst>(inst) || (isa<BinaryOperator>(inst) && !inst->isIntDivRem())) &&
         all_of(inst->operands(), [&](Value *operand) { return canComputeFirst(operand); });
}

Value *LoopPrefetches::firstOf(Value *value, IRBuilder<> &builder) {
  if (loop.isLoopInvariant(value))
    return value;
  if (auto *phi = dyn_cast<PHINode>(value))
    return phi->getIncomingValueForBlock(loop.getLoopPreheader());
  auto *inst = cast<Instruction>(value);
  if (auto *cast = dyn_cast<CastInst>(inst))
    return builder.CreateCast(cast->getOpcode(), firstOf(cast->getOperand(0), builder),
                              cast->getType());
  return builder.CreateBinOp(cast<BinaryOperator>(inst)->getOpcode(),
                             firstOf(inst->getOperand(0), builder),
                             firstOf(inst->getOperand(1), builder));
}

std::optional<Prefetch> LoopPrefetches::asPrefetch(CallInst &call) {
  Function *callee = call.getCalledFunction();
  std::optional<BlockShape> shape =
      callee ? shapeOfBlock(callee->getName(), "prefetch") : std::nullopt;
  if (!shape || call.arg_size() != 5 || !call.getArgOperand(0)->getType()->isPointerTy())
    return std::nullopt;
  for (unsigned i = 0; i < 4; ++i)
    if (!loop.isLoopInvariant(call.getArgOperand(i)))
      return std::nullopt;
  Prefetch prefetch = {&call, *shape, xetile::cacheControlOfMessage(call), {}, {}, {}};
  bool moves = false;
  for (unsigned i = 0; i < 2; ++i) {
    prefetch.place[i] = placeOfBlock(call.getArgOperand(4), i);
    if (!prefetch.place[i] || !canComputeFirst(prefetch.place[i]))
      return std::nullopt;
    const SCEV *place = se.getSCEV(prefetch.place[i]);
    auto *places = dyn_cast<SCEVAddRecExpr>(place);
    bool isAffine = places && places->getLoop() == &loop && places->isAffine();
    if (!isAffine && !se.isLoopInvariant(place, &loop))
      return std::nullopt;
    prefetch.start[i] = isAffine ? places->getStart() : place;
    prefetch.step[i] = isAffine ? places->getStepRecurrence(se) : se.getZero(place->getType());
    moves |= !prefetch.step[i]->isZero();
  }
  return moves && canExpand(prefetch) ? std::optional(prefetch) : std::nullopt;
}

bool LoopPrefetches::canExpand(const Prefetch &prefetch) {
  SCEVExpander expander(se, "prefetch");
  const Instruction *before = loop.getLoopPreheader()->getTerminator();
  for (unsigned i = 0; i < 2; ++i)
    if (!xetile::hasLegalWidths(prefetch.step[i]) ||
        !expander.isSafeToExpandAt(prefetch.step[i], before))
      return false;
  return true;
}

std::optional<int64_t> LoopPrefetches::distance(const Prefetch &from, const Prefetch &to,
                                                unsigned direction) {
  auto *constant =
      dyn_cast<SCEVConstant>(se.getMinusSCEV(to.start[direction], from.start[direction]));
  if (!constant)
    return std::nullopt;
  int64_t value = constant->getAPInt().getSExtValue();
  return isOffsetOfMessage(value, direction, from.shape) ? std::optional(value) : std::nullopt;
}

bool LoopPrefetches::canShare(const Prefetch &first, const Prefetch &other) {
  if (first.shape.key() != other.shape.key() || first.call->getParent() != other.call->getParent())
    return false;
  for (unsigned i = 0; i < 4; ++i)
    if (first.call->getArgOperand(i) != other.call->getArgOperand(i))
      return false;
  for (unsigned i = 0; i < 2; ++i)
    if (first.step[i] != other.step[i] || !distance(first, other, i))
      return false;
  return true;
}

void LoopPrefetches::rewrite(ArrayRef<Prefetch> group) {
  const Prefetch &first = group.front();
  const BlockShape &shape = first.shape;
  Instruction *before = loop.getLoopPreheader()->getTerminator();
  IRBuilder<> builder(before);
  SCEVExpander expander(se, "prefetch");
  auto expand = [&](const SCEV *value) {
    return expander.expandCodeFor(value, builder.getInt32Ty(), before);
  };
  Value *start[] = {firstOf(first.place[0], builder), firstOf(first.place[1], builder)};
  Value *step[] = {expand(first.step[0]), expand(first.step[1])};
  Type *nothing = builder.getVoidTy();
  Value *payload = createPayload(builder, *first.call, shape, start);
  for (const Prefetch &prefetch : group) {
    builder.SetInsertPoint(prefetch.call);
    callPayload(builder, "block_read_ap_prefetch_" + shape.name(), nothing,
                {payload, builder.getInt32(*distance(first, prefetch, 0)),
                 builder.getInt32(*distance(first, prefetch, 1)),
                 builder.getInt32(prefetch.cacheControl)});
  }
  for (unsigned i = 0; i < 2; ++i)
    if (!first.step[i]->isZero())
      callPayload(builder,
                  i == 0 ? "addBlock2DAddressPayloadBlockX" : "addBlock2DAddressPayloadBlockY",
                  nothing, {payload, step[i]});
  for (const Prefetch &prefetch : group)
    prefetch.call->eraseFromParent();
}

bool LoopPrefetches::run(const LoopInfo &loops, bool immediates) {
  if (!loop.getLoopPreheader() || !loop.getLoopLatch())
    return false;
  SmallVector<SmallVector<Prefetch>> groups;
  for (BasicBlock *block : loop.blocks()) {
    // A payload moves by one step each time.
    if (loops.getLoopFor(block) != &loop || !dominators.dominates(block, loop.getLoopLatch()))
      continue;
    for (Instruction &inst : *block) {
      auto *call = dyn_cast<CallInst>(&inst);
      std::optional<Prefetch> prefetch = call ? asPrefetch(*call) : std::nullopt;
      if (!prefetch)
        continue;
      auto *group = llvm::find_if(
          groups, [&](auto &group) { return immediates && canShare(group.front(), *prefetch); });
      if (group == groups.end())
        group = &groups.emplace_back();
      group->push_back(*prefetch);
    }
  }
  for (ArrayRef<Prefetch> group : groups)
    rewrite(group);
  return !groups.empty();
}

} // namespace

PreservedAnalyses xetile::PrefetchPayloads::run(Function &function,
                                                FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &se = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder())
    changed |= LoopPrefetches(*loop, se, dominators).run(loops, immediates);
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
