// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AccessFlow.cpp: what the accesses of a kernel depend on, for XETILE_CHECK.
// Input: a SPIR-V module; output: for each kernel, which parameters it reads and writes through,
// and which of their contents decide where. Refused: nothing.
//
// Values are followed forwards, until nothing changes: the arrays that a pointer may point into,
// and the arrays whose contents a value may come from. All private memory of a kernel is one place,
// and a condition of any branch decides over all that follows.
#include "AccessFlow.h"

#include "BuiltinName.h"
#include "Errors.h"
#include "SpirvEdit.h"
#include "SpirvModule.h"
#include "SpirvNumbers.h"

#include <set>
#include <unordered_map>

namespace xetile::runtime {
namespace {

// Places besides the arrays of parameters: constants and ids, memory of a work-item, memory that
// subgroups have in common, and what nobody knows.
constexpr uint64_t constantPlace = uint64_t(1) << 60, ownPlace = uint64_t(1) << 61,
                   commonPlace = uint64_t(1) << 62, unknownPlace = uint64_t(1) << 63,
                   parameterPlaces = constantPlace - 1, privatePlaces = constantPlace | ownPlace;
constexpr size_t mostParameters = 60;

// Of OpenCL.std.
constexpr uint32_t vload = 171, vstore = 172, vloadHalf = 173, vloadHalfn = 174, vstoreHalf = 175,
                   vstoreHalfnR = 178, vloadaHalfn = 179, vstoreaHalfn = 180, vstoreaHalfnR = 181,
                   printf = 184, prefetch = 185;

// Opcodes that nobody else asks for.
constexpr unsigned accessChain = 65, inBoundsPtrAccessChain = 70, transpose = 84,
                   firstConversion = 109, convertUToPtr = 120, lastOfBits = 205, integerAdd = 128,
                   integerSub = 130, unsignedDivision = 134, signedDivision = 135,
                   unsignedModulo = 137, signedModulo = 139, select = 169, memoryBarrier = 225,
                   phi = 245, loopMerge = 246, selectionMerge = 247, branch = 249,
                   branchConditional = 250, returnValue = 254, lifetimeStart = 256,
                   lifetimeStop = 257, firstGroup = 261, lastGroup = 271, firstNonUniform = 333,
                   lastNonUniform = 366, firstPointerMath = 401, lastPointerMath = 403,
                   assumeTrue = 5630;

/// Of a value: the places that it may point into, and the parameters that it may have been computed
/// of, numbers and the contents of arrays, with AccessFlow::exchanged.
struct Value {
  uint64_t places = 0, sources = 0;

  Value operator|(const Value &other) const {
    return {places | other.places, sources | other.sources};
  }
};

struct Body {
  std::vector<uint32_t> parameters;
  std::vector<SpirvInstruction> instructions;
};

struct ModuleBodies {
  ModuleBodies(const SpirvEdit &edit, const std::vector<SpirvImport> &declared) : edit(edit) {
    Body *current = nullptr;
    for (const SpirvInstruction &in : edit.instructions()) {
      unsigned length = in.length();
      switch (in.opcode()) {
      case op::entryPoint:
        if (length > 3)
          kernels.push_back({in[2], spirvText(in.at + 3, in.at + length)});
        break;
      case op::decorate:
        if (length > 4 && in[2] == linkageAttributes && in[length - 1] == importLinkage)
          for (const SpirvImport &import : declared)
            if (import.name == spirvText(in.at + 3, in.at + length - 1))
              imports[in[1]] = import;
        break;
      case op::extInstImport:
        if (length > 2 && spirvText(in.at + 2, in.at + length) == "OpenCL.std")
          openclSets.insert(in[1]);
        break;
      case op::variable:
        if (!current && length > 3)
          variables.push_back(in);
        else if (current)
          current->instructions.push_back(in);
        break;
      case op::function:
        current = length > 2 ? &functions[in[2]] : nullptr;
        break;
      case op::functionParameter:
        if (current && length > 2)
          current->parameters.push_back(in[2]);
        break;
      case op::functionEnd:
        current = nullptr;
        break;
      default:
        if (current)
          current->instructions.push_back(in);
      }
    }
  }

