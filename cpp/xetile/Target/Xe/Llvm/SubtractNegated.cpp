//===- SubtractNegated.cpp - differences in place of sums with negated numbers ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an optimized module for the device. Out: sums of a vector and one of negated numbers as
// differences, which are the same numbers. Refused: nothing.
//
// Of (-r + m) - r, where -r is one number in all elements of a vector, the compiler in Intel's
// OpenCL driver for CPUs loses the last term. LLVM's own optimizations write such sums as
// differences where whole vectors are negated, not where a vector is made of negated numbers.
#include "xetile/Target/Xe/Llvm/SubtractNegated.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// True if all elements of `value` that are no poison are negated numbers.
static bool isNegated(Value *value, unsigned depth = 0) {
  constexpr unsigned kMostElements = 64;
  if (isa<PoisonValue>(value) || match(value, m_FNeg(m_Value())))
    return true;
  if (depth > kMostElements)
    return false;
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(value))
    return isNegated(shuffle->getOperand(0), depth + 1) &&
           isNegated(shuffle->getOperand(1), depth + 1);
  auto *insert = dyn_cast<InsertElementInst>(value);
  return insert && isNegated(insert->getOperand(1), depth + 1) &&
         isNegated(insert->getOperand(0), depth + 1);
}

/// The numbers that `value`, a vector of negated ones, is the negatives of.
static Value *positive(IRBuilder<> &builder, Value *value) {
  Value *number;
  if (isa<PoisonValue>(value))
    return value;
  if (match(value, m_FNeg(m_Value(number))))
    return number;
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(value))
    return builder.CreateShuffleVector(positive(builder, shuffle->getOperand(0)),
                                       positive(builder, shuffle->getOperand(1)),
                                       shuffle->getShuffleMask());
  auto *insert = cast<InsertElementInst>(value);
  return builder.CreateInsertElement(positive(builder, insert->getOperand(0)),
                                     positive(builder, insert->getOperand(1)),
                                     insert->getOperand(2));
}

void xetile::subtractNegated(Module &module) {
  SmallVector<BinaryOperator *> sums;
  for (Function &function : module)
    for (Instruction &inst : instructions(function))
      if (auto *sum = dyn_cast<BinaryOperator>(&inst);
          sum && sum->getOpcode() == Instruction::FAdd && sum->getType()->isVectorTy())
        sums.push_back(sum);
  for (BinaryOperator *sum : sums)
    for (unsigned operand : {0, 1}) {
      Value *negated = sum->getOperand(operand);
      if (isa<Constant>(negated) || !isNegated(negated))
        continue;
      IRBuilder<> builder(sum);
      builder.setFastMathFlags(sum->getFastMathFlags());
      sum->replaceAllUsesWith(
          builder.CreateFSub(sum->getOperand(1 - operand), positive(builder, negated)));
      sum->eraseFromParent();
      break;
    }
}
