// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KernelBlocks.h: functions of a SPIR-V module as blocks, to be copied.
// Input: a module; output: its functions, block by block, who may wait for others in them, and
// which operands of an instruction are ids. Refused: nothing; what is not understood is told to be
// so.
#ifndef XETILE_RUNTIME_KERNELBLOCKS_H
#define XETILE_RUNTIME_KERNELBLOCKS_H

#include "SpirvEdit.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace xetile::runtime {

struct SpirvBlock {
  uint32_t label = 0;
  /// Without the label; the last one ends it.
  std::vector<SpirvInstruction> instructions;

  const SpirvInstruction *end() const {
    return instructions.empty() ? nullptr : &instructions.back();
  }
  /// True if it is nothing but the end of a kernel.
  bool leaves() const;
};

struct SpirvFunction {
  std::vector<uint32_t> parameters;
  std::vector<SpirvBlock> blocks;
  std::set<uint32_t> callees;
  /// It has an instruction that all of a workgroup run in one place.
  bool waits = false;

  /// Null if there is none.
  const SpirvBlock *block(uint32_t label) const;
};

/// Operands of an instruction that are ids, behind its result: from which one on, and how many.
struct IdOperands {
  static constexpr unsigned each = 0xffff;
  unsigned first, count;

  bool has(unsigned operand) const { return operand >= first && operand - first < count; }
};

/// None for instructions that are not understood.
std::optional<IdOperands> idOperands(const SpirvInstruction &instruction);

struct KernelBlocks {
  explicit KernelBlocks(const SpirvEdit &edit);

  /// True if work-items may wait for each other in a function or in what it calls, which they do in
  /// one place only.
  bool waits(uint32_t function) const;
  /// The name of the imported function that it calls; "" if it does not.
  std::string calledBy(const SpirvInstruction &instruction) const;
  /// Null for what is defined outside of functions, for parameters, and for what is malformed: but
  /// for a phi, all that it is made of is defined before, and it has the operands of its kind.
  const SpirvInstruction *definition(uint32_t id) const;

  /// True for what an instruction of a function makes.
  bool isResult(uint32_t id) const { return results.count(id) != 0; }

  std::set<uint32_t> kernels;
  std::map<uint32_t, SpirvFunction> functions;
  /// 0 if the module has none.
  uint32_t boolean = 0;

private:
  void read(SpirvFunction &function, const SpirvInstruction &in, const SpirvEdit &edit);
  bool waits(uint32_t function, std::set<uint32_t> &seen) const;
  bool isWellFormed(const SpirvInstruction &in) const;

  std::map<uint32_t, std::string> imports;
  std::map<uint32_t, SpirvInstruction> definitions;
  /// Of all functions, and those that were not reached yet.
  std::set<uint32_t> results, later;
};

} // namespace xetile::runtime
#endif
