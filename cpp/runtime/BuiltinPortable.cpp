// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BuiltinPortable.cpp: what PortableSpirv.cpp calls in place of instructions.
// Input: its functions; output: their definitions in OpenCL C.
// Refused: nothing.
//
// Reversed ids: the device runs the subgroups of a workgroup one after another between barriers.
// The first one does the work of the last here, so that what depends on their order comes out
// differently. Where work-items are not numbered subgroup by subgroup, or the last subgroup is not
// full, all stay.
#include "AccessLines.h"
#include "BuiltinText.h"
#include "CompileTime.h"
#include "SurfaceCheck.h"

#include <cstdio>

namespace xetile::runtime {

namespace {

bool begins(const SpirvImport &import, const char *start) {
  return import.name.rfind(start, 0) == 0;
}

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

void addReversedId(BuiltinText &out, const SpirvImport &import) {
  out.add(R"cl(
#ifndef XT_REVERSED
#define XT_REVERSED
// How far behind the work-item its mirror image is: the same for a subgroup, so that the driver still
// sees that its lanes access one element after another.
long xt_mirror(void) {
  long size = get_max_sub_group_size(), x = get_local_size(0), y = get_local_size(1);
  long own = (get_local_id(2) * y + get_local_id(1)) * x + get_local_id(0), which = get_sub_group_id();
  bool numbered = sub_group_all(which * size + get_sub_group_local_id() == own);
  bool full = (uint)(x * y * get_local_size(2)) % (uint)size == 0;
  return numbered && full ? (get_num_sub_groups() - 1 - 2 * which) * size : 0;
}
size_t xt_mirrored(void) {
  size_t x = get_local_size(0), y = get_local_size(1);
  return (get_local_id(2) * y + get_local_id(1)) * x + get_local_id(0) + xt_mirror();
}
// Most groups are rows, and kernels ask for all axes: no division then.
size_t xt_mirrored_id(uint axis) {
  uint x = get_local_size(0), y = get_local_size(1);
  if (y * (uint)get_local_size(2) == 1)
    return axis == 0 ? get_local_id(0) + xt_mirror() : 0;
  uint id = xt_mirrored();
  return axis == 0 ? id % x : axis == 1 ? id / x % y : id / (x * y);
}
size_t xt_mirrored_global_id(uint axis) {
  return get_global_id(axis) + (long)xt_mirrored_id(axis) - (long)get_local_id(axis);
}
#endif
)cl");
  std::string what = import.name.substr(12), axis = number(what.empty() ? 0 : what.back() - 'x');
  std::string value = what == "subgroup" ? "xt_mirrored() / get_max_sub_group_size()"
                      : what == "index"  ? "xt_mirrored()"
                      : what == "global_index"
                          ? "((xt_mirrored_global_id(2) - get_global_offset(2)) * "
                            "get_global_size(1) + xt_mirrored_global_id(1) - "
                            "get_global_offset(1)) * get_global_size(0) + "
                            "xt_mirrored_global_id(0) - get_global_offset(0)"
                      : what.rfind("global", 0) == 0 ? "xt_mirrored_global_id(" + axis + ")"
                                                     : "xt_mirrored_id(" + axis + ")";
  std::string type = import.result.bits == 32 ? "uint" : "ulong";
  out.add(type + " " + import.name + "(void) { return (" + type + ")(" + value + "); }\n");
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
