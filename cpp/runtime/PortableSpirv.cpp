// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PortableSpirv.cpp: kernels of other compilers as Intel's OpenCL driver for CPUs takes them.
// Input: a SPIR-V module for Intel GPUs; output: the same module without what that driver refuses
// and no result needs, with calls of Intel's builtins for instructions that it does not have.
// Refused: modules of other environments; what neither the driver nor this runtime knows, by name.
#include "PortableSpirv.h"

#include "BuiltinName.h"
#include "Errors.h"
#include "OddIntegers.h"
#include "PortableTables.h"
#include "SpirvEdit.h"
#include "SpirvModule.h"
#include "SpirvNumbers.h"
#include "WholeGroups.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace xetile::runtime {
namespace {

constexpr uint32_t subgroupShuffleIntel = 5568;
constexpr const char *payloadFunctions = "__builtin_IB_subgroup_";
namespace builtin {
constexpr uint32_t workgroupId = 26, localInvocationId = 27, globalInvocationId = 28,
                   localInvocationIndex = 29, globalLinearId = 34, subgroupMaxSize = 37,
                   numSubgroups = 38, subgroupId = 40, subgroupLocalInvocationId = 41;
}

/// As unmangledName() of BuiltinName.h reads it.
std::string mangled(const std::string &name) {
  return "_Z" + std::to_string(name.size()) + name + "_xt";
}

/// A name as operands of an instruction.
std::vector<uint32_t> spirvWordsOf(const std::string &name) {
  std::vector<uint32_t> words(name.size() / 4 + 1);
  std::memcpy(words.data(), name.data(), name.size());
  return words;
}

class Porter {
public:
  Porter(const uint32_t *words, size_t count, SubgroupOrder order)
      : edit(words, count), order(order) {}

  PortableSpirv run() {
    findHiddenSubgroups();
    findPayloads();
    bool inCapabilities = true;
    for (const SpirvInstruction &in : edit.instructions()) {
      unsigned opcode = in.opcode();
      if (inCapabilities && opcode != op::capability) {
        if (shuffles)
          edit.emit(op::capability, {subgroupShuffleIntel});
        edit.endCapabilities();
        if (shuffles)
          edit.emit(op::extension, spirvWordsOf("SPV_INTEL_subgroups"));
        inCapabilities = false;
      }
      edit.reach(in);
      port(in);
    }
    return {edit.finish(), std::move(notes)};
  }

private:
  // The driver runs a kernel in subgroups if it sees that the kernel asks for its lane or calls a
  // function of subgroups; instructions of SPV_INTEL_subgroups alone it takes for a work-item's.
  void findHiddenSubgroups() {
    uint32_t function = 0;
    bool blocks = false, asks = false;
    for (const SpirvInstruction &in : edit.instructions()) {
      unsigned opcode = in.opcode();
      if (opcode == op::function && in.length() > 2) {
        function = in[2];
        blocks = asks = false;
      }
      bool becomesShuffle = isNonUniformShuffle(in);
      shuffles |= becomesShuffle;
      blocks |= becomesShuffle || (opcode >= op::shuffle && opcode <= op::blockWrite);
      asks |= opcode == op::load && in.length() > 3 &&
              edit.builtinOf(in[3]) == builtin::subgroupLocalInvocationId;
      if (opcode == op::functionEnd && blocks && !asks)
        hidden.insert(function);
    }
  }

  /// A shuffle of numbers. Those of SPIR-V's own are wrong where a branch alone uses their results,
  /// `if (lane == 0) *out = sum`, as if the driver moved them there, where the lanes that they read
  /// do not go. Those of SPV_INTEL_subgroups are right.
  bool isNonUniformShuffle(const SpirvInstruction &in) const {
    unsigned opcode = in.opcode();
    return opcode >= op::nonUniformShuffle && opcode <= op::nonUniformShuffleDown &&
           in.length() > 5 && edit.bytesOf(in[1]) != 0;
  }

