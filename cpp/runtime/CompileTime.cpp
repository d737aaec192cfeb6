// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CompileTime.cpp: kernels that Intel's OpenCL driver for CPUs compiles sooner.
// Input: a module as makePortable() leaves it; output: one that computes the same, of which that
// driver makes less code. Refused: nothing.
//
// Two things take that driver long. It compiles a kernel of subgroups twice, the second time with
// masks, for a last subgroup that is not whole: here a kernel first asks for the size of its
// workgroup, by which all of that is dead. And in kernels with barriers everything has masks, so
// that an access of memory, a conversion of bf16, a shuffle and each element of a vector become a
// branch for each lane: hundreds of them take minutes. They become calls here, of functions that
// have these branches once.
#include "CompileTime.h"

#include "CompileTimeVectors.h"
#include "SpirvEdit.h"
#include "SpirvNumbers.h"

#include <map>
#include <optional>
#include <set>

namespace xetile::runtime {
namespace {

/// Accesses of a kernel with barriers that stay instructions: the driver takes seconds for them,
/// and they run faster than calls.
constexpr unsigned mostAccesses = 256;

class Shortener {
public:
  Shortener(const std::vector<uint32_t> &words, Subgroups subgroups)
      : edit(words.data(), words.size()), vectors(edit), subgroups(subgroups) {}

  PortableSpirv run() {
    findDebug();
    find();
    for (const SpirvInstruction &in : edit.instructions()) {
      edit.reach(in);
      if (!isDebug(in) && !rewrite(in))
        edit.copy(in);
    }
    PortableSpirv result{edit.finish(), {}};
    for (const std::string &name : called)
      result.notes.push_back("rewritten " + name + ": calls, where they are many between barriers");
    return result;
  }

private:
  void findDebug() {
    for (const SpirvInstruction &in : edit.instructions())
      if (in.opcode() == op::extInstImport && in.length() > 2) {
        std::string set = spirvText(in.at + 2, in.at + in.length());
        if (set.find("DebugInfo") != std::string::npos)
          debug.insert(in[1]);
      } else if (in.opcode() == op::extInst && in.length() > 4 && debug.count(in[3])) {
        debug.insert(in[2]);
      }
  }

  /// Lines, scopes and variables of the source: with these the driver keeps track of each register
  /// in each block of the machine code, for nobody.
  bool isDebug(const SpirvInstruction &in) const {
    switch (in.opcode()) {
    case op::line:
    case op::noLine:
      return true;
    case op::name:
    case op::decorate:
    case op::extInstImport:
      return in.length() > 1 && debug.count(in[1]);
    case op::extInst:
      return in.length() > 4 && debug.count(in[2]);
    default:
      return false;
    }
  }

  void find() {
    uint32_t function = 0;
    unsigned accesses = 0, barriers = 0, labels = 0;
    for (const SpirvInstruction &in : edit.instructions()) {
      if (!isDebug(in))
        vectors.find(in);
      switch (in.opcode()) {
      case op::executionMode:
        if (subgroups == Subgroups::Whole && in.length() > 3 && in[2] == modeSubgroupSize && in[3])
          sizes[in[1]] = in[3];
        break;
      case op::function:
        function = in.length() > 2 ? in[2] : 0;
        accesses = barriers = labels = 0;
        break;
      case op::label:
        ++labels;
        break;
      case op::variable:
        if (labels == 1)
          variables[function].push_back(in);
        break;
      case op::controlBarrier:
        ++barriers;
        break;
      case op::load:
      case op::store:
        accesses += pointerOf(in) && bytesAt(pointerOf(in)) != 0;
        break;
      case op::bf16FromFloat:
      case op::floatFromBf16:
      case op::shuffle:
        ++accesses;
        break;
      case op::functionEnd:
        if (barriers && accesses > mostAccesses)
          crowded.insert(function);
        break;
      default:
        break;
      }
    }
  }

  static uint32_t pointerOf(const SpirvInstruction &in) {
    if (in.opcode() == op::load)
      return in.length() > 3 ? in[3] : 0;
    return in.length() > 2 ? in[1] : 0;
  }

