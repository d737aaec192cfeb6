//===- CacheControls.cpp - cache hints in SPIR-V --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: LLVM IR whose calls have the metadata spirv.DecorationCacheControlINTEL.
// Out: the same with a pointer of its own for each call, annotated as the SPIR-V backend expects.
// Refused: nothing; metadata of another form is left alone.
#include "xetile/Target/Xe/Llvm/CacheControls.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include <cstdint>
#include <cstring>
#include <vector>

using namespace llvm;

// From the specification of SPV_INTEL_cache_controls.
static constexpr uint32_t kCapability = 6441, kLoadControl = 6442, kStoreControl = 6443;
static constexpr StringLiteral kExtension = "SPV_INTEL_cache_controls";
static constexpr uint32_t kOpExtension = 10, kOpCapability = 17, kOpDecorate = 71;
static constexpr size_t kHeaderWords = 5;

namespace {
struct Hint {
  uint64_t decoration, level, control, argument;
};
} // namespace

static constexpr StringLiteral kMetadata = "spirv.DecorationCacheControlINTEL";

/// None where the metadata has another form.
static SmallVector<Hint> readHints(const MDNode &node) {
  SmallVector<Hint> hints;
  for (const MDOperand &operand : node.operands()) {
    auto *parts = dyn_cast<MDNode>(operand);
    if (!parts || parts->getNumOperands() != 4)
      return {};
    uint64_t numbers[4];
    for (auto [number, part] : zip_equal(numbers, parts->operands())) {
      auto *constant = mdconst::dyn_extract<ConstantInt>(part);
      if (!constant)
        return {};
      number = constant->getZExtValue();
    }
    hints.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
  }
  return hints;
}

/// {decoration:"level,control"} for each, of the argument that all of them are about.
static std::string getAnnotation(const MDNode &node, unsigned &argument) {
  std::string text;
  for (const Hint &hint : readHints(node)) {
    if (!text.empty() && argument != hint.argument)
      return {};
    argument = hint.argument;
    text += "{" + std::to_string(hint.decoration) + ":\"" + std::to_string(hint.level) + "," +
            std::to_string(hint.control) + "\"}";
  }
  return text;
}

unsigned xetile::cacheControlOfMessage(const CallInst &call) {
  // LSC_LDCC of Intel's compiler, by what SPIR-V's numbers (0 uncached, 1 cached, 2 streaming, 3
  // invalidate after read) say of the first and of the last cache.
  constexpr unsigned kBothCached = 4;
  constexpr unsigned table[4][2] = {{1, 2}, {3, kBothCached}, {5, 6}, {kBothCached, 7}};
  const MDNode *node = call.getMetadata(kMetadata);
  std::optional<uint64_t> controls[2];
  for (const Hint &hint : node ? readHints(*node) : SmallVector<Hint>())
    if (hint.decoration == kLoadControl && hint.level < 2)
      controls[hint.level] = hint.control;
  if (!controls[0] || !controls[1] || *controls[0] > 3 || *controls[1] > 1)
    return kBothCached;
  return table[*controls[0]][*controls[1]];
}

bool xetile::decorateCacheControls(Module &module) {
  SmallVector<CallInst *> calls;
  for (Function &function : module)
    for (Instruction &inst : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&inst); call && call->getMetadata(kMetadata))
        calls.push_back(call);
  bool any = false;
  for (CallInst *call : calls) {
    unsigned argument = 0;
    std::string text = getAnnotation(*call->getMetadata(kMetadata), argument);
    if (text.empty() || argument >= call->arg_size())
      continue;
    Value *pointer = call->getArgOperand(argument);
    auto *type = dyn_cast<PointerType>(pointer->getType());
    if (!type)
      continue;
    IRBuilder<> builder(call);
    // Decorations are the pointer's: accesses with other hints have other pointers.
    auto *own = GetElementPtrInst::CreateInBounds(builder.getInt8Ty(), pointer,
                                                  {builder.getInt64(0)}, "", call->getIterator());
    Constant *string = ConstantDataArray::getString(module.getContext(), text);
    auto *global = new GlobalVariable(module, string->getType(), /*isConstant=*/true,
                                      GlobalValue::PrivateLinkage, string, "cache", nullptr,
                                      GlobalValue::NotThreadLocal, /*AddressSpace=*/1);
    global->setSection("llvm.metadata");
    Value *none = ConstantPointerNull::get(PointerType::get(module.getContext(), 1));
    Value *annotated = builder.CreateIntrinsic(Intrinsic::ptr_annotation, {type, global->getType()},
                                               {own, global, none, builder.getInt32(0), none});
    call->setArgOperand(argument, annotated);
    any = true;
  }
  return any;
}

std::string xetile::withoutCacheControls(const std::string &spirv) {
  std::vector<uint32_t> words(spirv.size() / 4), kept;
  std::memcpy(words.data(), spirv.data(), words.size() * 4);
  if (words.size() < kHeaderWords)
    return spirv;
  kept.assign(words.begin(), words.begin() + kHeaderWords);
  for (size_t at = kHeaderWords; at < words.size();) {
    size_t length = words[at] >> 16;
    uint32_t opcode = words[at] & 0xffff;
    if (length == 0 || at + length > words.size())
      return spirv;
    bool isControl = false;
    if (opcode == kOpCapability && length > 1)
      isControl = words[at + 1] == kCapability;
    else if (opcode == kOpDecorate && length > 2)
      isControl = words[at + 2] == kLoadControl || words[at + 2] == kStoreControl;
    else if (opcode == kOpExtension)
      isControl = StringRef(reinterpret_cast<const char *>(&words[at + 1]), (length - 1) * 4)
                      .starts_with(kExtension);
    if (!isControl)
      kept.insert(kept.end(), words.begin() + at, words.begin() + at + length);
    at += length;
  }
  return {reinterpret_cast<const char *>(kept.data()), kept.size() * 4};
}
