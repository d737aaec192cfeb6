// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SurfaceCheck.cpp: the rules of 2D block messages, for XETILE_CHECK.
// Input: imported 2D block functions; output: OpenCL C that keeps the first message that breaks a
// rule, and the surfaces that there were. Refused: records that tell of a broken rule.
//
// The rules are those of pvc, bmg and lnl, which have them in common: `xeSurface` of
// cpp/xetile/Facts/TargetInfo.cpp names their sources, and test/runtime/test_check.py compares.
#include "SurfaceCheck.h"

#include "Errors.h"
#include "LaunchRecord.h"
#include "Memory.h"

namespace xetile::runtime {

const char *const takeSurfacesKernel = "xt_take_surfaces";

namespace {

constexpr unsigned surfaceSlotBits = 10, surfaceSlots = 1u << surfaceSlotBits, surfaceWords = 8;
// The record, in words of 32 bits: the rule that was broken, by which message, and the surfaces.
enum Word { Rule, BaseLow, BaseHigh, Width, Height, Pitch, X, Y, Bytes };
constexpr unsigned headWords = 16, recordWords = headWords + surfaceSlots * surfaceWords;

constexpr const char *rules[] = {
    "",
    "expected a base on a boundary of 64 bytes",
    "expected a width from 64 to 2^24 bytes",
    "expected a width in multiples of 4 bytes and of an element",
    "expected a pitch from 64 to 2^24 bytes",
    "expected a pitch in multiples of 16 bytes",
    "expected a pitch that is not less than the width",
    "expected a height from 1 to 2^24 rows",
    "expected x at a boundary of 4 bytes",
};

constexpr uint32_t ruleOfX = 8;

// Long: one program in OpenCL C.
std::string recordText() {
  return expand(R"cl(
#ifndef XT_SURFACES
#define XT_SURFACES
__global uint xt_surfaces[@words@];
#define XT_INLINE static __attribute__((always_inline))
XT_INLINE uint xt_broken_rule(ulong base, int width, int height, int pitch, int x, uint bytes) {
  int limit = 1 << 24;
  return base & 63               ? 1
       : width < 64 || width > limit ? 2
       : width & 3 || width % (int)bytes ? 3
       : pitch < 64 || pitch > limit ? 4
       : pitch & 15              ? 5
       : pitch < width           ? 6
       : height < 1 || height > limit ? 7
       : x * (int)bytes & 3      ? 8 : 0;
}
XT_INLINE uint xt_surface_hash(ulong base, int width, int height, int pitch) {
  return ((uint)base * 0x9E3779B1u ^ (uint)(base >> 32) ^ (uint)width * 0x85EBCA77u ^
          (uint)height * 0xC2B2AE3Du ^ (uint)pitch) * 0x27D4EB2Fu | 1u;
}
XT_FUNCTION void xt_note_surface(ulong base, int width, int height, int pitch, int2 corner, uint bytes) {
  uint rule = xt_broken_rule(base, width, height, pitch, corner.x, bytes);
  if (rule && atomic_cmpxchg(&xt_surfaces[0], 0u, rule) == 0u) {
    uint words[] = {(uint)base, (uint)(base >> 32), width, height, pitch, corner.x, corner.y, bytes};
    for (int i = 0; i < 8; ++i)
      xt_surfaces[1 + i] = words[i];
  }
  uint hash = xt_surface_hash(base, width, height, pitch);
  // By its upper bits: the lower ones are equal for arrays that begin at pages.
  for (uint i = 0; i < 8; ++i) {
    __global uint *entry = xt_surfaces + @head@ + ((hash >> @shift@) + i) % @surfaces@ * @surface_words@;
    uint there = *(volatile __global uint *)entry;
    if (there == hash)
      return;
    if (there == 0u && (there = atomic_cmpxchg(entry, 0u, hash)) == 0u) {
      entry[1] = (uint)base;
      entry[2] = (uint)(base >> 32);
      entry[3] = width;
      entry[4] = height;
      entry[5] = pitch;
      return;
    }
    if (there == hash)
      return;
  }
}
__kernel void xt_take_surfaces(__global uint *out) {
  for (int i = 0; i < @words@; ++i) {
    out[i] = xt_surfaces[i];
    xt_surfaces[i] = 0;
  }
}
#endif
)cl",
                {{"words", number(recordWords)},
                 {"head", number(headWords)},
                 {"surfaces", number(surfaceSlots)},
                 {"shift", number(32 - surfaceSlotBits)},
                 {"surface_words", number(surfaceWords)}});
}

std::string surfaceText(uint32_t width, uint32_t height, uint32_t pitch) {
  return "a matrix of " + std::to_string(static_cast<int32_t>(height)) + " rows of " +
         std::to_string(static_cast<int32_t>(width)) + " bytes with a pitch of " +
         std::to_string(static_cast<int32_t>(pitch));
}

} // namespace

