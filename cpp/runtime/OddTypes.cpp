// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OddTypes.cpp: integer types of a SPIR-V module that CPUs do not have, and the values in them.
// Input: a module that is written anew; output: its types with integers of 8, 16, 32 and 64 bits,
// constants of them, values cut and extended. Refused: integers of more than 64 bits.
#include "OddTypes.h"

#include "Errors.h"
#include "SpirvNumbers.h"

#include <algorithm>

namespace xetile::runtime {
namespace {

/// Far beyond what GPUs have. Each lane may become instructions.
constexpr uint32_t mostLanes = 4096;

} // namespace

uint32_t OddTypes::written(uint32_t type) const {
  auto found = same.find(type);
  return found == same.end() ? type : found->second;
}

bool OddTypes::isOdd(uint32_t type) const {
  uint32_t bits = edit.intBitsOf(type);
  return bits && isOddWidth(bits);
}

OddTypes::OddTypes(SpirvEdit &edit) : edit(edit) {
  for (const SpirvInstruction &in : edit.instructions()) {
    unsigned opcode = in.opcode();
    if (in.length() < 2 || opcode < op::typeVoid || opcode >= op::typeForward)
      continue;
    std::vector<uint32_t> operands = read(in);
    // Others may be equal and two.
    if (opcode == op::typeInt || opcode == op::typeVector || opcode == op::typePointer ||
        opcode == op::typeFunction)
      if (auto [found, isNew] = types.try_emplace({opcode, operands}, in[1]); !isNew)
        same[in[1]] = found->second;
    operands.insert(operands.begin(), in[1]);
    declarations[in[1]] = std::move(operands);
  }
}

std::vector<uint32_t> OddTypes::read(const SpirvInstruction &in) {
  std::vector<uint32_t> operands(in.at + 2, in.at + in.length());
  // Operands that are types; others of these are numbers, or constants.
  size_t begin = 0, end = operands.size();
  switch (in.opcode()) {
  case op::typeInt:
    if (operands.empty() || operands[0] > 64)
      throw Error("the kernel has integers of " +
                  std::to_string(operands.empty() ? 0 : operands[0]) +
                  " bits. Expected 64 at most: compile it for numbers that a GPU has");
    operands[0] = wideBits(operands[0]);
    return operands;
  case op::typeVector:
    if (operands.size() > 1 && operands[1] > mostLanes)
      throw Error("the kernel has vectors of " + std::to_string(operands[1]) +
                  " elements beside integers of odd numbers of bits. Expected " +
                  std::to_string(mostLanes) + " elements at most");
    end = std::min<size_t>(end, 1);
    break;
  case op::typeArray:
    end = std::min<size_t>(end, 1);
    break;
  case op::typePointer:
    begin = std::min<size_t>(end, 1);
    break;
  case op::typeStruct:
  case op::typeFunction:
    break;
  default:
    return operands;
  }
  for (size_t i = begin; i < end; ++i) {
    if (holdsOdd(operands[i]) && (in.opcode() == op::typeArray || in.opcode() == op::typeStruct))
      holders.insert(in[1]);
    operands[i] = written(operands[i]);
  }
  return operands;
}

void OddTypes::declare(const SpirvInstruction &in) {
  if (written(in[1]) == in[1])
    edit.emit(in.opcode(), declarations.at(in[1]));
}

uint32_t OddTypes::declared(unsigned opcode, const std::vector<uint32_t> &operands) {
  auto [found, isNew] = types.try_emplace({opcode, operands}, 0);
  if (isNew) {
    found->second = edit.newId();
    std::vector<uint32_t> all{found->second};
    all.insert(all.end(), operands.begin(), operands.end());
    edit.declare(opcode, all);
  }
  return found->second;
}

uint32_t OddTypes::intType(uint32_t bits) { return declared(op::typeInt, {bits, 0}); }

uint32_t OddTypes::vectorType(uint32_t element, uint32_t lanes) {
  return lanes < 2 ? element : declared(op::typeVector, {element, lanes});
}

uint32_t OddTypes::pointerType(uint32_t storage, uint32_t to) {
  return declared(op::typePointer, {storage, to});
}

std::vector<uint32_t> OddTypes::literal(uint32_t bits, uint64_t number) {
  std::vector<uint32_t> words{static_cast<uint32_t>(number)};
  if (wideBits(bits) == 64)
    words.push_back(static_cast<uint32_t>(number >> 32));
  return words;
}

uint32_t OddTypes::number(uint32_t written, uint32_t bits, uint64_t value) {
  auto [found, isNew] = constants.try_emplace({written, value}, 0);
  if (isNew) {
    found->second = edit.newId();
    std::vector<uint32_t> operands{written, found->second}, words = literal(bits, value);
    operands.insert(operands.end(), words.begin(), words.end());
    edit.declare(op::constant, operands);
  }
  return found->second;
}

uint32_t OddTypes::constant(uint32_t type, uint64_t value) {
  uint32_t element = edit.elementOf(type);
  if (!element)
    return number(written(type), bitsOf(type), value);
  auto [found, isNew] = constants.try_emplace({written(type), value}, 0);
  if (isNew) {
    found->second = edit.newId();
    std::vector<uint32_t> operands{written(type), found->second};
    operands.insert(operands.end(), edit.lanesOf(type), constant(element, value));
    edit.declare(op::constantComposite, operands);
  }
  return found->second;
}

uint32_t OddTypes::emit(unsigned opcode, uint32_t writtenType, std::vector<uint32_t> operands,
                        uint32_t result) {
  uint32_t id = result ? result : edit.newId();
  operands.insert(operands.begin(), {writtenType, id});
  edit.emit(opcode, operands);
  return id;
}

uint32_t OddTypes::masked(uint32_t value, uint32_t type, uint32_t result) {
  return emit(op::bitwiseAnd, written(type), {value, constant(type, maskOf(bitsOf(type)))}, result);
}

uint32_t OddTypes::signs(uint32_t value, uint32_t type) {
  uint32_t more = constant(type, wideBitsOf(type) - bitsOf(type));
  uint32_t up = emit(op::shiftLeft, written(type), {value, more});
  return emit(op::shiftRightSigned, written(type), {up, more});
}

} // namespace xetile::runtime