  bool shuffle(const SpirvInstruction &in) {
    if (!isNonUniformShuffle(in))
      return false;
    rewritten("OpGroupNonUniformShuffle*",
              "OpSubgroupShuffle*INTEL, which the driver keeps out of branches");
    // Lanes that up and down do not have are anything: those of the other operand here.
    switch (in.opcode()) {
    case op::nonUniformShuffle:
      edit.emit(op::shuffle, {in[1], in[2], in[4], in[5]});
      return true;
    case op::nonUniformShuffleXor:
      edit.emit(op::shuffleXor, {in[1], in[2], in[4], in[5]});
      return true;
    case op::nonUniformShuffleUp:
      edit.emit(op::shuffleUp, {in[1], in[2], in[4], in[4], in[5]});
      return true;
    default:
      edit.emit(op::shuffleDown, {in[1], in[2], in[4], in[4], in[5]});
      return true;
    }
  }

  // Names stand before types, these before calls.
  void findPayloads() {
    for (const SpirvInstruction &in : edit.instructions()) {
      unsigned opcode = in.opcode(), length = in.length();
      if (opcode == op::decorate && length > 3 && in[2] == linkageAttributes)
        names[in[1]] = spirvText(in.at + 3, in.at + length);
      if (opcode != op::functionCall || length < 5)
        continue;
      std::string name = payloadFunction(in);
      if (name == "createBlock2DAddressPayload")
        created[in[2]] = in;
      else if (name.find("Payload") != std::string::npos)
        changed.insert(in[4]);
    }
  }

  /// The function's name behind what all of payloads have in common; "" for others.
  std::string payloadFunction(const SpirvInstruction &call) const {
    auto found = names.find(call[3]);
    std::string common = payloadFunctions;
    bool is = found != names.end() && found->second.compare(0, common.size(), common) == 0;
    return is ? found->second.substr(common.size()) : std::string();
  }

  /// A payload is more than this runtime's pointer to it tells: a message gets what it was made of.
  bool payloadMessage(const SpirvInstruction &in) {
    if (in.length() < 5)
      return false;
    std::string name = payloadFunction(in), kind;
    for (const char *known : {"write", "read"})
      if (std::string begin = "block_" + std::string(known) + "_ap_u"; name.rfind(begin, 0) == 0) {
        kind = known;
        name = name.substr(begin.size() - 1);
      }
    if (kind.empty())
      return false;
    bool stores = kind == "write";
    need(in, stores ? 9 : 8);
    auto made = created.find(in[4]);
    if (made == created.end() || changed.count(in[4]))
      throw Error("the kernel accesses a block by an address payload that is copied, updated or "
                  "passed on, which this runtime does not follow. Create a payload for the access, "
                  "or use intel_sub_group_2d_block_" +
                  kind + "_*");
    const SpirvInstruction &create = made->second;
    need(create, 10);
    // Base, width, height, pitch, x, y; the distances and what is stored.
    std::vector<uint32_t> args(create.at + 4, create.at + 10);
    args.insert(args.end(), in.at + 5, in.at + (stores ? 8 : 7));
    rewritten(payloadFunctions + ("block_" + kind) + "_ap_*",
              "intel_sub_group_2d_block_" + kind + "_*");
    edit.call("xt_payload_" + kind + "_" + name, in[1], args, in[2]);
    return true;
  }

  void note(const std::string &text) {
    if (std::find(notes.begin(), notes.end(), text) == notes.end())
      notes.push_back(text);
  }

  /// True if the part is kept as it is. Notes what is dropped.
  bool judge(const PortableRow *row, const char *what, uint32_t number) {
    if (!row)
      throw Error(std::string("the kernel has the SPIR-V ") + what + " " + std::to_string(number) +
                  ", which neither the OpenCL driver for CPUs nor this runtime knows. Compile it "
                  "without the extension that it belongs to");
    if (row->fate == Fate::Refused)
      throw Error(std::string("the kernel has the SPIR-V ") + what + " " + row->name + " (" +
                  std::to_string(number) + "), which does not run here: " + row->reason +
                  ". Compile it without the extension that it belongs to");
    if (row->fate == Fate::Dropped)
      note(std::string("dropped ") + what + " " + row->name + ": " + row->reason);
    return row->fate == Fate::Kept;
  }

