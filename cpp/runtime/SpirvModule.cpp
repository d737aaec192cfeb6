// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SpirvModule.cpp: reads the declarations of a SPIR-V binary.
// Input: the words of a module; output: kernels with argument types, imported functions with their
// types, who calls whom. Refused: text, other byte order, a truncated or malformed module, a module
// without kernels.
#include "SpirvModule.h"

#include "Errors.h"
#include "SpirvNumbers.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>

namespace xetile::runtime {
namespace {

constexpr uint32_t magic = 0x07230203, swappedMagic = 0x03022307;
constexpr uint32_t kernelModel = 6, funcParamAttr = 38, byValue = 2, noWrite = 6, noReadWrite = 7,
                   shaderCapability = 1, physical64 = 2, openclMemory = 2;

struct Function {
  SpirvType result;
  std::vector<SpirvType> parameters;
  std::vector<uint32_t> parameterIds;
  std::vector<uint32_t> parameterTypes;
  std::set<uint32_t> callees;
  bool hasAtomics = false;
};

struct EntryPoint {
  uint32_t function;
  std::string name;
};

bool isKernelName(const std::string &name) {
  auto fits = [](unsigned char c) {
    return c < 128 && (std::isalnum(c) || c == '_' || c == '.' || c == '$' || c == '-');
  };
  return !name.empty() && name[0] != '.' && name[0] != '$' && name[0] != '-' &&
         !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), fits);
}

/// Bytes of any kind as ASCII.
std::string printable(const std::string &name) {
  std::string text;
  for (char c : name)
    text += c >= ' ' && c <= '~' ? c : '?';
  return text;
}

class Parser {
public:
  Parser(const uint32_t *words, size_t count) : words(words), count(count) {}

  SpirvModule run() {
    for (size_t at = 5; at < count;) {
      unsigned length = words[at] >> 16, opcode = words[at] & 0xffff;
      if (length == 0 || at + length > count)
        fail("the instruction at word " + std::to_string(at) + " runs past the end");
      read(opcode, words + at, length);
      at += length;
    }
    return assemble();
  }

private:
  [[noreturn]] static void fail(const std::string &why) {
    throw Error("the kernel binary is not a valid SPIR-V module: " + why +
                ". Check it with spirv-val, or compile the kernel again");
  }

  static void need(unsigned length, unsigned atLeast) {
    if (length < atLeast)
      fail("an instruction is too short");
  }

  // Null-terminated UTF-8 in little-endian words.
  static std::string text(const uint32_t *from, const uint32_t *end) {
    const char *begin = reinterpret_cast<const char *>(from);
    size_t limit = static_cast<size_t>(end - from) * 4;
    size_t length = strnlen(begin, limit);
    if (length == limit)
      fail("a name is not terminated");
    return std::string(begin, length);
  }

  SpirvType typeOf(uint32_t id) const {
    auto found = types.find(id);
    return found == types.end() ? SpirvType{} : found->second;
  }

  struct Layout {
    size_t bytes = 0, alignment = 1;
  };

  Layout layoutOf(uint32_t type) const {
    if (auto found = layouts.find(type); found != layouts.end())
      return found->second;
    size_t bytes = typeOf(type).bytes();
    return {bytes, std::max<size_t>(bytes, 1)};
  }

  // As OpenCL lays out structs: members at multiples of their alignments.
  Layout layoutOfStruct(const uint32_t *member, const uint32_t *end) const {
    Layout whole;
    auto align = [&](size_t to) { whole.bytes = (whole.bytes + to - 1) / to * to; };
    for (; member != end; ++member) {
      Layout part = layoutOf(*member);
      align(part.alignment);
      whole.bytes += part.bytes;
      whole.alignment = std::max(whole.alignment, part.alignment);
    }
    align(whole.alignment);
    return whole;
  }

