//===- LoopControls.cpp - what a SPIR-V consumer may do to loops --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a SPIR-V module for OpenCL, as LLVM's backend writes it. Out: the same with OpLoopMerge
// DontUnroll at each block that branches to itself. Left alone: loops of several blocks, loops that
// have an OpLoopMerge, modules that are cut off.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/Llvm/LoopControls.h"
#include <cstdint>
#include <cstring>
#include <vector>

namespace {
// SPIR-V 1.4, "Physical Layout of a SPIR-V Module and Instruction" and "Control-Flow Instructions".
constexpr size_t headerWords = 5;
constexpr uint32_t opLoopMerge = 246, opLabel = 248, opBranchConditional = 250;
constexpr uint32_t dontUnroll = 2;
} // namespace

void xetile::forbidUnrolling(std::string &spirv) {
  std::vector<uint32_t> words(spirv.size() / 4);
  std::memcpy(words.data(), spirv.data(), words.size() * 4);
  if (words.size() < headerWords)
    return;
  std::vector<uint32_t> result(words.begin(), words.begin() + headerWords);
  uint32_t label = 0, previous = 0;
  for (size_t at = headerWords; at < words.size();) {
    size_t length = words[at] >> 16;
    uint32_t opcode = words[at] & 0xffff;
    if (length == 0 || at + length > words.size())
      return;
    if (opcode == opLabel && length > 1)
      label = words[at + 1];
    if (opcode == opBranchConditional && length > 3 && previous != opLoopMerge) {
      uint32_t whenTrue = words[at + 2], whenFalse = words[at + 3];
      if ((whenTrue == label) != (whenFalse == label)) {
        uint32_t exit = whenTrue == label ? whenFalse : whenTrue;
        result.insert(result.end(), {4u << 16 | opLoopMerge, exit, label, dontUnroll});
      }
    }
    result.insert(result.end(), words.begin() + at, words.begin() + at + length);
    previous = opcode;
    at += length;
  }
  spirv.assign(reinterpret_cast<const char *>(result.data()), result.size() * 4);
}