void addCheckedBlockIo(BuiltinText &out, const SpirvImport &import, const BlockIo &block,
                       const std::string &unchecked) {
  out.add(recordText());
  bool prefetch = block.kind == BlockIo::Prefetch;
  out.addHead(import, prefetch ? std::initializer_list<const char *>{"base", "width", "height",
                                                                     "pitch", "corner"}
                               : std::initializer_list<const char *>{"base", "width", "height",
                                                                     "pitch", "corner", "array"});
  // The usual case takes numbers that all lanes have in common, and no call.
  out.add(expand(R"( {
  ulong b = XT_FIRST((ulong)base);
  int w = XT_FIRST(width), h = XT_FIRST(height), p = XT_FIRST(pitch), x = XT_FIRST(corner.x);
  uint hash = xt_surface_hash(b, w, h, p);
  bool known = xt_surfaces[@head@ + (hash >> @shift@) * @surface_words@] == hash;
  if (!known || xt_broken_rule(b, w, h, p, x, @bytes@)) {
    if (get_sub_group_local_id() == 0)
      xt_note_surface(b, w, h, p, corner, @bytes@);
  }
  @unchecked@(base, width, height, pitch, corner@array@);
}
)",
                 {{"bytes", number(block.elementBytes())},
                  {"head", number(headWords)},
                  {"shift", number(32 - surfaceSlotBits)},
                  {"surface_words", number(surfaceWords)},
                  {"unchecked", unchecked},
                  {"array", prefetch ? "" : ", array"}}));
}

std::optional<BrokenMessage> examineSurfaces(cl_context context, cl_program program,
                                             cl_command_queue queue) {
  std::vector<uint32_t> record = takeRecord(context, program, queue, takeSurfacesKernel,
                                            recordWords, "reading which matrices were accessed");
  auto base = [](const uint32_t *at) { return at[0] | uint64_t(at[1]) << 32; };
  if (record[Rule]) {
    uint32_t rule = std::min<uint32_t>(record[Rule], ruleOfX);
    std::string what = "a block of " + std::to_string(record[Bytes]) +
                       "-byte elements at x = " + std::to_string(static_cast<int32_t>(record[X])) +
                       ", y = " + std::to_string(static_cast<int32_t>(record[Y])) + " of " +
                       surfaceText(record[Width], record[Height], record[Pitch]) + ", " +
                       std::to_string(base(&record[BaseLow]) % 64) +
                       " bytes behind a boundary of 64";
    return BrokenMessage{what,          rules[rule],    base(&record[BaseLow]),
                         record[Width], record[Height], record[Pitch],
                         record[X],     rule == ruleOfX};
  }
  for (unsigned i = 0; i < surfaceSlots; ++i) {
    const uint32_t *entry = &record[headWords + i * surfaceWords];
    if (!entry[0])
      continue;
    uint64_t needed = uint64_t(entry[5]) * (entry[4] - 1) + entry[3];
    std::optional<size_t> rest = bytesBehind(reinterpret_cast<const void *>(base(entry + 1)));
    if (!rest || needed > *rest)
      return BrokenMessage{
          "blocks of " + surfaceText(entry[3], entry[4], entry[5]) + ", which needs " +
              std::to_string(needed) + " bytes, and behind its base are " +
              (rest ? std::to_string(*rest) : "none of an array"),
          "expected a matrix that lies within one array: change its height, width or pitch",
          base(entry + 1),
          entry[3],
          entry[4],
          entry[5],
          0,
          false};
  }
  return std::nullopt;
}

} // namespace xetile::runtime
