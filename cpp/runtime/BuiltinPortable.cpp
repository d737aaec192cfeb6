// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinPortable.cpp: what PortableSpirv.cpp calls in place of instructions.
// Input: its functions; output: their definitions in OpenCL C.
// Refused: nothing.
//
// Reversed ids: the device runs the subgroups of a workgroup one after another between barriers.
// The first one does the work of the last here, so that what depends on their order comes out
// differently. So do workgroups: one after another they go through memory from its end to its
// begin, where jumps forwards would leave caches nothing to fetch ahead, which took three times the
// time. Where work-items are not numbered subgroup by subgroup, or the last subgroup is not full,
// all stay.
#include "AccessLines.h"
#include "BuiltinText.h"
#include "CompileTime.h"
#include "SurfaceCheck.h"

#include <cstdio>

namespace xetile::runtime {

namespace {

bool begins(const std::string &text, const char *start) { return text.rfind(start, 0) == 0; }
bool begins(const SpirvImport &import, const char *start) { return begins(import.name, start); }

// To nearest even, as SPV_INTEL_tensor_float32_conversion says; NaN stays NaN.
void addRound(BuiltinText &out, const SpirvImport &import) {
  std::string n = import.result.lanes == 1 ? "" : number(import.result.lanes);
  out.add(expand(R"cl(
float@n@ @name@(float@n@ x) {
  uint@n@ bits = as_uint@n@(x);
  float@n@ rounded = as_float@n@((bits + 0xfffu + (bits >> 13 & 1u)) & 0xffffe000u);
  return isnan(x) ? x : rounded;
}
)cl",
                 {{"n", n}, {"name", import.name}}));
}

/// Of a workgroup: its number, its first id, how far its last one is from that, and the first one
/// in it; "" for what work-items do not have in common.
std::string valueOfGroup(const std::string &what, const std::string &axis) {
  if (begins(what, "group"))
    return "xt_mirrored_group(" + axis + ")";
  if (begins(what, "begin"))
    return "get_global_offset(" + axis + ") + xt_mirrored_group(" + axis +
           ") * (int)get_local_size(" + axis + ")";
  if (begins(what, "far"))
    return "get_local_size(" + axis + ") - 1";
  return begins(what, "zero") ? "0" : "";
}

void addReversedId(BuiltinText &out, const SpirvImport &import) {
  out.add(R"cl(
#ifndef XT_REVERSED
#define XT_REVERSED
#define XT_INLINE __attribute__((always_inline))
#define XT_SUBGROUP uint own, uint count, uint size
// Subgroups are parts of rows of work-items. How far behind the work-item its mirror image is along an
// axis is the same for a subgroup, and told without a branch, so that the driver still sees that lanes
// access one element after another: else each access is one of every lane.
XT_INLINE int xt_mirror(uint axis, XT_SUBGROUP) {
  uint x = get_local_size(0), y = get_local_size(1), z = get_local_size(2), parts = x / size;
  int far = axis == 0   ? (int)(parts - 1 - 2 * (own % parts)) * (int)size
            : axis == 1 ? (int)(y - 1 - 2 * (own / parts % y))
                        : (int)(z - 1 - 2 * (own / parts / y));
  return x % size ? 0 : far;
}
// Signed: a sum that may not overflow keeps lanes one after another in the eyes of the driver, where a
// kernel makes 32 bits of it, too.
XT_INLINE int xt_mirrored_id(uint axis, XT_SUBGROUP) {
  return (int)get_local_id(axis) + xt_mirror(axis, own, count, size);
}
XT_INLINE int xt_mirrored_group(uint axis) {
  return (int)get_num_groups(axis) - 1 - (int)get_group_id(axis);
}
XT_INLINE int xt_mirrored_global_id(uint axis, XT_SUBGROUP) {
  int groups = xt_mirrored_group(axis) - (int)get_group_id(axis);
  return (int)get_global_id(axis) + (groups * (int)get_local_size(axis) + xt_mirror(axis, own, count, size));
}
#endif
)cl");
  std::string what = import.name.substr(12), axis = number(what.empty() ? 0 : what.back() - 'x');
  auto id = [](const std::string &name, const std::string &axis) {
    return "xt_mirrored" + name + "(" + axis + ", own, count, size)";
  };
  auto global = [&](const std::string &axis) {
    return "(" + id("_global_id", axis) + " - get_global_offset(" + axis + "))";
  };
  std::string value =
      what == "subgroup"       ? "get_local_size(0) % size ? own : count - 1 - own"
      : what == "index"        ? "(" + id("_id", "2") + " * get_local_size(1) + " + id("_id", "1") +
                                     ") * get_local_size(0) + " + id("_id", "0")
      : what == "global_index" ? "(" + global("2") + " * get_global_size(1) + " + global("1") +
                                     ") * get_global_size(0) + " + global("0")
      : what.rfind("global", 0) == 0 ? id("_global_id", axis)
                                     : id("_id", axis);
  std::string type = import.result.bits == 32 ? "uint" : "ulong";
  std::string ofGroup = valueOfGroup(what, axis);
  if (!ofGroup.empty()) {
    out.add("XT_INLINE " + type + " " + import.name + "(void) { return (" + type + ")(" + ofGroup +
            "); }\n");
    return;
  }
  out.add("XT_INLINE " + type + " " + import.name + "(XT_SUBGROUP) { return (" + type + ")(" +
          value + "); }\n");
}

// The message of a plain function, with what the payload was made of.
void addPayloadMessage(BuiltinText &out, const SpirvImport &import) {
  bool stores = begins(import, "xt_payload_write");
  BlockIo block{};
  block.kind = stores ? BlockIo::Write : BlockIo::Read;
  std::sscanf(import.name.c_str() + import.name.find("_u"), "_u%u_m%uk%uv%u", &block.bits,
              &block.rows, &block.columns, &block.blocks);
  SpirvType word{SpirvType::Int, 32};
  SpirvType global{SpirvType::Pointer, 64, 1, storage::crossWorkgroup};
  SpirvType own{SpirvType::Pointer, 64, 1, storage::function};
  SpirvImport plain{"xt_block_of_" + import.name,
                    {SpirvType::Void},
                    {global, word, word, word, {SpirvType::Int, 32, 2}, own}};
  if (out.checkBlocks) {
    SpirvImport unchecked = plain;
    unchecked.name = "xt_unchecked_" + plain.name;
    addBlockIo(out, unchecked, block);
    addCheckedBlockIo(out, plain, block, unchecked.name);
  } else {
    addBlockIo(out, plain, block);
  }
  if (stores)
    out.addHead(import, {"base", "width", "height", "pitch", "x", "y", "dx", "dy", "value"});
  else
    out.addHead(import, {"base", "width", "height", "pitch", "x", "y", "dx", "dy"});
  out.add(expand(R"cl( {
  @type@ own@value@;
  @plain@((@global@)base, width + 1, height + 1, pitch + 1, (int2)(x + dx, y + dy), (@own@)&own);@return@
}
)cl",
                 {{"type", (stores ? import.parameters.back() : import.result).openclName()},
                  {"value", stores ? " = value" : ""},
                  {"return", stores ? "" : "\n  return own;"},
                  {"plain", plain.name},
                  {"global", global.openclName()},
                  {"own", own.openclName()}}));
}

} // namespace

bool isPortablePart(const SpirvImport &import) {
  return begins(import, "xt_reversed_") || begins(import, "xt_round_to_tf32_") ||
         begins(import, "xt_payload_") || isAccessNote(import) || isCompileTimePart(import) ||
         import.name == "xt_in_subgroups";
}

void addPortablePart(BuiltinText &out, const SpirvImport &import) {
  if (isAccessNote(import))
    addAccessNote(out, import);
  else if (isCompileTimePart(import))
    addCompileTimePart(out, import);
  else if (begins(import, "xt_reversed_"))
    addReversedId(out, import);
  else if (begins(import, "xt_round_to_tf32_"))
    addRound(out, import);
  else if (begins(import, "xt_payload_"))
    addPayloadMessage(out, import);
  else // Volatile: an unused value would be gone when the driver looks.
    out.add("void xt_in_subgroups(void) { volatile uint lane = get_sub_group_local_id(); }\n");
}

} // namespace xetile::runtime
