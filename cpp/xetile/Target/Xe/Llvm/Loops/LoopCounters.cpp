//===- LoopCounters.cpp - counters of 32 bits and unequal compares -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: LLVM IR with rotated loops. Out: the same loops; their counters have 32 bits where that many
// tell all steps apart and all uses, and the next value is compared with the last one by "unequal".
// Refused: nothing; loops of unknown length or with several exits stay as they are.
//
// A GPU's scalar unit has 32 bits: a counter of 64 costs a compare in two halves, and a move for
// each coordinate that is cut from it. A test of the value before the addition leaves the addition
// to a block of its own, with a second jump.
#include "xetile/Target/Xe/Llvm/Loops/LoopPasses.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

constexpr unsigned kScalarBits = 32;

class Counter {
public:
  Counter(Loop &loop, ScalarEvolution &se) : loop(loop), se(se) {}

  /// Rewrites the counter that ends the loop, if there is one.
  bool run();

private:
  bool find();
  /// In a loop of two steps LLVM makes constants of a counter's two values: it gets back its
  /// addition.
  void restoreCounter();
  bool isCounter(PHINode &candidate);
  /// True if a counter of that many bits is injective over all steps, the one after the last
  /// included.
  bool tellsStepsApart(unsigned bits);
  /// True if the users of `value` demand its low bits only.
  bool hasLowUsesOnly(Value *value);
  void narrowCounter();
  Value *narrow(Value *value);
  Value *narrowOnce(Value *value);
  const SCEV *lastValue(Type *type);

  Loop &loop;
  ScalarEvolution &se;
  BranchInst *branch = nullptr;
  ICmpInst *test = nullptr;
  PHINode *phi = nullptr;
  Instruction *next = nullptr;
  const SCEVAddRecExpr *values = nullptr;
  bool isRestored = false;
  SmallPtrSet<Value *, 16> low; // values of which the low bits are enough
  SmallVector<TruncInst *> truncations;
  DenseMap<Value *, Value *> narrowed;
};

bool Counter::isCounter(PHINode &candidate) {
  if (!candidate.getType()->isIntegerTy())
    return false;
  values = dyn_cast<SCEVAddRecExpr>(se.getSCEV(&candidate));
  if (!values || values->getLoop() != &loop || !values->isAffine() ||
      !isa<SCEVConstant>(values->getOperand(1)))
    return false;
  next = dyn_cast<BinaryOperator>(candidate.getIncomingValueForBlock(loop.getLoopLatch()));
  if (!next || next->getOpcode() != Instruction::Add || next->getOperand(0) != &candidate ||
      !isa<ConstantInt>(next->getOperand(1)))
    return false;
  phi = &candidate;
  return true;
}

void Counter::restoreCounter() {
  BasicBlock *latch = loop.getLoopLatch();
  if (!se.getBackedgeTakenCount(&loop)->isOne())
    return;
  for (PHINode &candidate : loop.getHeader()->phis()) {
    if (!candidate.getType()->isIntegerTy() || candidate.getType()->isIntegerTy(1))
      continue;
    auto *second = dyn_cast<ConstantInt>(candidate.getIncomingValueForBlock(latch));
    auto *first =
        dyn_cast<ConstantInt>(candidate.getIncomingValueForBlock(loop.getLoopPreheader()));
    if (!first || !second)
      continue;
    IRBuilder<> builder(branch);
    candidate.setIncomingValueForBlock(
        latch, builder.CreateAdd(&candidate, builder.getInt(second->getValue() - first->getValue()),
                                 "next"));
    se.forgetValue(&candidate);
    isRestored = true;
  }
}

bool Counter::find() {
  BasicBlock *latch = loop.getLoopLatch();
  if (!loop.getLoopPreheader() || !latch || loop.getExitingBlock() != latch)
    return false;
  branch = dyn_cast<BranchInst>(latch->getTerminator());
  if (!branch || !branch->isConditional() ||
      isa<SCEVCouldNotCompute>(se.getBackedgeTakenCount(&loop)))
    return false;
  test = dyn_cast<ICmpInst>(branch->getCondition());
  if (test && (!test->hasOneUse() || !loop.contains(test)))
    test = nullptr;
  restoreCounter();
  // How many steps there are does not depend on which counter tells them. The widest is the one to
  // be rid of.
  SmallVector<PHINode *> counters;
  for (PHINode &candidate : loop.getHeader()->phis())
    if (isCounter(candidate))
      counters.push_back(&candidate);
  auto bits = [](PHINode *counter) { return counter->getType()->getIntegerBitWidth(); };
  auto *widest = llvm::max_element(
      counters, [&](PHINode *left, PHINode *right) { return bits(left) < bits(right); });
  return widest != counters.end() && isCounter(**widest);
}

bool Counter::tellsStepsApart(unsigned bits) {
  const APInt &step = cast<SCEVConstant>(values->getOperand(1))->getAPInt();
  const SCEV *taken = se.getBackedgeTakenCount(&loop);
  if (step.isZero() || step.countr_zero() >= bits)
    return false;
  APInt most = se.getUnsignedRangeMax(se.applyLoopGuards(taken, &loop));
  // Steps of 2^z repeat after 2^(bits - z) of them.
  return most.getActiveBits() <= bits - step.countr_zero();
}

