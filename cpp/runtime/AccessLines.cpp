// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AccessLines.cpp: which line of the source accessed a place, for XETILE_CHECK.
// Input: a SPIR-V module with debug lines; output: the same with a call in front of each access of
// global memory, which keeps the line of the one that is looked for. Refused: nothing; a module
// without lines has none to tell.
//
// Lines are those of OpLine and of DebugLine of NonSemantic.Shader.DebugInfo.100: of the innermost
// function, where functions were inlined. The calls make a kernel many times slower: it is run in
// this form when an error was found.
#include "AccessLines.h"

#include "LaunchRecord.h"
#include "SpirvEdit.h"
#include "SpirvNumbers.h"

#include <map>
#include <optional>
#include <set>

namespace xetile::runtime {
namespace {

constexpr uint32_t int64Capability = 11;
// Of OpenCL.std and NonSemantic.Shader.DebugInfo.100.
constexpr uint32_t vload = 171, vstore = 172, debugSource = 35, debugLine = 103, debugNoLine = 104;
constexpr uint32_t largestSubgroup = 32;
constexpr const char *blockFunctions = "intel_sub_group_2d_block_";

/// A pointer that an instruction accesses, and how many bytes; `offset` in elements of so many
/// bytes where the instruction has one.
struct Access {
  uint32_t pointer = 0;
  uint64_t bytes = 0;
  uint32_t offset = 0;
};

class LineNoter {
public:
  explicit LineNoter(const std::vector<uint32_t> &words) : edit(words.data(), words.size()) {}

  LinedSpirv run() {
    bool inCapabilities = true, hasInt64 = false;
    for (const SpirvInstruction &in : edit.instructions()) {
      unsigned opcode = in.opcode();
      hasInt64 |= opcode == op::capability && in.length() > 1 && in[1] == int64Capability;
      if (inCapabilities && opcode != op::capability) {
        if (!hasInt64)
          edit.emit(op::capability, {int64Capability});
        edit.endCapabilities();
        inCapabilities = false;
      }
      edit.reach(in);
      read(in);
      if (current)
        note(in);
      edit.copy(in);
    }
    return {edit.finish(), std::move(lines)};
  }

private:
  /// Names, and which line the next instructions are of; a line ends with its block.
  void read(const SpirvInstruction &in) {
    unsigned length = in.length();
    switch (in.opcode()) {
    case op::string:
      if (length > 2)
        strings[in[1]] = spirvText(in.at + 2, in.at + length);
      return;
    case op::extInstImport:
      if (length > 2)
        sets[in[1]] = spirvText(in.at + 2, in.at + length);
      return;
    case op::decorate:
      if (length > 4 && in[2] == linkageAttributes &&
          spirvText(in.at + 3, in.at + length).find(blockFunctions) != std::string::npos)
        blocks.insert(in[1]);
      return;
    case op::line:
      if (length > 2)
        setLine(in[1], in[2]);
      return;
    case op::extInst:
      if (length > 4 && sets[in[3]] == "NonSemantic.Shader.DebugInfo.100")
        readDebug(in);
      return;
    case op::noLine:
    case op::label:
    case op::function:
      current = 0;
      return;
    default:
      return;
    }
  }

  void readDebug(const SpirvInstruction &in) {
    if (in[4] == debugSource && in.length() > 5)
      sources[in[2]] = in[5];
    else if (in[4] == debugLine && in.length() > 6 && sources.count(in[5]))
      setLine(sources[in[5]], edit.constantOf(in[6]).value_or(0));
    else if (in[4] == debugNoLine)
      current = 0;
  }

  void setLine(uint32_t file, uint32_t line) {
    current = 0;
    if (!line || strings[file].empty())
      return;
    uint32_t &number = numbers[{file, line}];
    if (!number) {
      lines.push_back(strings[file] + ":" + std::to_string(line));
      number = static_cast<uint32_t>(lines.size());
    }
    current = number;
  }