  const SpirvEdit &edit;
  std::vector<std::pair<uint32_t, std::string>> kernels;
  std::map<uint32_t, SpirvImport> imports;
  std::set<uint32_t> openclSets;
  std::vector<SpirvInstruction> variables;
  std::map<uint32_t, Body> functions;
};

class KernelFlow {
public:
  KernelFlow(const ModuleBodies &module, uint32_t kernel) : module(module), edit(module.edit) {
    flow.reads = flow.writes = flow.decides = 0;
    for (const SpirvInstruction &variable : module.variables)
      values[variable[2]].places = placeOf(variable[3]);
    const Body &body = module.functions.at(kernel);
    for (size_t i = 0; i < body.parameters.size(); ++i)
      enter(body.parameters[i], i);
    reached.insert(kernel);
  }

  AccessFlow run() {
    while (changed) {
      changed = false;
      for (uint32_t function : std::set<uint32_t>(reached))
        for (const SpirvInstruction &in : module.functions.at(function).instructions)
          visit(function, in);
    }
    return flow;
  }

private:
  static uint64_t placeOf(uint32_t storageClass) {
    return storageClass == storage::workgroup || storageClass == storage::crossWorkgroup
               ? commonPlace
           : storageClass == storage::input || storageClass == storage::uniformConstant
               ? constantPlace
               : ownPlace;
  }

  void enter(uint32_t parameter, size_t number) {
    std::optional<uint32_t> where = edit.storageOf(edit.typeOf(parameter));
    if (!where) {
      values[parameter].sources = uint64_t(1) << number;
      return;
    }
    if (*where == storage::crossWorkgroup || *where == storage::uniformConstant) {
      values[parameter].places = uint64_t(1) << number;
      return;
    }
    values[parameter].places = placeOf(*where);
    // A struct may hold pointers.
    if (*where == storage::function)
      own = own | Value{unknownPlace, uint64_t(1) << number};
  }

  Value of(uint32_t id) const {
    auto found = values.find(id);
    return found == values.end() ? Value() : found->second;
  }

  void add(uint64_t &to, uint64_t what) {
    changed |= (what & ~to) != 0;
    to |= what;
  }
  void add(Value &to, const Value &what) {
    add(to.places, what.places);
    add(to.sources, what.sources);
  }
  void set(uint32_t id, const Value &what) { add(values[id], what); }

  /// The places that a pointer may point into.
  uint64_t placesOf(uint32_t pointer) const {
    if (uint64_t places = of(pointer).places)
      return places;
    std::optional<uint32_t> where = edit.storageOf(edit.typeOf(pointer));
    bool known = where && *where != storage::crossWorkgroup && *where != storage::generic;
    return known ? placeOf(*where) : unknownPlace;
  }

  /// The value that is read through a pointer.
  Value read(uint32_t pointer, bool holdsPointers) {
    Value value;
    value.sources = of(pointer).sources;
    add(flow.decides, value.sources);
    uint64_t places = placesOf(pointer);
    add(flow.reads, places & unknownPlace ? AccessFlow::anything : places & parameterPlaces);
    value.sources |= places & parameterPlaces;
    if (places & ownPlace)
      value = value | own;
    if (places & (commonPlace | unknownPlace))
      value.sources |= AccessFlow::exchanged;
    if (places & ~privatePlaces)
      value.places |= unknownPlace;
    if (!holdsPointers)
      value.places = 0;
    return value;
  }

  void write(uint32_t pointer, const Value &what) {
    add(flow.decides, of(pointer).sources);
    uint64_t places = placesOf(pointer);
    add(flow.writes, places & unknownPlace ? AccessFlow::anything : places & parameterPlaces);
    if (places & ownPlace)
      add(own, what);
  }

  /// False for integers and floats of less than 8 bytes.
  bool holdsPointers(uint32_t type) const {
    uint32_t element = edit.elementOf(type) ? edit.elementOf(type) : type;
    return edit.storageOf(element) || edit.bytesOf(element) == 0 || edit.bytesOf(element) >= 8;
  }

