// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SpirvEdit.cpp: a SPIR-V module that is written anew, instruction by instruction.
// Input: the words of a module; output: the same with other instructions and what these need.
// Refused: a malformed module.
#include "SpirvEdit.h"

#include "Errors.h"
#include "SpirvModule.h"
#include "SpirvNumbers.h"

#include <algorithm>
#include <cstring>

namespace xetile::runtime {
namespace {

constexpr uint32_t linkageCapability = 5, builtIn = 11;
constexpr unsigned headerWords = 5;

bool declaresType(unsigned opcode) { return opcode >= op::typeVoid && opcode < op::typeForward; }

std::vector<uint32_t> wordsOf(const std::string &text) {
  std::vector<uint32_t> words(text.size() / 4 + 1);
  std::memcpy(words.data(), text.data(), text.size());
  return words;
}

} // namespace

std::string spirvText(const uint32_t *from, const uint32_t *end) {
  const char *begin = reinterpret_cast<const char *>(from);
  size_t limit = from < end ? static_cast<size_t>(end - from) * 4 : 0;
  size_t length = limit ? strnlen(begin, limit) : 0;
  return length == limit ? std::string() : std::string(begin, length);
}

SpirvEdit::SpirvEdit(const uint32_t *words, size_t count) {
  if (count < headerWords)
    throw Error("the kernel binary has no header of a SPIR-V module. Compile the kernel again");
  header.assign(words, words + headerWords);
  bound = header[3];
  for (size_t at = headerWords; at < count;) {
    SpirvInstruction instruction{words + at};
    unsigned length = instruction.length();
    if (!length || at + length > count)
      throw Error("the kernel binary is not a valid SPIR-V module: the instruction at word " +
                  std::to_string(at) + " runs past the end. Compile the kernel again");
    all.push_back(instruction);
    readDeclaration(instruction);
    at += length;
  }
}

void SpirvEdit::readDeclaration(const SpirvInstruction &in) {
  unsigned opcode = in.opcode(), length = in.length();
  if (length < 2)
    return;
  if (opcode == op::capability)
    hasLinkage |= in[1] == linkageCapability;
  else if (opcode == op::decorate && length > 3 && in[2] == builtIn)
    builtins[in[1]] = in[3];
  else if (declaresType(opcode)) {
    // Of a type that is made of itself, whose bytes nobody could count, nothing is known.
    bool ofElements = opcode == op::typeVector || opcode == op::typeArray;
    if (!ofElements || (length > 3 && typeTable.count(in[2])))
      typeTable.insert({in[1], {opcode, {in.at + 2, in.at + length}}});
  }
  // No instruction without a result has a type as its first operand.
  else if (length > 2 && typeTable.count(in[1])) {
    types[in[2]] = in[1];
    if (opcode == op::constant && length == 4)
      constants[in[2]] = in[3];
  }
}

uint32_t SpirvEdit::typeOf(uint32_t id) const {
  auto found = types.find(id);
  return found == types.end() ? 0 : found->second;
}

std::optional<uint32_t> SpirvEdit::constantOf(uint32_t id) const {
  auto found = constants.find(id);
  return found == constants.end() ? std::nullopt : std::optional(found->second);
}

uint32_t SpirvEdit::elementOf(uint32_t type) const {
  auto found = typeTable.find(type);
  bool vector = found != typeTable.end() && found->second.opcode == op::typeVector;
  return vector ? found->second.operands[0] : 0;
}

uint32_t SpirvEdit::lanesOf(uint32_t type) const {
  return elementOf(type) ? typeTable.at(type).operands[1] : 1;
}

uint32_t SpirvEdit::intBitsOf(uint32_t type) const {
  auto found = typeTable.find(elementOf(type) ? elementOf(type) : type);
  return found != typeTable.end() && found->second.opcode == op::typeInt ? found->second.operands[0]
                                                                         : 0;
}

std::optional<uint32_t> SpirvEdit::storageOf(uint32_t type) const {
  auto found = typeTable.find(type);
  if (found == typeTable.end() || found->second.opcode != op::typePointer ||
      found->second.operands.size() < 2)
    return std::nullopt;
  return found->second.operands[0];
}

uint32_t SpirvEdit::pointeeOf(uint32_t type) const {
  return storageOf(type) ? typeTable.at(type).operands[1] : 0;
}

std::optional<uint32_t> SpirvEdit::builtinOf(uint32_t variable) const {
  auto found = builtins.find(variable);
  return found == builtins.end() ? std::nullopt : std::optional(found->second);
}

uint64_t SpirvEdit::bytesOf(uint32_t type) const {
  auto found = typeTable.find(type);
  if (found == typeTable.end() || found->second.operands.empty())
    return 0;
  const std::vector<uint32_t> &operands = found->second.operands;
  switch (found->second.opcode) {
  case op::typeInt:
  case op::typeFloat:
    return operands[0] / 8;
  case op::typePointer:
    return 8;
  case op::typeVector:
    return operands.size() < 2 ? 0 : bytesOf(operands[0]) * (operands[1] == 3 ? 4 : operands[1]);
  case op::typeArray:
    return operands.size() < 2 ? 0 : bytesOf(operands[0]) * constantOf(operands[1]).value_or(0);
  default:
    return 0;
  }
}

uint32_t SpirvEdit::voidType() {
  for (const auto &[id, type] : typeTable)
    if (type.opcode == op::typeVoid)
      return id;
  uint32_t id = newId();
  typeTable[id] = {op::typeVoid, {}};
  append(newTypes, op::typeVoid, {id});
  return id;
}

uint32_t SpirvEdit::intType(uint32_t bits) {
  for (const auto &[id, type] : typeTable)
    if (type.opcode == op::typeInt && type.operands[0] == bits)
      return id;
  uint32_t id = newId();
  typeTable[id] = {op::typeInt, {bits, 0}};
  append(newTypes, op::typeInt, {id, bits, 0});
  return id;
}

uint32_t SpirvEdit::vectorType(uint32_t element, uint32_t lanes) {
  for (const auto &[id, type] : typeTable)
    if (type.opcode == op::typeVector && type.operands[0] == element && type.operands[1] == lanes)
      return id;
  uint32_t id = newId();
  typeTable[id] = {op::typeVector, {element, lanes}};
  append(newTypes, op::typeVector, {id, element, lanes});
  return id;
}

uint32_t SpirvEdit::floatBitsOf(uint32_t type) const {
  auto found = typeTable.find(type);
  return found != typeTable.end() && found->second.opcode == op::typeFloat
             ? found->second.operands[0]
             : 0;
}

uint32_t SpirvEdit::uintConstant(uint32_t value) {
  auto [place, isNew] = sizeConstants.try_emplace(value, 0);
  if (isNew) {
    uint32_t type = uintType();
    place->second = newId();
    types[place->second] = type;
    append(newTypes, op::constant, {type, place->second, value});
  }
  return place->second;
}

void SpirvEdit::declare(unsigned opcode, const std::vector<uint32_t> &operands) {
  append(newTypes, opcode, operands);
}

uint32_t SpirvEdit::import(const std::string &name, uint32_t result,
                           const std::vector<uint32_t> &parameters) {
  std::vector<uint32_t> signature{result};
  signature.insert(signature.end(), parameters.begin(), parameters.end());
  auto [place, isNew] = imports.try_emplace({name, signature}, 0);
  if (!isNew)
    return place->second;
  // A function type may be declared once only.
  uint32_t type = 0;
  for (const auto &[id, known] : typeTable)
    if (known.opcode == op::typeFunction && known.operands == signature)
      type = id;
  if (!type) {
    type = newId();
    typeTable[type] = {op::typeFunction, signature};
    std::vector<uint32_t> operands{type};
    operands.insert(operands.end(), signature.begin(), signature.end());
    append(newTypes, op::typeFunction, operands);
  }
  uint32_t function = place->second = newId();
  // Two signatures are two functions to the linker.
  unsigned others = 0;
  for (const auto &[key, id] : imports)
    others += key.first == name && id != function;
  std::vector<uint32_t> decoration{function, linkageAttributes};
  std::vector<uint32_t> text = wordsOf(others ? name + std::to_string(others) : name);
  decoration.insert(decoration.end(), text.begin(), text.end());
  decoration.push_back(importLinkage);
  append(newDecorations, op::decorate, decoration);
  append(newDeclarations, op::function, {result, function, 0, type});
  for (uint32_t parameter : parameters)
    append(newDeclarations, op::functionParameter, {parameter, newId()});
  append(newDeclarations, op::functionEnd, {});
  return function;
}

void SpirvEdit::reach(const SpirvInstruction &in) {
  unsigned opcode = in.opcode();
  bool annotates = (opcode >= op::decorate && opcode <= op::groupDecorate) ||
                   opcode == op::decorateId || opcode == op::decorateString ||
                   opcode == op::memberDecorateString;
  if (!inAnnotations && (annotates || (opcode >= op::typeVoid && opcode <= op::function))) {
    annotationsBegin = out.size();
    inAnnotations = true;
  }
  if (!inFunctions && opcode == op::function) {
    functionsBegin = out.size();
    inFunctions = true;
  }
}

void SpirvEdit::append(std::vector<uint32_t> &to, unsigned opcode,
                       const std::vector<uint32_t> &operands) {
  to.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | opcode);
  to.insert(to.end(), operands.begin(), operands.end());
}

