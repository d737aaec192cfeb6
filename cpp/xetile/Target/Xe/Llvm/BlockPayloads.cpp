//===- BlockPayloads.cpp - loads and stores by address payloads --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: LLVM IR with 2D block stores, and loads outside of loops. Out: those of one matrix and one
// shape, at constant distances in one block of code, by one address payload. Refused: nothing; a
// message without others, and one whose elements the library has no function for, stays plain.
// Where messages carry distances, loads of 32 rows of 32 bits are two of 16.
//
// Intel's compiler writes the six fields of a payload anew for each plain message; bmg's messages
// carry the distance, for pvc it copies the payload and changes one field. For loads in loops it
// makes payloads itself.
#include "xetile/Target/Xe/Llvm/AddressPayloads.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace xetile;

namespace {

// Of the device, for caches: as SPIR-V without cache hints leaves it for plain messages.
constexpr unsigned kOwnChoice = 0;

struct Message {
  CallInst *call;
  BlockShape shape;
  bool isStore;
  // The messages that it becomes, of a part of its rows each.
  unsigned parts;
  // x in elements, y in rows
  Value *place[2];
};

// SPIR-V's vectors have 16 elements at most: of 32 rows of a lane, these are half.
bool hasHalves(const BlockShape &shape) { return shape.key() == BlockShape{32, 32, 16, 1}.key(); }

/// The vector of a lane, as the library's function of the shape has it; null where it has none.
Type *laneType(const BlockShape &shape, bool isStore, LLVMContext &context) {
  unsigned bits = shape.columns * shape.bits, count = shape.rows * shape.blocks;
  bool isKnown = bits == 512 || (bits == 256 && shape.bits < 32);
  bool fits = isStore ? shape.rows == 8 && shape.blocks == 1
                      : shape.rows > 1 && (count == 4 || count == 8 || count == 16);
  if (!isKnown || !fits || shape.bits == 64)
    return nullptr;
  return FixedVectorType::get(IntegerType::get(context, bits / 16), count);
}

std::optional<Message> asMessage(Instruction &inst, bool isInLoop, bool immediates) {
  auto *call = dyn_cast<CallInst>(&inst);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || call->arg_size() != 6)
    return std::nullopt;
  std::optional<BlockShape> shape = shapeOfBlock(callee->getName(), "write");
  bool isStore = shape.has_value();
  if (!isStore && !isInLoop)
    shape = shapeOfBlock(callee->getName(), "read");
  if (!shape)
    return std::nullopt;
  unsigned parts = immediates && !isStore && hasHalves(*shape) ? 2 : 1;
  shape->rows /= parts;
  if (!laneType(*shape, isStore, inst.getContext()))
    return std::nullopt;
  Message message = {call, *shape, isStore, parts, {}};
  for (unsigned i = 0; i < 2; ++i)
    message.place[i] = placeOfBlock(call->getArgOperand(4), i);
  return message.place[0] && message.place[1] ? std::optional(message) : std::nullopt;
}

std::optional<int64_t> distance(const Message &from, const Message &to, unsigned direction,
                                ScalarEvolution &se) {
  auto *constant = dyn_cast<SCEVConstant>(
      se.getMinusSCEV(se.getSCEV(to.place[direction]), se.getSCEV(from.place[direction])));
  if (!constant)
    return std::nullopt;
  int64_t value = constant->getAPInt().getSExtValue(),
          last = direction == 0 ? value : value + int64_t((to.parts - 1) * to.shape.rows);
  bool fits = isOffsetOfMessage(value, direction, from.shape) &&
              isOffsetOfMessage(last, direction, from.shape);
  return fits ? std::optional(value) : std::nullopt;
}

bool canShare(const Message &first, const Message &other, ScalarEvolution &se) {
  if (first.shape.key() != other.shape.key() || first.isStore != other.isStore)
    return false;
  for (unsigned i = 0; i < 4; ++i)
    if (first.call->getArgOperand(i) != other.call->getArgOperand(i))
      return false;
  return distance(first, other, 0, se) && distance(first, other, 1, se);
}

void rewrite(ArrayRef<Message> group, ScalarEvolution &se) {
  const Message &first = group.front();
  IRBuilder<> builder(first.call);
  Value *payload = createPayload(builder, *first.call, first.shape, first.place);
  Type *lane = laneType(first.shape, first.isStore, builder.getContext());
  for (const Message &message : group) {
    builder.SetInsertPoint(message.call);
    Value *array = message.call->getArgOperand(5);
    int64_t x = *distance(first, message, 0, se), y = *distance(first, message, 1, se);
    for (unsigned part = 0; part < message.parts; ++part) {
      SmallVector<Value *> operands = {payload, builder.getInt32(x),
                                       builder.getInt32(y + int64_t(part) * message.shape.rows)};
      if (message.isStore) {
        operands.push_back(builder.CreateAlignedLoad(lane, array, Align(1)));
        operands.push_back(builder.getInt32(kOwnChoice));
        callPayload(builder, "block_write_ap_" + message.shape.name(), builder.getVoidTy(),
                    operands);
        continue;
      }
      operands.push_back(builder.getInt32(kOwnChoice));
      Value *value = callPayload(builder, "block_read_ap_" + message.shape.name(), lane, operands);
      Value *to = part == 0 ? array : builder.CreateConstInBoundsGEP1_32(lane, array, part);
      builder.CreateAlignedStore(value, to, Align(1));
    }
  }
  for (const Message &message : group)
    message.call->eraseFromParent();
}

} // namespace

PreservedAnalyses BlockPayloads::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &se = analyses.getResult<ScalarEvolutionAnalysis>(function);
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  bool changed = false;
  for (BasicBlock &block : function) {
    SmallVector<SmallVector<Message>> groups;
    for (Instruction &inst : block) {
      std::optional<Message> message = asMessage(inst, loops.getLoopFor(&block), immediates);
      if (!message)
        continue;
      auto *group =
          llvm::find_if(groups, [&](auto &group) { return canShare(group.front(), *message, se); });
      if (group == groups.end())
        group = &groups.emplace_back();
      group->push_back(*message);
    }
    for (ArrayRef<Message> group : groups)
      if (group.size() > 1) {
        rewrite(group, se);
        changed = true;
      }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