bool Counter::hasLowUsesOnly(Value *value) {
  if (!low.insert(value).second)
    return true;
  return all_of(value->users(), [&](User *user) {
    if (user == phi || user == next || user == test) {
      // The other two are looked at when they are reached.
      return user == test || hasLowUsesOnly(user);
    }
    if (auto *truncation = dyn_cast<TruncInst>(user)) {
      if (truncation->getType()->isVectorTy() ||
          truncation->getType()->getIntegerBitWidth() > kScalarBits)
        return false;
      truncations.push_back(truncation);
      return true;
    }
    auto *operation = dyn_cast<BinaryOperator>(user);
    if (!operation)
      return false;
    switch (operation->getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
      return hasLowUsesOnly(operation);
    case Instruction::Shl: {
      auto *amount = dyn_cast<ConstantInt>(operation->getOperand(1));
      return amount && amount->getValue().ult(kScalarBits) && hasLowUsesOnly(operation);
    }
    default:
      return false;
    }
  });
}

Value *Counter::narrow(Value *value) {
  Value *&known = narrowed[value];
  if (known)
    return known;
  Value *made = narrowOnce(value);
  return narrowed[value] = made;
}

Value *Counter::narrowOnce(Value *value) {
  Type *type = Type::getIntNTy(value->getContext(), kScalarBits);
  if (auto *constant = dyn_cast<ConstantInt>(value))
    return ConstantInt::get(type, constant->getValue().trunc(kScalarBits));
  // Wider and narrower again: what was widened.
  if (isa<ZExtInst, SExtInst>(value)) {
    Value *source = cast<CastInst>(value)->getOperand(0);
    if (source->getType() == type)
      return source;
  }
  auto *inst = dyn_cast<Instruction>(value);
  if (inst && low.contains(inst) && isa<BinaryOperator>(inst)) {
    auto *operation = cast<BinaryOperator>(inst);
    Value *left = narrow(operation->getOperand(0)), *right = narrow(operation->getOperand(1));
    // Overflow flags of 64 bits do not hold in 32.
    return BinaryOperator::Create(operation->getOpcode(), left, right, operation->getName() + ".lo",
                                  operation->getIterator());
  }
  if (!inst || loop.isLoopInvariant(value)) {
    IRBuilder<> builder(loop.getLoopPreheader()->getTerminator());
    return builder.CreateTrunc(value, type);
  }
  IRBuilder<> builder(inst->getParent(), *inst->getInsertionPointAfterDef());
  return builder.CreateTrunc(value, type);
}

void Counter::narrowCounter() {
  Type *type = Type::getIntNTy(phi->getContext(), kScalarBits);
  IRBuilder<> builder(phi);
  PHINode *shortPhi = builder.CreatePHI(type, 2, phi->getName() + ".lo");
  narrowed[phi] = shortPhi;
  builder.SetInsertPoint(next);
  Value *shortNext = builder.CreateAdd(shortPhi, narrow(next->getOperand(1)), "next.lo");
  narrowed[next] = shortNext;
  shortPhi->addIncoming(narrow(phi->getIncomingValueForBlock(loop.getLoopPreheader())),
                        loop.getLoopPreheader());
  shortPhi->addIncoming(shortNext, loop.getLoopLatch());
  for (TruncInst *truncation : truncations) {
    Value *value = narrow(truncation->getOperand(0));
    if (value->getType() != truncation->getType()) {
      builder.SetInsertPoint(truncation);
      value = builder.CreateTrunc(value, truncation->getType());
    }
    truncation->replaceAllUsesWith(value);
  }
  for (TruncInst *truncation : truncations)
    RecursivelyDeleteTriviallyDeadInstructions(truncation);
}

const SCEV *Counter::lastValue(Type *type) {
  const SCEV *taken = se.getBackedgeTakenCount(&loop);
  const SCEV *steps = se.getAddExpr(se.getTruncateOrZeroExtend(taken, type), se.getOne(type));
  return se.getAddExpr(se.getTruncateOrNoop(values->getStart(), type),
                       se.getMulExpr(steps, se.getTruncateOrNoop(values->getOperand(1), type)));
}

bool Counter::run() {
  if (!find())
    return isRestored;
  unsigned bits = phi->getType()->getIntegerBitWidth();
  bool narrows = bits > kScalarBits && tellsStepsApart(kScalarBits) && hasLowUsesOnly(phi);
  bool isUnequal = test && test->getPredicate() == ICmpInst::ICMP_NE && test->getOperand(0) == next;
  if (!narrows && (isUnequal || !tellsStepsApart(bits)))
    return isRestored;
  Type *type = narrows ? Type::getIntNTy(phi->getContext(), kScalarBits) : phi->getType();
  Instruction *before = loop.getLoopPreheader()->getTerminator();
  SCEVExpander expander(se, "last");
  const SCEV *last = lastValue(type);
  if (!xetile::hasLegalWidths(last) || !expander.isSafeToExpandAt(last, before))
    return isRestored;
  Value *end = expander.expandCodeFor(last, type, before);
  if (narrows)
    narrowCounter();
  Value *condition = branch->getCondition();
  IRBuilder<> builder(branch);
  branch->setCondition(builder.CreateICmpNE(narrows ? narrowed[next] : next, end));
  if (branch->getSuccessor(0) != loop.getHeader())
    branch->swapSuccessors();
  se.forgetLoop(&loop);
  if (auto *inst = dyn_cast<Instruction>(condition)) {
    auto *flag = dyn_cast<PHINode>(inst);
    flag ? RecursivelyDeleteDeadPHINode(flag) : RecursivelyDeleteTriviallyDeadInstructions(inst);
  }
  RecursivelyDeleteDeadPHINode(phi);
  return true;
}

} // namespace

bool xetile::hasLegalWidths(const SCEV *expression) {
  return !SCEVExprContains(expression, [](const SCEV *part) {
    auto *type = dyn_cast<IntegerType>(part->getType());
    return type && !is_contained({1u, 8u, 16u, 32u, 64u}, type->getBitWidth());
  });
}

PreservedAnalyses xetile::LoopCounters::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &se = analyses.getResult<ScalarEvolutionAnalysis>(function);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder())
    changed |= Counter(*loop, se).run();
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
