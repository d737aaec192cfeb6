// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SpirvEdit.h: a SPIR-V module that is written anew, instruction by instruction.
// Input: the words of a module; output: the same with other instructions, and with imported
// functions, types and constants that these need, in the sections where SPIR-V wants them.
// Refused: a malformed module.
#ifndef XETILE_RUNTIME_SPIRVEDIT_H
#define XETILE_RUNTIME_SPIRVEDIT_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace xetile::runtime {

/// A view of one instruction; `at[0]` holds its length and number.
struct SpirvInstruction {
  const uint32_t *at;

  unsigned opcode() const { return at[0] & 0xffff; }
  unsigned length() const { return at[0] >> 16; }
  uint32_t operator[](unsigned index) const { return at[index]; }
};

/// A null-terminated name in words; "" if it is not terminated before `end`.
std::string spirvText(const uint32_t *from, const uint32_t *end);

class SpirvEdit {
public:
  /// Reads types, constants, decorations of builtins and who has which type. The words must outlive
  /// it.
  SpirvEdit(const uint32_t *words, size_t count);

  const std::vector<SpirvInstruction> &instructions() const { return all; }

  /// 0 if the id has none.
  uint32_t typeOf(uint32_t id) const;
  std::optional<uint32_t> constantOf(uint32_t id) const;
  /// The component type of a vector type; 0 for other types.
  uint32_t elementOf(uint32_t type) const;
  /// Components of a vector type; 1 for other types.
  uint32_t lanesOf(uint32_t type) const;
  bool isType(uint32_t id) const { return typeTable.count(id) != 0; }
  /// Of an integer type, or of a vector's integers; 0 for others.
  uint32_t intBitsOf(uint32_t type) const;
  /// SPIR-V's storage class of a pointer type.
  std::optional<uint32_t> storageOf(uint32_t type) const;
  uint32_t pointeeOf(uint32_t type) const;
  /// SPIR-V's number of the builtin that a variable is decorated with.
  std::optional<uint32_t> builtinOf(uint32_t variable) const;
  /// Of a scalar, vector, array or struct as OpenCL lays it out; 0 for others.
  uint64_t bytesOf(uint32_t type) const;

  uint32_t newId() { return bound++; }
  uint32_t voidType();
  uint32_t uintType() { return intType(32); }
  uint32_t intType(uint32_t bits);
  uint32_t vectorType(uint32_t element, uint32_t lanes);
  /// Of a float type; 0 for others.
  uint32_t floatBitsOf(uint32_t type) const;
  uint32_t uintConstant(uint32_t value);
  /// A new type or constant in front of all functions; the id is the first operand of a type, the
  /// second one of a constant.
  void declare(unsigned opcode, const std::vector<uint32_t> &operands);
  /// A function that the module imports by `name`; one for each name and signature.
  uint32_t import(const std::string &name, uint32_t result,
                  const std::vector<uint32_t> &parameters);

  /// Appends an instruction to the new module.
  void emit(unsigned opcode, const std::vector<uint32_t> &operands);
  void copy(const SpirvInstruction &instruction);
  /// A call; arguments' types are those that they have. Returns its result.
  uint32_t call(const std::string &name, uint32_t resultType, const std::vector<uint32_t> &args,
                uint32_t result = 0);
  void declareType(uint32_t id, uint32_t type) { types[id] = type; }

  /// The value of a builtin that is a number of 32 bits.
  uint32_t builtinValue(uint32_t number);

  /// Where the section of capabilities ends in what was emitted so far, and so on.
  void endCapabilities() { capabilitiesEnd = out.size(); }
  /// To be told of each instruction of the module before what becomes of it is emitted.
  void reach(const SpirvInstruction &instruction);

  std::vector<uint32_t> finish() const;

private:
  void readDeclaration(const SpirvInstruction &instruction);
  static void append(std::vector<uint32_t> &to, unsigned opcode,
                     const std::vector<uint32_t> &operands);

  struct Type {
    unsigned opcode;
    std::vector<uint32_t> operands;
  };
  std::vector<uint32_t> header, out;
  std::vector<SpirvInstruction> all;
  std::map<uint32_t, Type> typeTable;
  std::map<uint32_t, uint32_t> types, constants, builtins, sizeConstants, ownBuiltins;
  std::map<std::pair<std::string, std::vector<uint32_t>>, uint32_t> imports;
  std::vector<uint32_t> newDecorations, newTypes, newDeclarations;
  bool hasLinkage = false, inAnnotations = false, inFunctions = false;
  uint32_t bound = 0;
  size_t capabilitiesEnd = 0, annotationsBegin = 0, functionsBegin = 0;
};

} // namespace xetile::runtime
#endif
