// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OddTypes.h: integer types of a SPIR-V module that CPUs do not have, and the values in them.
// Input: a module that is written anew; output: its types with integers of 8, 16, 32 and 64 bits,
// constants of them, values cut and extended. Refused: integers of more than 64 bits.
#ifndef XETILE_RUNTIME_ODDTYPES_H
#define XETILE_RUNTIME_ODDTYPES_H

#include "SpirvEdit.h"

#include <string>
#include <utility>

namespace xetile::runtime {

/// An odd integer has another number of bits than 8, 16, 32 or 64. It is computed in the next of
/// these, its wide type. Types are named by the ids that the module read has for them.
class OddTypes {
public:
  explicit OddTypes(SpirvEdit &edit);

  static bool isOddWidth(uint32_t bits) {
    return bits != 8 && bits != 16 && bits != 32 && bits != 64;
  }
  static uint32_t wideBits(uint32_t bits) {
    return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
  }

  /// Emits what becomes of the declaration of a type: of types that are one then, the first stays.
  void declare(const SpirvInstruction &in);
  /// The id that a type has in the new module; of what is no type, the same.
  uint32_t written(uint32_t type) const;

  /// Of an integer or a vector of integers.
  bool isOdd(uint32_t type) const;
  /// Of a type that has an odd integer somewhere in its value.
  bool holdsOdd(uint32_t type) const { return isOdd(type) || holders.count(type) != 0; }
  uint32_t bitsOf(uint32_t type) const { return edit.intBitsOf(type); }
  uint32_t wideBitsOf(uint32_t type) const { return wideBits(bitsOf(type)); }
  /// Ids of the new module, of which one may be new.
  uint32_t intType(uint32_t bits);
  uint32_t vectorType(uint32_t element, uint32_t lanes);
  uint32_t pointerType(uint32_t storage, uint32_t to);

  /// Words of a number as a literal of a wide type.
  static std::vector<uint32_t> literal(uint32_t bits, uint64_t number);
  /// A number of so many bits in an integer type of the new module.
  uint32_t number(uint32_t written, uint32_t bits, uint64_t value);
  /// A number in the wide type of `type`, in each lane of a vector.
  uint32_t constant(uint32_t type, uint64_t number);
  /// The bits of an odd integer set.
  static uint64_t maskOf(uint32_t bits) {
    return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  }

  /// Emits an instruction with a result of a type of the new module. Returns its id.
  uint32_t emit(unsigned opcode, uint32_t writtenType, std::vector<uint32_t> operands,
                uint32_t result = 0);
  /// Zeros above the bits of `type` in a value of its wide type.
  uint32_t masked(uint32_t value, uint32_t type, uint32_t result = 0);
  /// The sign above these bits.
  uint32_t signs(uint32_t value, uint32_t type);

private:
  /// Operands of a declaration, the type itself aside, as they are written.
  std::vector<uint32_t> read(const SpirvInstruction &in);
  uint32_t declared(unsigned opcode, const std::vector<uint32_t> &operands);

  SpirvEdit &edit;
  /// Types of the new module by what declares them, and ids of the old one for which others stand.
  std::map<std::pair<unsigned, std::vector<uint32_t>>, uint32_t> types;
  std::map<uint32_t, uint32_t> same;
  std::map<uint32_t, std::vector<uint32_t>> declarations;
  std::set<uint32_t> holders;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> constants;
};

} // namespace xetile::runtime
#endif