  /// For what may touch all that its operands point to, and where everything there decides.
  void touch(uint32_t result, const uint32_t *first, const uint32_t *end) {
    Value all;
    bool foreign = false;
    for (const uint32_t *id = first; id < end; ++id) {
      all = all | of(*id);
      foreign |= (of(*id).places & ~privatePlaces) != 0;
    }
    if (foreign)
      all.sources |= AccessFlow::exchanged;
    for (const uint32_t *id = first; id < end; ++id) {
      if (!of(*id).places && !edit.storageOf(edit.typeOf(*id)))
        continue;
      all = all | read(*id, true);
      write(*id, all);
    }
    if (foreign)
      add(flow.decides, all.sources);
    if (result)
      set(result, all);
  }

  void call(const SpirvInstruction &in) {
    uint32_t result = in[2], callee = in[3];
    const uint32_t *first = in.at + 4, *end = in.at + in.length();
    if (auto import = module.imports.find(callee); import != module.imports.end())
      return callImport(import->second, result, first, end);
    auto body = module.functions.find(callee);
    if (body == module.functions.end() || body->second.instructions.empty())
      return touch(result, first, end);
    changed |= reached.insert(callee).second;
    const std::vector<uint32_t> &parameters = body->second.parameters;
    for (size_t i = 0; i < parameters.size() && first + i < end; ++i)
      set(parameters[i], of(first[i]));
    set(result, returned[callee]);
  }

  void callImport(const SpirvImport &import, uint32_t result, const uint32_t *first,
                  const uint32_t *end) {
    std::optional<BlockIo> block = blockOf(import);
    // Base, width, height, pitch, corner, and but for prefetches private memory.
    if (!block || end - first < 5 || (block->kind != BlockIo::Prefetch && end - first < 6)) {
      std::string name = unmangledName(import.name);
      if (name.find("clock") != std::string::npos || name.find("cycle") != std::string::npos)
        set(result, {0, AccessFlow::exchanged});
      return touch(result, first, end);
    }
    for (int i = 0; i < 5; ++i)
      add(flow.decides, of(first[i]).sources);
    if (block->kind == BlockIo::Write)
      write(first[0], {});
    else if (block->kind != BlockIo::Prefetch)
      write(first[5], read(first[0], false));
  }

  static std::optional<BlockIo> blockOf(const SpirvImport &import) {
    try {
      return asBlockIo(import);
    } catch (const Error &) {
      return std::nullopt;
    }
  }

  void visitBuiltin(const SpirvInstruction &in) {
    uint32_t number = in[4];
    const uint32_t *first = in.at + 5, *end = in.at + in.length();
    if (!module.openclSets.count(in[3]) || number == prefetch)
      return;
    // A run on memory of any content is not to print it.
    if (number == printf)
      return add(flow.decides, AccessFlow::exchanged);
    bool loads =
        number == vload || number == vloadHalf || number == vloadHalfn || number == vloadaHalfn;
    bool stores = number == vstore || (number >= vstoreHalf && number <= vstoreHalfnR) ||
                  number == vstoreaHalfn || number == vstoreaHalfnR;
    // The offset, and the pointer.
    if (loads && end - first >= 2) {
      add(flow.decides, of(first[0]).sources);
      set(in[2], read(first[1], false) | Value{0, of(first[0]).sources});
    } else if (stores && end - first >= 3) {
      add(flow.decides, of(first[1]).sources);
      write(first[2], of(first[0]));
    } else {
      touch(in[2], first, end);
    }
  }

  /// Instructions that access no memory, and whose operands are values.
  static bool computes(unsigned opcode) {
    auto within = [&](unsigned first, unsigned last) { return opcode >= first && opcode <= last; };
    return opcode == op::undef || within(accessChain, inBoundsPtrAccessChain) ||
           within(op::vectorExtractDynamic, transpose) || within(firstConversion, lastOfBits) ||
           opcode == phi || within(firstGroup, lastGroup) ||
           within(firstPointerMath, lastPointerMath) || within(firstNonUniform, lastNonUniform) ||
           within(op::shuffle, op::shuffleXor) || opcode == op::bf16FromFloat ||
           opcode == op::floatFromBf16 || opcode == op::roundToTf32;
  }

  static bool dividesIntegers(unsigned opcode) {
    return opcode == unsignedDivision || opcode == signedDivision ||
           (opcode >= unsignedModulo && opcode <= signedModulo);
  }