  void readParameters(SpirvKernel &kernel, const Function &function) const {
    kernel.parameters = function.parameters;
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      auto name = names.find(function.parameterIds[i]);
      kernel.parameterNames.push_back(name == names.end() ? "" : printable(name->second));
      auto pointee = pointees.find(function.parameterTypes[i]);
      bool isStruct = byValues.count(function.parameterIds[i]) && pointee != pointees.end();
      kernel.onlyRead.push_back(onlyRead.count(function.parameterIds[i]) != 0);
      kernel.structBytes.push_back(isStruct ? layoutOf(pointee->second).bytes : 0);
    }
  }

  // Long: a case for each instruction of SPIR-V that is of interest, and nothing between them.
  void read(unsigned opcode, const uint32_t *at, unsigned length) {
    SpirvType type;
    switch (opcode) {
    case op::capability:
      if (length > 1 && at[1] == shaderCapability)
        throw Error("the kernel binary is SPIR-V for Vulkan or OpenGL (capability Shader). "
                    "Expected a kernel for OpenCL or Level Zero: compile it for spirv64");
      return;
    case op::memoryModel:
      need(length, 3);
      if (at[1] != physical64 || at[2] != openclMemory)
        throw Error("the kernel binary is SPIR-V of addressing model " + std::to_string(at[1]) +
                    " and memory model " + std::to_string(at[2]) +
                    ". Expected Physical64 (2) and OpenCL (2): compile it for spirv64");
      return;
    case op::name:
      need(length, 3);
      names[at[1]] = text(at + 2, at + length);
      return;
    case op::entryPoint:
      need(length, 4);
      if (at[1] == kernelModel)
        entryPoints.push_back({at[2], text(at + 3, at + length)});
      return;
    case op::executionMode:
      need(length, 3);
      if (at[2] == modeSubgroupSize && length > 3)
        subgroupSizes[at[1]] = at[3];
      if (at[2] == modeLocalSize && length > 5)
        localSizes[at[1]] = {at[3], at[4], at[5]};
      return;
    case op::decorate:
      need(length, 3);
      if (at[2] == linkageAttributes && length > 4 && at[length - 1] == importLinkage)
        importNames[at[1]] = text(at + 3, at + length - 1);
      if (at[2] == funcParamAttr && length > 3 && at[3] == byValue)
        byValues.insert(at[1]);
      if (at[2] == funcParamAttr && length > 3 && (at[3] == noWrite || at[3] == noReadWrite))
        onlyRead.insert(at[1]);
      return;
    case op::constant:
      need(length, 4);
      constants[at[2]] = at[3];
      return;
    case op::typeArray:
      need(length, 4);
      layouts[at[1]] = layoutOf(at[2]);
      layouts[at[1]].bytes *= constants[at[3]];
      return;
    case op::typeStruct:
      layouts[at[1]] = layoutOfStruct(at + 2, at + length);
      return;
    case op::typeVoid:
      need(length, 2);
      type.kind = SpirvType::Void;
      types[at[1]] = type;
      return;
    case op::typeBool:
      need(length, 2);
      type.kind = SpirvType::Bool;
      types[at[1]] = type;
      return;
    case op::typeInt:
    case op::typeFloat:
      need(length, 3);
      type.kind = opcode == op::typeInt ? SpirvType::Int : SpirvType::Float;
      type.bits = at[2];
      types[at[1]] = type;
      return;
    case op::typeVector:
      need(length, 4);
      type = typeOf(at[2]);
      type.lanes = at[3];
      types[at[1]] = type;
      return;
    case op::typePointer:
      need(length, 4);
      type.kind = SpirvType::Pointer;
      type.bits = 64;
      type.storage = at[2];
      types[at[1]] = type;
      pointees[at[1]] = at[3];
      return;
    case op::function:
      need(length, 5);
      current = &functions[at[2]];
      current->result = typeOf(at[1]);
      return;
    case op::functionParameter:
      need(length, 3);
      if (!current)
        fail("a parameter stands outside a function");
      current->parameters.push_back(typeOf(at[1]));
      current->parameterTypes.push_back(at[1]);
      current->parameterIds.push_back(at[2]);
      return;
    case op::functionEnd:
      current = nullptr;
      return;
    case op::functionCall:
      need(length, 4);
      if (!current)
        fail("a call stands outside a function");
      current->callees.insert(at[3]);
      return;
    default:
      if (current &&
          ((opcode >= op::atomicExchange && opcode <= op::atomicXor) || opcode == op::atomicFMin ||
           opcode == op::atomicFMax || opcode == op::atomicFAdd))
        current->hasAtomics = true;
      return;
    }
  }

  void collectReachable(uint32_t id, std::set<uint32_t> &seen) const {
    auto found = functions.find(id);
    if (found == functions.end() || !seen.insert(id).second)
      return;
    for (uint32_t callee : found->second.callees)
      collectReachable(callee, seen);
  }

  SpirvModule assemble() const {
    SpirvModule module;
    // Variables carry import linkage too (the builtin inputs); only functions need a definition.
    for (const auto &[id, name] : importNames)
      if (auto found = functions.find(id); found != functions.end())
        module.imports.push_back({name, found->second.result, found->second.parameters});
    for (const EntryPoint &entry : entryPoints) {
      auto found = functions.find(entry.function);
      if (found == functions.end())
        fail("the entry point '" + entry.name + "' has no function");
      // Intel's CPU driver ends the process at other names.
      if (!isKernelName(entry.name))
        throw Error("the kernel binary has a kernel '" + printable(entry.name) +
                    "': drivers do not take this name. Expected a letter or '_', then letters, "
                    "digits, '_', '-', '.' and '$'; rename the function");
      SpirvKernel kernel;
      kernel.name = entry.name;
      readParameters(kernel, found->second);
      if (auto size = subgroupSizes.find(entry.function); size != subgroupSizes.end())
        kernel.subgroupSize = size->second;
      if (auto size = localSizes.find(entry.function); size != localSizes.end())
        kernel.localSize = size->second;
      std::set<uint32_t> reachable;
      collectReachable(entry.function, reachable);
      for (uint32_t id : reachable) {
        kernel.hasAtomics |= functions.at(id).hasAtomics;
        if (auto name = importNames.find(id); name != importNames.end())
          kernel.reachableImports.push_back(name->second);
      }
      module.kernels.push_back(std::move(kernel));
    }
    if (module.kernels.empty())
      fail("it has no kernel entry point");
    return module;
  }

  const uint32_t *words;
  size_t count;
  std::map<uint32_t, SpirvType> types;
  std::map<uint32_t, Function> functions;
  std::map<uint32_t, std::string> importNames, names;
  std::map<uint32_t, uint32_t> constants, pointees;
  std::map<uint32_t, Layout> layouts;
  std::set<uint32_t> byValues, onlyRead;
  std::map<uint32_t, unsigned> subgroupSizes;
  std::map<uint32_t, std::array<unsigned, 3>> localSizes;
  std::vector<EntryPoint> entryPoints;
  Function *current = nullptr;
};

} // namespace