  /// Bytes of what a pointer to shared or global memory points to; 0 where no integer, or vector of
  /// integers, has as many.
  uint32_t bytesAt(uint32_t pointer) const {
    uint32_t type = edit.typeOf(pointer);
    std::optional<uint32_t> where = type ? edit.storageOf(type) : std::nullopt;
    if (!where || (*where != storage::workgroup && *where != storage::crossWorkgroup))
      return 0;
    uint32_t pointee = edit.pointeeOf(type);
    if (edit.storageOf(pointee) || edit.lanesOf(pointee) == 3)
      return 0;
    uint64_t bytes = edit.bytesOf(pointee);
    bool power = bytes && (bytes & (bytes - 1)) == 0;
    return power && bytes <= 64 ? static_cast<uint32_t>(bytes) : 0;
  }

  /// An integer, or a vector of them, of so many bytes.
  uint32_t typeOfBytes(uint32_t bytes) {
    return bytes <= 8 ? edit.intType(bytes * 8) : edit.vectorType(edit.uintType(), bytes / 4);
  }

  bool rewrite(const SpirvInstruction &in) {
    switch (in.opcode()) {
    case op::function:
      current = in.length() > 2 ? in[2] : 0;
      return false;
    case op::label:
      vectors.beginBlock();
      return in.length() > 1 && branch(in);
    case op::variable:
      return skipped != 0;
    case op::functionEnd:
      if (skipped) {
        edit.emit(op::label, {skipped});
        edit.emit(op::returnVoid, {});
        skipped = 0;
      }
      return false;
    case op::load:
      return crowded.count(current) && (load(in) || mix(in));
    case op::store:
      return crowded.count(current) && store(in);
    case op::bf16FromFloat:
      return crowded.count(current) && convert(in, "xt_bf16_of_");
    case op::floatFromBf16:
      return crowded.count(current) && convert(in, "xt_float_of_");
    case op::shuffle:
      return crowded.count(current) && shuffle(in);
    default:
      return crowded.count(current) && mix(in);
    }
  }

  /// A kernel's first block becomes two: its variables, which have to be in the first one, with a
  /// branch around all the rest; and the rest, under the label that others know.
  bool branch(const SpirvInstruction &label) {
    auto size = sizes.find(current);
    if (size == sizes.end())
      return false;
    edit.emit(op::label, {edit.newId()});
    for (const SpirvInstruction &variable : variables[current])
      edit.copy(variable);
    skipped = edit.newId();
    uint32_t lanes = edit.uintConstant(size->second);
    uint32_t rest = edit.call("xt_lanes_of_last_subgroup", edit.uintType(), {lanes});
    edit.emit(op::switchOf, {rest, skipped, 0, label[1]});
    edit.copy(label);
    sizes.erase(size);
    return true;
  }

  bool load(const SpirvInstruction &in) {
    uint32_t pointer = pointerOf(in), bytes = pointer ? bytesAt(pointer) : 0;
    if (!bytes)
      return false;
    called.insert("OpLoad, OpStore");
    uint32_t type = typeOfBytes(bytes);
    if (type == in[1])
      edit.call("xt_load", type, {pointer}, in[2]);
    else
      edit.emit(op::bitcast, {in[1], in[2], edit.call("xt_load", type, {pointer})});
    return true;
  }

  bool store(const SpirvInstruction &in) {
    uint32_t pointer = pointerOf(in), bytes = pointer ? bytesAt(pointer) : 0;
    if (!bytes)
      return false;
    called.insert("OpLoad, OpStore");
    uint32_t type = typeOfBytes(bytes), value = in[2];
    if (edit.typeOf(value) != type) {
      value = edit.newId();
      edit.emit(op::bitcast, {type, value, in[2]});
      edit.declareType(value, type);
    }
    edit.call("xt_store", edit.voidType(), {pointer, value});
    return true;
  }

  bool convert(const SpirvInstruction &in, const char *name) {
    if (in.length() < 4 || !edit.typeOf(in[3]))
      return false;
    called.insert("OpConvertFToBF16INTEL, OpConvertBF16ToFINTEL");
    edit.call(name + std::to_string(edit.lanesOf(in[1])), in[1], {in[3]}, in[2]);
    return true;
  }

  bool mix(const SpirvInstruction &in) {
    if (!vectors.rewrite(in))
      return false;
    called.insert("OpVectorShuffle, OpComposite*");
    return true;
  }

  bool shuffle(const SpirvInstruction &in) {
    if (in.length() < 5 || edit.lanesOf(in[1]) > 1 || edit.floatBitsOf(in[1]) == 16 ||
        !edit.typeOf(in[3]) || !edit.typeOf(in[4]))
      return false;
    called.insert("OpSubgroupShuffleINTEL");
    edit.call("xt_shuffle", in[1], {in[3], in[4]}, in[2]);
    return true;
  }

