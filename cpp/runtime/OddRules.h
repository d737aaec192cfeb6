// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OddRules.h: instructions on odd integers that become several on wide ones.
// Input: an instruction, and the types of its module; output: what computes the same is emitted.
// Refused: forms without a rule, by the instruction's number and the integer's bits.
#ifndef XETILE_RUNTIME_ODDRULES_H
#define XETILE_RUNTIME_ODDRULES_H

#include "OddTypes.h"

namespace xetile::runtime {

/// Values of odd integers have zeros above their bits, before and after.
class OddRules {
public:
  OddRules(SpirvEdit &edit, OddTypes &types) : edit(edit), types(types) {}

  [[noreturn]] void refuse(const SpirvInstruction &in, uint32_t type) const;
  /// The same instruction with the types that are left.
  void copy(const SpirvInstruction &in);
  /// The type of an odd operand from the `from`th word on; 0 for none.
  uint32_t oddOperand(const SpirvInstruction &in, unsigned from) const;
  /// A number of the wide type of `from` in that of `to`, by this conversion.
  uint32_t resized(unsigned opcode, uint32_t value, uint32_t from, uint32_t to);
  /// Makes a value in the wide type of the instruction's result, whose upper bits are any, that
  /// result.
  void give(const SpirvInstruction &in, uint32_t value);

  void bitcast(const SpirvInstruction &in);
  void load(const SpirvInstruction &in);
  void store(const SpirvInstruction &in);
  void choose(const SpirvInstruction &in);
  /// Functions of OpenCL.std; others of extended sets are copied.
  void callStandard(const SpirvInstruction &in);

private:
  struct Bits;
  uint32_t gathered(const Bits &from, const Bits &to, uint32_t value, uint32_t lane);
  void callOfOne(const SpirvInstruction &in);
  void callOfTwo(const SpirvInstruction &in);
  uint32_t call(const SpirvInstruction &in, uint32_t function, std::vector<uint32_t> operands);
  uint32_t bytesInMemory(const SpirvInstruction &in, uint32_t type) const;
  bool isStandard(uint32_t set) const;

  SpirvEdit &edit;
  OddTypes &types;
};

} // namespace xetile::runtime
#endif