  void note(const SpirvInstruction &in) {
    if (in.opcode() == op::functionCall) {
      noteBlock(in);
      return;
    }
    for (const Access &access : accesses(in)) {
      uint32_t type = edit.typeOf(access.pointer);
      std::optional<uint32_t> space = edit.storageOf(type);
      bool global = space && (*space == storage::crossWorkgroup || *space == storage::generic ||
                              *space == storage::uniformConstant);
      if (!global || edit.builtinOf(access.pointer))
        continue;
      std::vector<uint32_t> args{address(access.pointer),
                                 edit.uintConstant(static_cast<uint32_t>(access.bytes)),
                                 edit.uintConstant(current)};
      if (access.offset)
        args.push_back(access.offset);
      edit.call(access.offset ? "xt_access_at" : "xt_access", edit.voidType(), args);
    }
  }

  // Base, width, height, pitch and corner come first of each.
  void noteBlock(const SpirvInstruction &in) {
    if (in.length() < 9 || !blocks.count(in[3]))
      return;
    std::vector<uint32_t> args{address(in[4])};
    args.insert(args.end(), in.at + 5, in.at + 9);
    args.push_back(edit.uintConstant(current));
    edit.call("xt_access_block", edit.voidType(), args);
  }

  uint32_t address(uint32_t pointer) {
    uint32_t type = edit.intType(64), id = edit.newId();
    edit.emit(op::convertPtrToU, {type, id, pointer});
    edit.declareType(id, type);
    return id;
  }

  std::vector<Access> accesses(const SpirvInstruction &in) const {
    unsigned opcode = in.opcode(), length = in.length();
    auto of = [&](unsigned pointer, uint32_t type) -> std::vector<Access> {
      if (pointer >= length)
        return {};
      return {{in[pointer], edit.bytesOf(type)}};
    };
    auto typeOf = [&](unsigned operand) { return operand < length ? edit.typeOf(in[operand]) : 0; };
    switch (opcode) {
    case op::load:
      return of(3, in[1]);
    case op::store:
      return of(1, typeOf(2));
    case op::copyMemory:
    case op::copyMemorySized:
      return copies(in);
    case op::atomicStore:
      return of(1, typeOf(4));
    case op::flagClear:
      return of(1, edit.pointeeOf(typeOf(1)));
    case op::flagTestAndSet:
      return of(3, edit.pointeeOf(typeOf(3)));
    case op::blockRead:
      return wide(of(3, in[1]));
    case op::blockWrite:
      return wide(of(1, typeOf(2)));
    case op::extInst:
      return ofBuiltin(in);
    default:
      bool atomic =
          opcode == op::atomicLoad || (opcode >= op::atomicExchange && opcode <= op::atomicXor) ||
          opcode == op::atomicFMin || opcode == op::atomicFMax || opcode == op::atomicFAdd;
      return atomic ? of(3, in[1]) : std::vector<Access>();
    }
  }

  std::vector<Access> copies(const SpirvInstruction &in) const {
    if (in.length() < 4 - (in.opcode() == op::copyMemory))
      return {};
    uint64_t bytes = in.opcode() == op::copyMemory
                         ? edit.bytesOf(edit.pointeeOf(edit.typeOf(in[1])))
                         : edit.constantOf(in[3]).value_or(1);
    return {{in[1], bytes}, {in[2], bytes}};
  }

  static std::vector<Access> wide(std::vector<Access> accesses) {
    for (Access &access : accesses)
      access.bytes *= largestSubgroup;
    return accesses;
  }

  std::vector<Access> ofBuiltin(const SpirvInstruction &in) const {
    auto set = in.length() > 6 ? sets.find(in[3]) : sets.end();
    if (set == sets.end() || set->second != "OpenCL.std")
      return {};
    bool loads = in[4] == vload, stores = in[4] == vstore && in.length() > 7;
    if (!loads && !stores)
      return {};
    // Three components lie without a fourth here.
    uint32_t type = loads ? in[1] : edit.typeOf(in[5]);
    uint64_t bytes = edit.bytesOf(edit.elementOf(type)) * edit.lanesOf(type);
    return {{in[loads ? 6 : 7], bytes, in[loads ? 5 : 6]}};
  }

