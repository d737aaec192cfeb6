// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KernelBlocks.cpp: functions of a SPIR-V module as blocks, to be copied.
// Input: a module; output: its functions, block by block, and which operands are ids.
// Refused: nothing.
#include "KernelBlocks.h"

#include "SpirvNumbers.h"

namespace xetile::runtime {
namespace {

// Opcodes that nobody else asks for.
constexpr unsigned typeBool = 20, lastArithmetic = 141, firstLogical = 164, lastLogical = 167,
                   memoryBarrier = 225, branch = 249, asyncCopy = 259, waitEvents = 260,
                   firstGroup = 261, firstOfOperation = 264, lastGroup = 271, firstNonUniform = 333,
                   lastNonUniform = 366, firstLateGroup = 6401, lastLateGroup = 6408;
constexpr uint32_t ofWorkgroup = 2;

bool within(unsigned opcode, unsigned first, unsigned last) {
  return opcode >= first && opcode <= last;
}

bool hasResult(const SpirvInstruction &in, const SpirvEdit &edit) {
  return in.length() > 2 && edit.typeOf(in[2]) == in[1];
}

} // namespace

bool SpirvBlock::leaves() const {
  for (const SpirvInstruction &in : instructions)
    if (in.opcode() != op::returnVoid && in.opcode() != op::line && in.opcode() != op::noLine)
      return false;
  return end() && end()->opcode() == op::returnVoid;
}

const SpirvBlock *SpirvFunction::block(uint32_t label) const {
  for (const SpirvBlock &block : blocks)
    if (block.label == label)
      return &block;
  return nullptr;
}

std::optional<IdOperands> idOperands(const SpirvInstruction &in) {
  unsigned opcode = in.opcode();
  switch (opcode) {
  case op::undef:
  case op::returnVoid:
    return IdOperands{3, 0};
  case op::load:
  case op::compositeExtract:
    return IdOperands{3, 1};
  case op::compositeInsert:
  case op::vectorShuffle:
    return IdOperands{3, 2};
  case op::store:
  case op::loopMerge:
    return IdOperands{1, 2};
  case op::selectionMerge:
  case op::lifetimeStart:
  case op::lifetimeStop:
    return IdOperands{1, 1};
  case op::branchConditional:
    return IdOperands{1, 3};
  case branch:
  case memoryBarrier:
    return IdOperands{1, IdOperands::each};
  case op::extInst:
    return IdOperands{5, IdOperands::each};
  case op::functionCall:
  case op::phi:
    return IdOperands{3, IdOperands::each};
  default:
    break;
  }
  bool ids = within(opcode, op::accessChain, op::inBoundsPtrAccessChain) ||
             within(opcode, op::vectorExtractDynamic, op::copyObject) ||
             within(opcode, op::convertFToU, op::bitCount) ||
             within(opcode, firstGroup, firstOfOperation - 1) ||
             within(opcode, op::shuffle, op::shuffleXor);
  return ids ? std::optional(IdOperands{3, IdOperands::each}) : std::nullopt;
}

KernelBlocks::KernelBlocks(const SpirvEdit &edit) {
  SpirvFunction *function = nullptr;
  bool inside = false;
  for (const SpirvInstruction &in : edit.instructions()) {
    inside = in.opcode() != op::functionEnd && (inside || in.opcode() == op::label);
    if (inside && in.opcode() != op::label && hasResult(in, edit))
      results.insert(in[2]);
  }
  later = results;
  for (const SpirvInstruction &in : edit.instructions()) {
    unsigned opcode = in.opcode(), length = in.length();
    if (opcode == op::entryPoint && length > 3)
      kernels.insert(in[2]);
    else if (opcode == op::decorate && length > 4 && in[2] == linkageAttributes &&
             in[length - 1] == importLinkage)
      imports[in[1]] = spirvText(in.at + 3, in.at + length - 1);
    else if (opcode == typeBool && length > 1)
      boolean = in[1];
    else if (opcode == op::function && length > 2)
      function = &functions[in[2]];
    else if (opcode == op::functionEnd)
      function = nullptr;
    else if (function && opcode == op::functionParameter && length > 2)
      function->parameters.push_back(in[2]);
    else if (function && opcode == op::label && length > 1)
      function->blocks.push_back({in[1], {}});
    else if (function && !function->blocks.empty())
      read(*function, in, edit);
  }
}

bool KernelBlocks::isWellFormed(const SpirvInstruction &in) const {
  unsigned opcode = in.opcode(), least = 4;
  if (opcode == op::select)
    least = 6;
  else if (within(opcode, op::accessChain, op::inBoundsPtrAccessChain) ||
           opcode == op::compositeExtract || within(opcode, op::add, lastArithmetic) ||
           within(opcode, firstLogical, lastLogical) || within(opcode, op::equal, op::bitwiseAnd))
    least = 5;
  if (in.length() < least)
    return false;
  std::optional<IdOperands> ids = opcode == op::phi ? std::nullopt : idOperands(in);
  for (unsigned i = 3; ids && i < in.length(); ++i)
    if (ids->has(i) && later.count(in[i]))
      return false;
  return true;
}

void KernelBlocks::read(SpirvFunction &function, const SpirvInstruction &in,
                        const SpirvEdit &edit) {
  unsigned opcode = in.opcode(), length = in.length();
  function.blocks.back().instructions.push_back(in);
  if (hasResult(in, edit)) {
    if (isWellFormed(in))
      definitions.insert({in[2], in});
    later.erase(in[2]);
  }
  if (opcode == op::functionCall && length > 3)
    function.callees.insert(in[3]);
  bool group = within(opcode, firstGroup, lastGroup) ||
               within(opcode, firstNonUniform, lastNonUniform) ||
               within(opcode, firstLateGroup, lastLateGroup);
  function.waits |= opcode == op::controlBarrier || opcode == op::arrive || opcode == op::wait ||
                    opcode == asyncCopy || opcode == waitEvents ||
                    (group && length > 3 && edit.constantOf(in[3]) == ofWorkgroup);
}

bool KernelBlocks::waits(uint32_t function) const {
  std::set<uint32_t> seen;
  return waits(function, seen);
}

bool KernelBlocks::waits(uint32_t function, std::set<uint32_t> &seen) const {
  if (auto import = imports.find(function); import != imports.end()) {
    for (const char *part : {"barrier", "work_group", "async"})
      if (import->second.find(part) != std::string::npos)
        return true;
    return false;
  }
  auto found = functions.find(function);
  if (found == functions.end() || found->second.waits)
    return true;
  for (uint32_t callee : found->second.callees)
    if (seen.insert(callee).second && waits(callee, seen))
      return true;
  return false;
}

std::string KernelBlocks::calledBy(const SpirvInstruction &in) const {
  if (in.opcode() != op::functionCall || in.length() < 4)
    return "";
  auto found = imports.find(in[3]);
  return found == imports.end() ? "" : found->second;
}

const SpirvInstruction *KernelBlocks::definition(uint32_t id) const {
  auto found = definitions.find(id);
  return found == definitions.end() ? nullptr : &found->second;
}

} // namespace xetile::runtime