  void port(const SpirvInstruction &in) {
    unsigned opcode = in.opcode(), length = in.length();
    switch (opcode) {
    case op::capability:
      if (length > 1 && in[1] >= firstExtended &&
          !judge(findCapability(in[1]), "capability", in[1]))
        return;
      break;
    case op::extension:
      if (!knowsExtension(spirvText(in.at + 1, in.at + length).c_str()))
        return;
      break;
    case op::executionMode:
    case op::executionModeId:
      if (length > 2 && in[2] >= firstExtended &&
          !judge(findExecutionMode(in[2]), "execution mode", in[2]))
        return;
      break;
    case op::decorate:
    case op::decorateId:
    case op::decorateString:
      if (length > 2 && in[2] >= firstExtended && !keepsDecoration(in[2]))
        return;
      break;
    case op::decorate + 1: // of a member
    case op::memberDecorateString:
      if (length > 3 && in[3] >= firstExtended && !keepsDecoration(in[3]))
        return;
      break;
    default:
      if (rewrite(in))
        return;
      if (opcode >= firstExtended && !judge(findInstruction(opcode), "instruction", opcode))
        return;
    }
    edit.copy(in);
  }

  // A decoration of its own never says what is computed.
  bool keepsDecoration(uint32_t number) {
    if (findDecoration(number))
      return judge(findDecoration(number), "decoration", number);
    note("dropped decoration " + std::to_string(number) + ": it is unknown to the driver");
    return false;
  }

  bool rewrite(const SpirvInstruction &in) {
    switch (in.opcode()) {
    case op::arrive:
      // All that a barrier orders is ordered where it is waited for.
      rewritten("OpControlBarrierArriveINTEL, OpControlBarrierWaitINTEL", "a barrier at the wait");
      return true;
    case op::wait:
      need(in, 4);
      edit.emit(op::controlBarrier, {in[1], in[2], in[3]});
      return true;
    case op::blockLoad:
      return blockIo(in, "read", "OpSubgroup2DBlockLoadINTEL");
    case op::blockTransform:
      return blockIo(in, "read_transform", "OpSubgroup2DBlockLoadTransformINTEL");
    case op::blockTranspose:
      return blockIo(in, "read_transpose", "OpSubgroup2DBlockLoadTransposeINTEL");
    case op::blockPrefetch:
      return blockIo(in, "prefetch", "OpSubgroup2DBlockPrefetchINTEL");
    case op::blockStore:
      return blockIo(in, "write", "OpSubgroup2DBlockStoreINTEL");
    case op::multiplyAccumulate:
      return multiply(in);
    case op::roundToTf32:
      return round(in);
    case op::nonUniformShuffle:
    case op::nonUniformShuffleXor:
    case op::nonUniformShuffleUp:
    case op::nonUniformShuffleDown:
      return shuffle(in);
    case op::functionCall:
      return payloadMessage(in) || multiplyCall(in);
    case op::function:
      current = in.length() > 2 ? in[2] : 0;
      return false;
    case op::label:
      if (!hidden.erase(current))
        return false;
      edit.copy(in);
      edit.call("xt_in_subgroups", edit.voidType(), {});
      return true;
    case op::load:
      return order == SubgroupOrder::Reversed && reverse(in);
    default:
      return false;
    }
  }

  static void need(const SpirvInstruction &in, unsigned length) {
    if (in.length() < length)
      throw Error("the kernel binary is not a valid SPIR-V module: instruction " +
                  std::to_string(in.opcode()) + " is too short. Check it with spirv-val");
  }

  void rewritten(const std::string &what, const std::string &into) {
    note("rewritten " + what + ": " + into);
  }