void SpirvEdit::emit(unsigned opcode, const std::vector<uint32_t> &operands) {
  append(out, opcode, operands);
}

void SpirvEdit::copy(const SpirvInstruction &instruction) {
  out.insert(out.end(), instruction.at, instruction.at + instruction.length());
}

uint32_t SpirvEdit::call(const std::string &name, uint32_t resultType,
                         const std::vector<uint32_t> &args, uint32_t result) {
  std::vector<uint32_t> parameters;
  for (uint32_t argument : args) {
    parameters.push_back(typeOf(argument));
    if (!parameters.back())
      throw Error("the kernel binary is not a valid SPIR-V module: an operand of what becomes a "
                  "call of '" +
                  name + "' has no type. Check it with spirv-val");
  }
  uint32_t function = import(name, resultType, parameters);
  std::vector<uint32_t> operands{resultType, result ? result : newId(), function};
  operands.insert(operands.end(), args.begin(), args.end());
  emit(op::functionCall, operands);
  types[operands[1]] = resultType;
  return operands[1];
}

uint32_t SpirvEdit::builtinValue(uint32_t number) {
  uint32_t type = uintType();
  uint32_t &own = ownBuiltins[number];
  // The driver links no second variable of a builtin.
  for (const auto &[variable, which] : builtins)
    if (which == number && pointeeOf(typeOf(variable)) == type)
      own = variable;
  if (!own) {
    // A type may be declared once only.
    uint32_t pointer = 0;
    for (const auto &[id, known] : typeTable)
      if (known.opcode == op::typePointer &&
          known.operands == std::vector<uint32_t>{storage::input, type})
        pointer = id;
    if (!pointer) {
      pointer = newId();
      typeTable[pointer] = {op::typePointer, {storage::input, type}};
      append(newTypes, op::typePointer, {pointer, storage::input, type});
    }
    own = newId();
    append(newDecorations, op::decorate, {own, builtIn, number});
    append(newTypes, op::variable, {pointer, own, storage::input});
  }
  uint32_t value = newId();
  emit(op::load, {type, value, own});
  types[value] = type;
  return value;
}

std::vector<uint32_t> SpirvEdit::finish() const {
  std::vector<uint32_t> words = header;
  words[3] = bound;
  // Newer versions add nothing for kernels that their capabilities do not tell; Intel's CPU driver
  // reads up to 1.4.
  constexpr uint32_t version14 = 0x00010400;
  words[1] = std::min(words[1], version14);
  auto part = [&](size_t begin, size_t end) {
    words.insert(words.end(), out.begin() + static_cast<ptrdiff_t>(begin),
                 out.begin() + static_cast<ptrdiff_t>(end));
  };
  part(0, capabilitiesEnd);
  if (!newDeclarations.empty() && !hasLinkage)
    append(words, op::capability, {linkageCapability});
  part(capabilitiesEnd, annotationsBegin);
  words.insert(words.end(), newDecorations.begin(), newDecorations.end());
  part(annotationsBegin, functionsBegin);
  words.insert(words.end(), newTypes.begin(), newTypes.end());
  words.insert(words.end(), newDeclarations.begin(), newDeclarations.end());
  part(functionsBegin, out.size());
  return words;
}

} // namespace xetile::runtime