  SpirvEdit edit;
  std::map<uint32_t, std::string> strings, sets;
  std::map<uint32_t, uint32_t> sources;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;
  /// Functions of 2D blocks.
  std::set<uint32_t> blocks;
  std::vector<std::string> lines;
  /// The line's number; 0 where none is known.
  uint32_t current = 0;
};

constexpr const char *wantKernel = "xt_want_access", *takeKernel = "xt_take_lines";
// The line of the access at the address, that of another one outside, that of the block.
constexpr unsigned recordWords = 3;

constexpr const char *commonText = R"cl(
#ifndef XT_ACCESS
#define XT_ACCESS
__global ulong xt_wanted[9];
__global uint xt_lines[3];
void xt_note_access(ulong address, ulong bytes, uint line) {
  ulong end = address + bytes;
  if (end <= xt_wanted[0] || address >= xt_wanted[1] || (address >= xt_wanted[2] && end <= xt_wanted[3]))
    return;
  bool exact = address <= xt_wanted[4] && xt_wanted[4] < end;
  atomic_cmpxchg(xt_lines + (exact ? 0 : 1), 0u, line);
}
void xt_note_block(ulong base, int width, int height, int pitch, int2 corner, uint line) {
  ulong extent = (uint)width | (ulong)(uint)height << 32;
  ulong rest = (uint)pitch | (ulong)(uint)corner.x << 32;
  if (base != xt_wanted[5] || extent != xt_wanted[6] || ((rest ^ xt_wanted[7]) & xt_wanted[8]))
    return;
  atomic_cmpxchg(xt_lines + 2, 0u, line);
}
__kernel void xt_want_access(ulong begin, ulong end, ulong data, ulong data_end, ulong address, ulong base,
                             ulong extent, ulong rest, ulong mask) {
  ulong wanted[] = {begin, end, data, data_end, address, base, extent, rest, mask};
  for (int i = 0; i < 9; ++i)
    xt_wanted[i] = wanted[i];
}
__kernel void xt_take_lines(__global uint *out) {
  for (int i = 0; i < 3; ++i) {
    out[i] = xt_lines[i];
    xt_lines[i] = 0;
  }
}
#endif
)cl";

} // namespace

LinedSpirv noteAccesses(const std::vector<uint32_t> &spirv) { return LineNoter(spirv).run(); }

bool isAccessNote(const SpirvImport &import) { return import.name.rfind("xt_access", 0) == 0; }

void addAccessNote(BuiltinText &out, const SpirvImport &import) {
  out.add(commonText);
  if (import.name == "xt_access_block")
    out.addHead(import, {"base", "width", "height", "pitch", "corner", "line"});
  else if (import.parameters.size() > 3)
    out.addHead(import, {"address", "bytes", "line", "offset"});
  else
    out.addHead(import, {"address", "bytes", "line"});
  out.add(import.name == "xt_access_block"
              ? " { xt_note_block(base, width, height, pitch, corner, line); }\n"
          : import.parameters.size() > 3
              ? " { xt_note_access(address + (ulong)offset * bytes, bytes, line); }\n"
              : " { xt_note_access(address, bytes, line); }\n");
}

void wantAccess(cl_program program, cl_command_queue queue, const WantedAccess &wanted) {
  const char *action = "looking for the line of an access";
  cl_int status = CL_SUCCESS;
  cl_kernel want = clCreateKernel(program, wantKernel, &status);
  check(status, action);
  const std::array<uint64_t, 9> values{wanted.begin,
                                       wanted.end,
                                       wanted.data,
                                       wanted.dataEnd,
                                       wanted.address,
                                       wanted.base,
                                       wanted.width | uint64_t(wanted.height) << 32,
                                       wanted.pitch | uint64_t(wanted.x) << 32,
                                       wanted.hasX ? ~uint64_t(0) : 0xffffffff};
  for (cl_uint i = 0; i < values.size() && status == CL_SUCCESS; ++i)
    status = clSetKernelArg(want, i, sizeof(uint64_t), &values[i]);
  size_t one = 1;
  if (status == CL_SUCCESS)
    status = clEnqueueNDRangeKernel(queue, want, 1, nullptr, &one, &one, 0, nullptr, nullptr);
  clReleaseKernel(want);
  check(status, action);
}

uint32_t takeLine(cl_context context, cl_program program, cl_command_queue queue) {
  std::vector<uint32_t> record = takeRecord(context, program, queue, takeKernel, recordWords,
                                            "looking for the line of an access");
  for (uint32_t line : record)
    if (line)
      return line;
  return 0;
}

} // namespace xetile::runtime