  uint32_t constant(uint32_t id, const char *what) const {
    if (std::optional<uint32_t> value = edit.constantOf(id))
      return *value;
    throw Error(std::string("the kernel has a ") + what +
                " whose shape is no constant. Compile it with optimisation, or write constants");
  }

  /// Element size in bytes, width, height, blocks; base, width, height, pitch, corner; the lane's
  /// array. A store has the array first of these.
  bool blockIo(const SpirvInstruction &in, const char *kind, const char *name) {
    bool store = in.opcode() == op::blockStore, prefetch = in.opcode() == op::blockPrefetch;
    need(in, prefetch ? 10 : 11);
    uint32_t bytes = constant(in[1], name), columns = constant(in[2], name),
             rows = constant(in[3], name), blocks = constant(in[4], name);
    std::vector<uint32_t> args(in.at + (store ? 6 : 5), in.at + (store ? 11 : 10));
    if (!prefetch)
      args.push_back(in[store ? 5 : 10]);
    std::string builtin = std::string("intel_sub_group_2d_block_") + kind + "_" +
                          std::to_string(bytes * 8) + "b_" + std::to_string(rows) + "r" +
                          std::to_string(columns) + "x" + std::to_string(blocks) + "c";
    rewritten(name, "intel_sub_group_2d_block_" + std::string(kind) + "_*");
    edit.call(mangled(builtin), edit.voidType(), args);
    return true;
  }

  /// Bits of the operands mask, and the name of the elements that they stand for.
  static std::string elementName(uint32_t mask, bool b) {
    enum : uint32_t {
      SignedA = 1,
      Int8A = 0x10,
      Int4A = 0x40,
      Tf32A = 0x100,
      F16A = 0x400,
      Bf16A = 0x1000
    };
    // Each bit of B is behind that of A.
    uint32_t bits = b ? mask >> 1 : mask;
    if (bits & Int8A)
      return bits & SignedA ? "i8" : "u8";
    if (bits & Int4A)
      return bits & SignedA ? "i4" : "u4";
    return bits & Tf32A ? "tf32" : bits & F16A ? "f16" : bits & Bf16A ? "bf16" : "";
  }

  bool multiply(const SpirvInstruction &in) {
    const char *name = "OpSubgroupMatrixMultiplyAccumulateINTEL";
    need(in, 7);
    uint32_t depth = constant(in[3], name), mask = in.length() > 7 ? in[7] : 0;
    std::string a = elementName(mask, false), b = elementName(mask, true);
    if (a.empty() || b.empty())
      throw Error(std::string("the kernel has an ") + name + " with operands 0x" + hex(mask) +
                  ". Expected packed f16, bf16, int8 or int4, or tf32, for A and for B");
    rewritten(name, "intel_sub_group_*_matrix_mad_k*");
    std::string builtin =
        "intel_sub_group_" + a + "_" + b + "_matrix_mad_k" + std::to_string(depth);
    if (!multiplyBits(builtin, in))
      edit.call(mangled(builtin), in[1], {in[4], in[5], in[6]}, in[2]);
    return true;
  }

  /// Sums of f16 are passed as their bits: the driver takes minutes to compile hundreds of calls
  /// with vectors of f16, which it passes element by element. False for other sums.
  bool multiplyBits(const std::string &builtin, const SpirvInstruction &in) {
    uint32_t element = edit.elementOf(in[1]) ? edit.elementOf(in[1]) : in[1];
    if (edit.floatBitsOf(element) != 16)
      return false;
    uint32_t bits = edit.intType(16);
    if (edit.elementOf(in[1]))
      bits = edit.vectorType(bits, edit.lanesOf(in[1]));
    uint32_t sum = edit.newId();
    edit.emit(op::bitcast, {bits, sum, in[6]});
    edit.declareType(sum, bits);
    edit.emit(op::bitcast, {in[1], in[2], edit.call(mangled(builtin), bits, {in[4], in[5], sum})});
    return true;
  }

