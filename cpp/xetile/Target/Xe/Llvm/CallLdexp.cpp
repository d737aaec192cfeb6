//===- CallLdexp.cpp - powers of two by OpenCL's function -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an optimized module for the device. Out: calls of OpenCL's ldexp in place of the intrinsic.
// Refused: nothing; numbers that OpenCL's function has no form for stay.
#include "xetile/Target/Xe/Llvm/CallLdexp.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// The function for one element; null where there is none.
static Function *functionFor(Module &module, Type *number, Type *exponent) {
  const char *letter = number->isHalfTy()     ? "Dh"
                       : number->isFloatTy()  ? "f"
                       : number->isDoubleTy() ? "d"
                                              : nullptr;
  if (!letter || !exponent->isIntegerTy(32))
    return nullptr;
  std::string name = std::string("_Z5ldexp") + letter + "i";
  if (Function *known = module.getFunction(name))
    return known;
  auto *type = FunctionType::get(number, {number, exponent}, /*isVarArg=*/false);
  Function *function = Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  function->setCallingConv(CallingConv::SPIR_FUNC);
  function->setDoesNotThrow();
  function->setWillReturn();
  return function;
}

static Value *callFor(IntrinsicInst &intrinsic, Function *function) {
  IRBuilder<> builder(&intrinsic);
  auto call = [&](Value *number, Value *exponent) {
    CallInst *one = builder.CreateCall(function, {number, exponent});
    one->setCallingConv(CallingConv::SPIR_FUNC);
    return one;
  };
  Value *number = intrinsic.getArgOperand(0), *exponent = intrinsic.getArgOperand(1);
  auto *vector = dyn_cast<FixedVectorType>(intrinsic.getType());
  if (!vector)
    return call(number, exponent);
  Value *result = PoisonValue::get(vector);
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    result = builder.CreateInsertElement(
        result,
        call(builder.CreateExtractElement(number, i), builder.CreateExtractElement(exponent, i)),
        i);
  return result;
}

void xetile::callLdexp(Module &module) {
  SmallVector<IntrinsicInst *> found;
  for (Function &function : module)
    for (Instruction &inst : instructions(function))
      if (auto *intrinsic = dyn_cast<IntrinsicInst>(&inst);
          intrinsic && intrinsic->getIntrinsicID() == Intrinsic::ldexp)
        found.push_back(intrinsic);
  for (IntrinsicInst *intrinsic : found) {
    Function *function = functionFor(module, intrinsic->getType()->getScalarType(),
                                     intrinsic->getArgOperand(1)->getType()->getScalarType());
    if (!function)
      continue;
    intrinsic->replaceAllUsesWith(callFor(*intrinsic, function));
    intrinsic->eraseFromParent();
  }
}
