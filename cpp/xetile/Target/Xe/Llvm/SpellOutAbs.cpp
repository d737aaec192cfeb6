//===- SpellOutAbs.cpp - magnitudes as Intel's compiler folds them --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an optimized module for the device. Out: magnitudes as selects, tests of their sums for NaN
// as compares with zero. Refused: nothing.
//
// Intel's compiler makes of OpenCL's fabs an instruction on integers for each element. Of this
// select it makes LLVM's intrinsic, which is a modifier of the instruction that reads it. It is
// written after LLVM's own optimizations, which know it, too.
#include "xetile/Target/Xe/Llvm/SpellOutAbs.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/// A sum of magnitudes: it is not negative, or NaN.
static bool isSumOfMagnitudes(Value *value, unsigned depth = 0) {
  constexpr unsigned kMostTerms = 16;
  Value *left, *right;
  if (match(value, m_FAbs(m_Value())))
    return true;
  return depth < kMostTerms && match(value, m_FAdd(m_Value(left), m_Value(right))) &&
         isSumOfMagnitudes(left, depth + 1) && isSumOfMagnitudes(right, depth + 1);
}

// A compare with zero is a flag that the last addition writes.
static void compareWithZero(FCmpInst &compare) {
  Value *sum = compare.getOperand(0), *other = compare.getOperand(1);
  bool isTest = other == sum || match(other, m_AnyZeroFP());
  bool isOrdered = compare.getPredicate() == FCmpInst::FCMP_ORD;
  if (!isTest || (!isOrdered && compare.getPredicate() != FCmpInst::FCMP_UNO) ||
      !isa<BinaryOperator>(sum) || !isSumOfMagnitudes(sum))
    return;
  compare.setPredicate(isOrdered ? FCmpInst::FCMP_OGE : FCmpInst::FCMP_ULT);
  compare.setOperand(1, Constant::getNullValue(sum->getType()));
}

/// Of -0 the difference is 0.
static Value *selectMagnitude(IRBuilder<> &builder, Value *number) {
  Value *zero = Constant::getNullValue(number->getType());
  return builder.CreateSelect(builder.CreateFCmpOLE(number, zero), builder.CreateFSub(zero, number),
                              number);
}

// Of whole vectors the select ends Intel's compiler.
static Value *spellOut(IntrinsicInst &intrinsic) {
  IRBuilder<> builder(&intrinsic);
  Value *number = intrinsic.getArgOperand(0);
  auto *vector = dyn_cast<FixedVectorType>(intrinsic.getType());
  if (!vector)
    return selectMagnitude(builder, number);
  Value *result = PoisonValue::get(vector);
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    result = builder.CreateInsertElement(
        result, selectMagnitude(builder, builder.CreateExtractElement(number, i)), i);
  return result;
}

void xetile::spellOutAbs(Module &module) {
  SmallVector<IntrinsicInst *> found;
  for (Function &function : module)
    for (Instruction &inst : instructions(function)) {
      if (auto *compare = dyn_cast<FCmpInst>(&inst))
        compareWithZero(*compare);
      else if (auto *intrinsic = dyn_cast<IntrinsicInst>(&inst);
               intrinsic && intrinsic->getIntrinsicID() == Intrinsic::fabs)
        found.push_back(intrinsic);
    }
  for (IntrinsicInst *intrinsic : found) {
    intrinsic->replaceAllUsesWith(spellOut(*intrinsic));
    intrinsic->eraseFromParent();
  }
}