  SpirvEdit edit;
  CompileTimeVectors vectors;
  Subgroups subgroups;
  /// Of kernels whose first block was not reached yet.
  std::map<uint32_t, uint32_t> sizes;
  /// Of first blocks.
  std::map<uint32_t, std::vector<SpirvInstruction>> variables;
  /// Functions whose accesses, conversions and shuffles become calls.
  std::set<uint32_t> crowded;
  /// Sets of instructions for debuggers, and what these define.
  std::set<uint32_t> debug;
  /// Instructions that became calls.
  std::set<std::string> called;
  /// The label of the kernel's end, in a kernel that has a branch to it.
  uint32_t current = 0, skipped = 0;
};

bool begins(const SpirvImport &import, const char *start) {
  return import.name.rfind(start, 0) == 0;
}

bool isConversion(const SpirvImport &import) {
  return begins(import, "xt_bf16_of_") || begins(import, "xt_float_of_");
}

// Inlined: it is as short as a call, and the instruction is a call for each lane.
void addConversion(BuiltinText &out, const SpirvImport &import) {
  unsigned lanes = import.result.lanes;
  bool narrows = begins(import, "xt_bf16_of_");
  std::string n = lanes == 1 ? "" : number(lanes), to = import.result.openclName();
  if (narrows)
    out.add(bf16RoundingText(lanes));
  out.add("\n__attribute__((always_inline)) " + to + " " + import.name + "(" +
          import.parameters[0].openclName() + " x) { return as_" + to + "(" +
          (narrows ? "xt_bf16_" + number(lanes) + "(x)"
                   : convertedText("as_ushort" + n + "(x)", "uint", lanes) + " << 16") +
          "); }\n");
}

void addElementLoad(BuiltinText &out, const SpirvImport &import) {
  std::string value = import.result.openclName(), pointer = import.parameters[0].openclName();
  std::string place = pointer;
  place.replace(place.find("void"), 4, value);
  out.add("XT_FUNCTION " + value + " " + import.name + "(" + pointer +
          "p, uint i) { return ((volatile " + place + ")p)[i]; }\n");
}

} // namespace

PortableSpirv shortenCompilation(const std::vector<uint32_t> &spirv, Subgroups subgroups) {
  return Shortener(spirv, subgroups).run();
}

bool isCompileTimePart(const SpirvImport &import) {
  return begins(import, "xt_load") || begins(import, "xt_store") || begins(import, "xt_shuffle") ||
         isConversion(import) || isVectorMix(import) || import.name == "xt_lanes_of_last_subgroup";
}

void addCompileTimePart(BuiltinText &out, const SpirvImport &import) {
  if (import.name == "xt_lanes_of_last_subgroup")
    // Inlined: else the driver does not see what is dead.
    return out.add("__attribute__((always_inline)) uint xt_lanes_of_last_subgroup(uint size) {\n"
                   "  return (uint)get_local_size(0) % size;\n}\n");
  if (isConversion(import))
    return addConversion(out, import);
  if (isVectorMix(import))
    return addVectorMix(out, import);
  if (begins(import, "xt_shuffle")) {
    std::string type = import.result.openclName();
    return out.add("XT_FUNCTION " + type + " " + import.name + "(" + type +
                   " value, uint lane) { return (" + type + ")intel_sub_group_shuffle(" +
                   (import.result.bits < 32 ? "(int)" : "") + "value, lane); }\n");
  }
  if (begins(import, "xt_load_element"))
    return addElementLoad(out, import);
  bool stores = begins(import, "xt_store");
  const SpirvType &type = stores ? import.parameters[1] : import.result;
  std::string value = type.openclName();
  std::string pointer = import.parameters[0].openclName(), place = pointer;
  // Pointers to vectors may be aligned as their elements.
  place.replace(place.find("void"), 4, type.lanes > 1 ? out.vectorType("int", type.lanes) : value);
  // Volatile: a function that only reads is inlined whatever it asks for.
  out.add("XT_FUNCTION " + import.result.openclName() + " " + import.name + "(" + pointer + "p" +
          (stores ? ", " + value + " value) { *(" + place + ")p = value; }\n"
                  : ") { return *(volatile " + place + ")p; }\n"));
}

} // namespace xetile::runtime
