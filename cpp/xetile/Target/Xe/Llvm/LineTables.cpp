//===- LineTables.cpp - source lines in SPIR-V ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an LLVM module with debug locations; SPIR-V as LLVM's backend makes it of what is left here.
// Out: that SPIR-V with OpLine and a scope of OpenCL.DebugInfo.100 for each function.
// Refused: SPIR-V in which the marks of lines do not stand as they were left.
#include "xetile/Target/Xe/Llvm/LineTables.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"
#include "mlir/Target/SPIRV/SPIRVBinaryUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <cstring>
#include <map>
#include <set>
#include <vector>

using namespace llvm;

static constexpr StringLiteral kMark = "__xetile_line";

namespace {

using mlir::spirv::Opcode;
// MLIR's enumeration lacks it.
constexpr Opcode kExecutionModeId = Opcode(331);

// Of OpenCL.DebugInfo.100.
namespace debug {
enum : uint32_t { CompilationUnit = 1, TypeFunction = 8, Function = 20, Scope = 23, Source = 35 };
constexpr uint32_t version = 65536, dwarf = 4, openclC = 3, isDefinition = 8, isOptimized = 1 << 13;
} // namespace debug

constexpr size_t kHeaderWords = mlir::spirv::kHeaderWordCount;
using Words = SmallVector<uint32_t, 0>;

struct Instruction {
  const uint32_t *at;
  Opcode opcode() const { return Opcode(at[0] & 0xffff); }
  uint32_t length() const { return at[0] >> 16; }
  uint32_t operator[](uint32_t index) const { return index < length() ? at[index] : 0; }
  StringRef text(uint32_t from) const {
    const char *begin = reinterpret_cast<const char *>(at + from);
    size_t most = from < length() ? (length() - from) * 4 : 0;
    return StringRef(begin, most).take_until([](char c) { return c == '\0'; });
  }
};

/// An id and a string behind it.
Words named(uint32_t id, StringRef text) {
  Words words{id};
  mlir::spirv::encodeStringLiteralInto(words, text);
  return words;
}

/// A module with marks, and the one without that is made of it.
class Rewriter {
public:
  explicit Rewriter(StringRef spirv) : words(spirv.size() / 4) {
    std::memcpy(words.data(), spirv.data(), words.size() * 4);
  }
  std::optional<std::string> read();
  std::optional<std::string> write(ArrayRef<std::pair<std::string, uint32_t>> places);
  ArrayRef<uint32_t> result() const { return out; }

private:
  void emit(Opcode opcode, ArrayRef<uint32_t> operands) {
    out.push_back(mlir::spirv::getPrefixedOpcode(operands.size() + 1, opcode));
    out.append(operands.begin(), operands.end());
  }
  void emitDebug(uint32_t id, uint32_t opcode, Words operands = {}) {
    operands.insert(operands.begin(), {voidType, id, set, opcode});
    emit(Opcode::OpExtInst, operands);
  }
  uint32_t emitString(StringRef text) {
    emit(Opcode::OpString, named(bound, text));
    return bound++;
  }
  void emitStrings(ArrayRef<std::pair<std::string, uint32_t>> places);
  void emitScopes();

