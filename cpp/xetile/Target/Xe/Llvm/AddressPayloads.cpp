//===- AddressPayloads.cpp - what 2D block messages are sent with -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: names and operands of 2D block functions. Out: calls of Intel's functions of address
// payloads. Refused: nothing; names of other functions have no shape.
#include "xetile/Target/Xe/Llvm/AddressPayloads.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

std::string xetile::BlockShape::name() const {
  return ("u" + Twine(bits) + "_m" + Twine(rows) + "k" + Twine(columns) + "v" + Twine(blocks))
      .str();
}

std::optional<xetile::BlockShape> xetile::shapeOfBlock(StringRef function, StringRef kind) {
  BlockShape shape;
  unsigned length = 0;
  bool fits = function.consume_front("_Z") && !function.consumeInteger(10, length) &&
              function.consume_front("intel_sub_group_2d_block_") && function.consume_front(kind) &&
              function.consume_front("_") && !function.consumeInteger(10, shape.bits) &&
              function.consume_front("b_") && !function.consumeInteger(10, shape.rows) &&
              function.consume_front("r") && !function.consumeInteger(10, shape.columns) &&
              function.consume_front("x") && !function.consumeInteger(10, shape.blocks) &&
              function.starts_with("cPU3AS1viiiDv2_i");
  return fits ? std::optional(shape) : std::nullopt;
}

Value *xetile::placeOfBlock(Value *place, unsigned direction) {
  if (auto *constant = dyn_cast<Constant>(place))
    return dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(direction));
  auto *insert = dyn_cast<InsertElementInst>(place);
  auto *at = insert ? dyn_cast<ConstantInt>(insert->getOperand(2)) : nullptr;
  if (!at)
    return nullptr;
  return at->getValue() == direction ? insert->getOperand(1)
                                     : placeOfBlock(insert->getOperand(0), direction);
}

bool xetile::isOffsetOfMessage(int64_t offset, unsigned direction, const BlockShape &shape) {
  // Signed fields of ten bits; x is a multiple of four bytes.
  constexpr int64_t kMostImmediate = 511;
  bool isAligned = direction == 1 || offset * int64_t(shape.bits / 8) % 4 == 0;
  return isAligned && std::abs(offset) <= kMostImmediate;
}

CallInst *xetile::callPayload(IRBuilder<> &builder, const Twine &name, Type *result,
                              ArrayRef<Value *> operands) {
  SmallVector<Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  Module &module = *builder.GetInsertBlock()->getModule();
  FunctionCallee callee =
      module.getOrInsertFunction(("__builtin_IB_subgroup_" + name).str(),
                                 FunctionType::get(result, types, /*isVarArg=*/false));
  auto *function = cast<Function>(callee.getCallee());
  function->setCallingConv(CallingConv::SPIR_FUNC);
  function->setConvergent();
  function->setDoesNotThrow();
  CallInst *made = builder.CreateCall(callee, operands);
  made->setCallingConv(CallingConv::SPIR_FUNC);
  return made;
}

Value *xetile::createPayload(IRBuilder<> &builder, const CallInst &message, const BlockShape &shape,
                             ArrayRef<Value *> place) {
  auto lessOne = [&](unsigned argument) {
    return builder.CreateSub(message.getArgOperand(argument), builder.getInt32(1));
  };
  return callPayload(builder, "createBlock2DAddressPayload", builder.getPtrTy(),
                     {builder.CreatePtrToInt(message.getArgOperand(0), builder.getInt64Ty()),
                      lessOne(1), lessOne(2), lessOne(3), place[0], place[1],
                      builder.getInt32(shape.columns), builder.getInt32(shape.rows),
                      builder.getInt32(shape.blocks)});
}
