//===- StorePayloads.cpp - stores by address payloads ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: LLVM IR with 2D block stores. Out: those of one matrix and one shape, at constant distances
// in one block of code, by one address payload. Refused: nothing; a store without others, and one
// whose elements the library has no function for, stays plain.
//
// Intel's compiler writes the six fields of a payload anew for each plain store; bmg's messages
// carry the distance, for pvc it copies the payload and changes one field.
#include "xetile/Target/Xe/Llvm/AddressPayloads.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace xetile;

namespace {

// Of the device, for caches: as SPIR-V without cache hints leaves it for plain stores.
constexpr unsigned kOwnChoice = 0;

struct Store {
  CallInst *call;
  BlockShape shape;
  // x in elements, y in rows
  Value *place[2];
};

/// Bits of an element of a lane's vector, as the library's function of the shape takes it; nothing
/// where it has none.
std::optional<unsigned> laneBits(const BlockShape &shape) {
  bool isWide = shape.columns * shape.bits == 512;
  bool isHalf = shape.columns * shape.bits == 256 && shape.bits < 32;
  if (shape.blocks != 1 || (!isWide && !isHalf))
    return std::nullopt;
  if (shape.rows == 8)
    return shape.bits == 64 ? std::nullopt : std::optional(isWide ? 32U : 16U);
  return std::nullopt;
}

std::optional<Store> asStore(Instruction &inst) {
  auto *call = dyn_cast<CallInst>(&inst);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  std::optional<BlockShape> shape =
      callee ? shapeOfBlock(callee->getName(), "write") : std::nullopt;
  if (!shape || !laneBits(*shape) || call->arg_size() != 6)
    return std::nullopt;
  Store store = {call, *shape, {}};
  for (unsigned i = 0; i < 2; ++i)
    store.place[i] = placeOfBlock(call->getArgOperand(4), i);
  return store.place[0] && store.place[1] ? std::optional(store) : std::nullopt;
}

std::optional<int64_t> distance(const Store &from, const Store &to, unsigned direction,
                                ScalarEvolution &se) {
  auto *constant = dyn_cast<SCEVConstant>(
      se.getMinusSCEV(se.getSCEV(to.place[direction]), se.getSCEV(from.place[direction])));
  if (!constant)
    return std::nullopt;
  int64_t value = constant->getAPInt().getSExtValue();
  return isOffsetOfMessage(value, direction, from.shape) ? std::optional(value) : std::nullopt;
}

bool canShare(const Store &first, const Store &other, ScalarEvolution &se) {
  if (first.shape.key() != other.shape.key())
    return false;
  for (unsigned i = 0; i < 4; ++i)
    if (first.call->getArgOperand(i) != other.call->getArgOperand(i))
      return false;
  return distance(first, other, 0, se) && distance(first, other, 1, se);
}

void rewrite(ArrayRef<Store> group, ScalarEvolution &se) {
  const Store &first = group.front();
  IRBuilder<> builder(first.call);
  Value *payload = createPayload(builder, *first.call, first.shape, first.place);
  Type *lane = FixedVectorType::get(builder.getIntNTy(*laneBits(first.shape)), first.shape.rows);
  for (const Store &store : group) {
    builder.SetInsertPoint(store.call);
    Value *value = builder.CreateAlignedLoad(lane, store.call->getArgOperand(5), Align(1));
    callPayload(builder, "block_write_ap_" + store.shape.name(), builder.getVoidTy(),
                {payload, builder.getInt32(*distance(first, store, 0, se)),
                 builder.getInt32(*distance(first, store, 1, se)), value,
                 builder.getInt32(kOwnChoice)});
  }
  for (const Store &store : group)
    store.call->eraseFromParent();
}

} // namespace

PreservedAnalyses StorePayloads::run(Function &function, FunctionAnalysisManager &analyses) {
  auto &se = analyses.getResult<ScalarEvolutionAnalysis>(function);
  bool changed = false;
  for (BasicBlock &block : function) {
    SmallVector<SmallVector<Store>> groups;
    for (Instruction &inst : block) {
      std::optional<Store> store = asStore(inst);
      if (!store)
        continue;
      auto *group =
          llvm::find_if(groups, [&](auto &group) { return canShare(group.front(), *store, se); });
      if (group == groups.end())
        group = &groups.emplace_back();
      group->push_back(*store);
    }
    for (ArrayRef<Store> group : groups)
      if (group.size() > 1) {
        rewrite(group, se);
        changed = true;
      }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
