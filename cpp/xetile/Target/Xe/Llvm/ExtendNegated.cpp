//===- ExtendNegated.cpp - numbers that are extended with their negatives -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: fpext of a number, and of its negative, in a loop. Out: of the number twice, of which the
// second is negated, so that one is left. Refused: nothing; where only the negative is extended, or
// too many numbers are, they stay.
//
// Intel's GPUs convert f16 to f32 by an instruction each, and negate what an instruction reads by a
// modifier. Turned heads multiply halves as they are, and one of them negated. What is extended
// once is in registers for longer, which costs spills and waits where they are many.
#include "xetile/Target/Xe/Llvm/ExtendNegated.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// An eighth of the registers that a kernel has at most: one holds an element of each lane.
constexpr unsigned kMostRegisters = 32;

using Extensions = SmallVector<std::pair<FPExtInst *, Value *>>;

unsigned registersOf(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

/// Extensions of negated numbers in `block`, with the numbers, which are extended in it, too.
Extensions findIn(BasicBlock &block) {
  Extensions found;
  for (Instruction &inst : block) {
    Value *number;
    auto *extension = dyn_cast<FPExtInst>(&inst);
    if (!extension || !match(extension->getOperand(0), m_FNeg(m_Value(number))))
      continue;
    if (any_of(number->users(), [&](User *user) {
          return isa<FPExtInst>(user) && user->getType() == extension->getType() &&
                 cast<Instruction>(user)->getParent() == &block;
        }))
      found.push_back({extension, number});
  }
  return found;
}

} // namespace

PreservedAnalyses xetile::ExtendNegated::run(Function &function,
                                             FunctionAnalysisManager &analyses) {
  LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  bool changed = false;
  for (BasicBlock &block : function) {
    Extensions found = loops.getLoopFor(&block) ? findIn(block) : Extensions();
    unsigned registers = 0;
    for (auto [extension, number] : found)
      registers += registersOf(extension->getType());
    if (registers > kMostRegisters)
      continue;
    for (auto [extension, number] : found) {
      IRBuilder<> builder(extension);
      extension->replaceAllUsesWith(
          builder.CreateFNeg(builder.CreateFPExt(number, extension->getType())));
      extension->eraseFromParent();
    }
    changed |= !found.empty();
  }
  if (!changed)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}