size_t SpirvType::bytes() const {
  if (kind == Pointer)
    return 8;
  if ((kind != Int && kind != Float) || bits % 8 != 0)
    return 0;
  return size_t(bits) / 8 * (lanes == 3 ? 4 : lanes);
}

std::string SpirvType::openclName() const {
  std::string name;
  switch (kind) {
  case Void:
    return "void";
  case Bool:
    return "bool";
  case Pointer:
    return storage == storage::crossWorkgroup    ? "__global void *"
           : storage == storage::workgroup       ? "__local void *"
           : storage == storage::uniformConstant ? "__constant void *"
           : storage == storage::function        ? "__private void *"
           : storage == storage::generic         ? "__generic void *"
                                                 : "";
  case Int:
    name = bits == 8    ? "char"
           : bits == 16 ? "short"
           : bits == 32 ? "int"
           : bits == 64 ? "long"
                        : "";
    break;
  case Float:
    name = bits == 16 ? "half" : bits == 32 ? "float" : bits == 64 ? "double" : "";
    break;
  case Other:
    return "";
  }
  bool legal = lanes == 1 || lanes == 2 || lanes == 3 || lanes == 4 || lanes == 8 || lanes == 16;
  if (name.empty() || !legal)
    return "";
  return lanes == 1 ? name : name + std::to_string(lanes);
}

const SpirvKernel *SpirvModule::findKernel(const std::string &name) const {
  for (const SpirvKernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

std::string SpirvModule::kernelNames() const {
  std::string names;
  for (const SpirvKernel &kernel : kernels)
    names += (names.empty() ? "'" : ", '") + kernel.name + "'";
  return names;
}

std::vector<uint32_t> spirvWords(const void *data, size_t size) {
  if (!data || size < 20)
    throw Error("the kernel binary has " + std::to_string(size) +
                " bytes, less than the header of a SPIR-V module. Compile the kernel again");
  const char *bytes = static_cast<const char *>(data);
  if (std::memcmp(bytes,
                  "\x7f"
                  "ELF",
                  4) == 0)
    throw Error("the kernel binary is native GPU code (ELF); this runtime takes SPIR-V, which "
                "every device can run. "
                "Make the SPIR-V object the first one of gpu.binary, or name its index in "
                "#gpu.select_object");
  uint32_t first;
  std::memcpy(&first, data, sizeof first);
  if (first == swappedMagic)
    throw Error(
        "the kernel binary is SPIR-V of the other byte order. Compile it for little-endian");
  if (first != magic)
    throw Error("the kernel binary is not SPIR-V: it begins with " + std::to_string(first) +
                ", not with " + std::to_string(magic) +
                ". Serialise the kernel with format 'bin' or 'fatbin', not as text or LLVM IR");
  if (size % 4 != 0)
    throw Error("the kernel binary is not a valid SPIR-V module: its size, " +
                std::to_string(size) + " bytes, is not a multiple of 4");
  std::vector<uint32_t> words(size / 4);
  std::memcpy(words.data(), data, size);
  return words;
}

SpirvModule SpirvModule::parse(const void *data, size_t size) {
  std::vector<uint32_t> words = spirvWords(data, size);
  return Parser(words.data(), words.size()).run();
}

} // namespace xetile::runtime