  Words words, out;
  std::vector<Instruction> all;
  std::map<uint32_t, std::string> names;        // of functions
  std::map<uint32_t, uint32_t> constants;       // of one word
  std::set<uint32_t> defined;                   // functions
  std::set<uint32_t> gone;                      // the mark and its parameters
  std::map<std::string, uint32_t> files;        // ids of their strings
  std::map<uint32_t, uint32_t> nameIds, scopes; // by function
  uint32_t mark = 0, voidType = 0, set = 0, bound = 0;
};

std::optional<std::string> Rewriter::read() {
  if (words.size() < kHeaderWords)
    return "it has no header";
  bound = words[3];
  uint32_t function = 0;
  for (size_t at = kHeaderWords; at < words.size(); at += all.back().length()) {
    Instruction in{&words[at]};
    if (!in.length() || at + in.length() > words.size())
      return "an instruction runs past its end";
    all.push_back(in);
    if (in.opcode() == Opcode::OpName)
      names[in[1]] = in.text(2).str();
    else if (in.opcode() == Opcode::OpTypeVoid)
      voidType = in[1];
    else if (in.opcode() == Opcode::OpConstant && in.length() == 4)
      constants[in[2]] = in[3];
    else if (in.opcode() == Opcode::OpFunction)
      function = in[2];
    else if (in.opcode() == Opcode::OpLabel)
      defined.insert(function);
    if (function && names[function] == kMark && in.length() > 2) {
      mark = function;
      gone.insert(in[2]);
    }
    if (in.opcode() == Opcode::OpFunctionEnd)
      function = 0;
  }
  return voidType ? std::nullopt : std::optional<std::string>("it has no functions");
}

void Rewriter::emitStrings(ArrayRef<std::pair<std::string, uint32_t>> places) {
  files[""] = emitString("");
  for (const auto &[file, line] : places)
    if (!files.count(file))
      files[file] = emitString(file);
  for (uint32_t function : defined)
    nameIds[function] = emitString(names[function]);
}

void Rewriter::emitScopes() {
  uint32_t source = bound, unit = bound + 1, type = bound + 2;
  uint32_t first = files.rbegin()->second;
  bound += 3;
  emitDebug(source, debug::Source, {first});
  emitDebug(unit, debug::CompilationUnit, {debug::version, debug::dwarf, source, debug::openclC});
  emitDebug(type, debug::TypeFunction, {0, voidType});
  for (auto [function, name] : nameIds) {
    scopes[function] = bound;
    emitDebug(bound++, debug::Function,
              {name, type, source, 1, 0, unit, files[""], debug::isDefinition | debug::isOptimized,
               1, function});
  }
}

std::optional<std::string> Rewriter::write(ArrayRef<std::pair<std::string, uint32_t>> places) {
  out.assign(words.begin(), words.begin() + kHeaderWords);
  static const std::set<Opcode> head = {
      Opcode::OpCapability, Opcode::OpExtension,     Opcode::OpExtInstImport, Opcode::OpMemoryModel,
      Opcode::OpEntryPoint, Opcode::OpExecutionMode, kExecutionModeId};
  bool hasStrings = false, hasScope = false;
  uint32_t function = 0;
  for (Instruction in : all) {
    Opcode opcode = in.opcode();
    if (opcode == Opcode::OpMemoryModel) {
      set = bound++;
      emit(Opcode::OpExtInstImport, named(set, "OpenCL.DebugInfo.100"));
    } else if (!hasStrings && !head.count(opcode)) {
      emitStrings(places);
      hasStrings = true;
    } else if (opcode == Opcode::OpFunction) {
      if (scopes.empty())
        emitScopes();
      function = in[2];
    } else if (opcode == Opcode::OpLabel) {
      hasScope = false;
    }
    bool isGone = function == mark ||
                  ((opcode == Opcode::OpName || opcode == Opcode::OpDecorate) && gone.count(in[1]));
    if (opcode == Opcode::OpFunctionEnd)
      function = 0;
    if (isGone)
      continue;
    if (opcode != Opcode::OpFunctionCall || in[3] != mark) {
      out.append(in.at, in.at + in.length());
      continue;
    }
    auto number = constants.find(in[4]);
    if (number == constants.end() || number->second - 1 > places.size())
      return "a mark of a line has no number";
    if (!hasScope)
      emitDebug(bound++, debug::Scope, {scopes[function]});
    hasScope = true;
    if (number->second > places.size())
      emit(Opcode::OpNoLine, {});
    else
      emit(Opcode::OpLine,
           {files[places[number->second - 1].first], places[number->second - 1].second, 0});
  }
  out[3] = bound;
  return std::nullopt;
}

} // namespace

bool xetile::hasLineTables(const Module &module) {
  return any_of(module, [](const Function &function) { return function.getSubprogram(); });
}

xetile::LineTables::LineTables(Module &module) {
  LLVMContext &context = module.getContext();
  std::vector<std::pair<llvm::Instruction *, Place>> marks;
  std::map<Place, uint32_t> numbers;
  for (Function &function : module)
    for (BasicBlock &block : function) {
      Place last;
      bool isFirst = true;
      for (llvm::Instruction &inst : block) {
        if (isa<PHINode, AllocaInst>(inst))
          continue;
        const DILocation *location = inst.getDebugLoc();
        Place place;
        if (location && location->getLine())
          place = {location->getFilename().str(), location->getLine()};
        if (!isFirst && place == last)
          continue;
        isFirst = false;
        last = place;
        marks.emplace_back(&inst, place);
        if (place.second && numbers.try_emplace(place, places.size() + 1).second)
          places.push_back(place);
      }
    }
  StripDebugInfo(module);
  if (marks.empty())
    return;
  FunctionCallee mark =
      module.getOrInsertFunction(kMark, Type::getVoidTy(context), Type::getInt32Ty(context));
  auto *function = cast<Function>(mark.getCallee());
  function->setCallingConv(CallingConv::SPIR_FUNC);
  for (auto &[inst, place] : marks) {
    uint32_t number = place.second ? numbers[place] : uint32_t(places.size() + 1);
    IRBuilder<>(inst)
        .CreateCall(mark, {ConstantInt::get(Type::getInt32Ty(context), number)})
        ->setCallingConv(CallingConv::SPIR_FUNC);
  }
}

std::optional<std::string> xetile::LineTables::write(std::string &spirv) const {
  Rewriter rewriter(spirv);
  std::optional<std::string> why = rewriter.read();
  if (!why)
    why = rewriter.write(places);
  if (why)
    return "source lines cannot be written to SPIR-V: " + *why;
  ArrayRef<uint32_t> words = rewriter.result();
  spirv.assign(reinterpret_cast<const char *>(words.data()), words.size() * 4);
  return std::nullopt;
}