  /// Of addresses these make addresses, at the same distances.
  static bool keepsAddresses(unsigned opcode) {
    return opcode == op::undef || (opcode >= accessChain && opcode <= inBoundsPtrAccessChain) ||
           (opcode >= op::vectorExtractDynamic && opcode <= transpose) ||
           (opcode >= op::convertPtrToU && opcode <= op::bitcast) || opcode == integerAdd ||
           opcode == integerSub || opcode == select || opcode == phi ||
           (opcode >= firstGroup && opcode <= lastGroup) ||
           (opcode >= op::shuffle && opcode <= op::shuffleXor);
  }

  void visitOther(const SpirvInstruction &in) {
    unsigned opcode = in.opcode(), length = in.length();
    bool hasResult = length > 2 && edit.typeOf(in[2]) == in[1];
    const uint32_t *first = in.at + (hasResult ? 3 : 1), *end = in.at + length;
    if (!hasResult || !computes(opcode))
      return touch(hasResult ? in[2] : 0, first, end);
    Value all;
    for (const uint32_t *id = first; id < end; ++id)
      all = all | of(*id);
    // A process may end by a division, which contents would decide.
    if (dividesIntegers(opcode) && length > 4 && of(in[4]).sources)
      add(flow.decides, all.sources);
    // Else a copy elsewhere may be accessed in another way.
    if (all.places & ~privatePlaces && !keepsAddresses(opcode))
      all.sources |= AccessFlow::exchanged;
    if (opcode == convertUToPtr && !all.places)
      all.places = unknownPlace;
    set(in[2], all);
  }

  void visit(uint32_t function, const SpirvInstruction &in) {
    unsigned opcode = in.opcode(), length = in.length();
    switch (opcode) {
    case op::label:
    case op::line:
    case op::noLine:
    case op::controlBarrier:
    case memoryBarrier:
    case branch:
    case loopMerge:
    case selectionMerge:
    case lifetimeStart:
    case lifetimeStop:
    case assumeTrue:
      return;
    case op::variable:
      return set(in[2], {placeOf(in[3]), 0});
    case op::load:
      return set(in[2], read(in[3], holdsPointers(in[1])));
    case op::store:
      return write(in[1], of(in[2]));
    case op::copyMemory:
    case op::copyMemorySized:
      if (opcode == op::copyMemorySized)
        add(flow.decides, of(in[3]).sources);
      return write(in[1], read(in[2], true));
    case op::blockRead:
      return set(in[2], read(in[3], false));
    case op::blockWrite:
      return write(in[1], of(in[2]));
    case branchConditional:
    case op::switchOf:
      return add(flow.decides, of(in[1]).sources);
    case returnValue:
      return add(returned[function], of(in[1]));
    case op::functionCall:
      return call(in);
    case op::extInst:
      return length > 4 ? visitBuiltin(in) : void();
    case op::compositeExtract:
      return set(in[2], of(in[3]));
    case op::compositeInsert:
    case op::vectorShuffle:
      return set(in[2], of(in[3]) | of(in[4]));
    default:
      return visitOther(in);
    }
  }

  const ModuleBodies &module;
  const SpirvEdit &edit;
  AccessFlow flow;
  std::unordered_map<uint32_t, Value> values;
  std::map<uint32_t, Value> returned;
  std::set<uint32_t> reached;
  /// The content of private memory.
  Value own;
  bool changed = true;
};

} // namespace

std::map<std::string, AccessFlow> accessFlows(const std::vector<uint32_t> &spirv) {
  // Of an instruction that is too short, the words behind it are read.
  std::vector<uint32_t> padded(spirv);
  padded.resize(spirv.size() + 8);
  SpirvEdit edit(padded.data(), spirv.size());
  SpirvModule declared = SpirvModule::parse(spirv.data(), spirv.size() * sizeof(uint32_t));
  ModuleBodies module(edit, declared.imports);
  std::map<std::string, AccessFlow> flows;
  for (const auto &[function, name] : module.kernels) {
    auto body = module.functions.find(function);
    bool known = body != module.functions.end() && body->second.parameters.size() < mostParameters;
    flows[name] = known ? KernelFlow(module, function).run() : AccessFlow();
  }
  return flows;
}

} // namespace xetile::runtime