  bool multiplyCall(const SpirvInstruction &in) {
    auto found = in.length() == 7 ? names.find(in[3]) : names.end();
    return found != names.end() && found->second.find("_matrix_mad_k") != std::string::npos &&
           multiplyBits(unmangledName(found->second), in);
  }

  // The driver takes it and does nothing.
  bool round(const SpirvInstruction &in) {
    need(in, 4);
    uint32_t element = edit.elementOf(in[1]);
    uint64_t lanes = element ? edit.bytesOf(in[1]) / edit.bytesOf(element) : 1;
    rewritten("OpRoundFToTF32INTEL", "the driver's rounds nothing");
    edit.call("xt_round_to_tf32_" + std::to_string(lanes), in[1], {in[3]}, in[2]);
    return true;
  }

  static std::string hex(uint32_t value) {
    std::string text;
    do
      text.insert(text.begin(), "0123456789abcdef"[value & 15]);
    while (value >>= 4);
    return text;
  }

  /// A read of the ids that tell a workgroup or a subgroup which one it is.
  bool reverse(const SpirvInstruction &in) {
    need(in, 4);
    std::optional<uint32_t> which = edit.builtinOf(in[3]);
    if (!which)
      return false;
    uint32_t element = edit.elementOf(in[1]);
    std::string name;
    std::vector<uint32_t> args;
    if (*which != builtin::workgroupId)
      args = subgroupOf();
    switch (*which) {
    case builtin::workgroupId:
      name = "xt_reversed_group";
      break;
    case builtin::localInvocationId:
      name = "xt_reversed_local_id";
      break;
    case builtin::globalInvocationId:
      name = "xt_reversed_global_id";
      break;
    case builtin::localInvocationIndex:
    case builtin::globalLinearId:
    case builtin::subgroupId:
      if (element)
        return false;
      edit.call(*which == builtin::subgroupId             ? "xt_reversed_subgroup"
                : *which == builtin::localInvocationIndex ? "xt_reversed_index"
                                                          : "xt_reversed_global_index",
                in[1], args, in[2]);
      return true;
    default:
      return false;
    }
    if (!element)
      return false;
    std::vector<uint32_t> parts{in[1], in[2]};
    for (const char *axis : {"_x", "_y", "_z"})
      parts.push_back(edit.call(name + axis, element, args));
    edit.emit(op::compositeConstruct, parts);
    return true;
  }

  /// Its number, how many there are, and their size. The kernel asks itself: in a function of ours
  /// the driver would not see that they are the same for all lanes.
  std::vector<uint32_t> subgroupOf() {
    return {edit.builtinValue(builtin::subgroupId), edit.builtinValue(builtin::numSubgroups),
            edit.builtinValue(builtin::subgroupMaxSize)};
  }

  SpirvEdit edit;
  SubgroupOrder order;
  /// The module has a shuffle that becomes one of SPV_INTEL_subgroups.
  bool shuffles = false;
  /// Functions whose use of subgroups the driver would not see.
  std::set<uint32_t> hidden;
  /// Of imported functions.
  std::map<uint32_t, std::string> names;
  /// Payloads by the calls that made them, and those that other calls copy or change.
  std::map<uint32_t, SpirvInstruction> created;
  std::set<uint32_t> changed;
  uint32_t current = 0;
  std::vector<std::string> notes;
};

} // namespace

PortableSpirv makePortable(const void *spirv, size_t size, SubgroupOrder order) {
  std::vector<std::string> notes;
  std::vector<uint32_t> words = widenOddIntegers(spirvWords(spirv, size), notes);
  PortableSpirv portable = Porter(words.data(), words.size(), order).run();
  portable.notes.insert(portable.notes.begin(), notes.begin(), notes.end());
  if (order == SubgroupOrder::Reversed)
    portable.words = splitWholeGroups(portable.words);
  return portable;
}

} // namespace xetile::runtime
