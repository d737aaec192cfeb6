// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PrefetchCheck.cpp: prefetches by address payloads, and the check of where prefetches point.
// Input: imported prefetch functions; output: OpenCL C that does nothing, or that keeps a record of
// each prefetch, and what that record says after a launch. Refused: records that tell of a prefetch
// outside of the matrix that it names.
//
// A payload is an opaque pointer to the kernel. The checked definitions make it a serial number of
// an entry in a ring of payloads in global memory, which lane 0 fills. A loop's prefetches run
// ahead of its loads and so past an edge in the last steps: that is no mistake, the hardware reads
// nothing there. These are: a block left of or above the matrix, or behind both edges; a matrix of
// which no prefetch touches anything; one that does not fit the memory at its base.
#include "PrefetchCheck.h"

#include "Errors.h"
#include "LaunchRecord.h"
#include "Memory.h"

#include <cstdlib>
#include <mutex>
#include <vector>

namespace xetile::runtime {
namespace {

constexpr unsigned payloadSlots = 1 << 16, surfaceSlots = 64, surfaceWords = 8;
// The record, in words of 32 bits: the fault (its kind, then what prefetch it was), the sum, the
// surfaces that found no place, and the table of surfaces.
enum Word { Fault, BaseLow, BaseHigh, Width, Height, Pitch, X, Y, Bytes, Columns, Rows, Sum, Lost };
constexpr unsigned headWords = 16, recordWords = headWords + surfaceSlots * surfaceWords;
enum FaultKind : uint32_t { None, Negative, BothEdges, StalePayload, WrongShape };

PrefetchCounters last;
std::mutex lastMutex;

std::string elementText(const std::vector<uint32_t> &record) {
  return std::to_string(record[Columns]) + " columns and " + std::to_string(record[Rows]) +
         " rows of " + std::to_string(record[Bytes]) +
         "-byte elements at x = " + std::to_string(static_cast<int32_t>(record[X])) +
         ", y = " + std::to_string(static_cast<int32_t>(record[Y]));
}

std::string surfaceText(uint32_t width, uint32_t height, uint32_t pitch) {
  return "a matrix of " + std::to_string(height) + " rows of " + std::to_string(width) +
         " bytes with a pitch of " + std::to_string(pitch);
}

void report(const std::string &kernel, const std::string &what) {
  throw Error("XETILE_CHECK_PREFETCHES: the kernel '" + kernel + "' prefetches " + what +
              ". The results are right, but the prefetch is of no use: change its offsets, or the "
              "matrix that it names");
}

void examineFault(const std::vector<uint32_t> &record, const std::string &kernel) {
  std::string surface = surfaceText(record[Width], record[Height], record[Pitch]);
  switch (record[Fault]) {
  case None:
    return;
  case Negative:
    report(kernel, elementText(record) + " of " + surface + ", left of it or above it");
    return;
  case BothEdges:
    report(kernel, elementText(record) + " of " + surface + ", behind its right and bottom edges");
    return;
  case StalePayload:
    report(kernel, "by an address payload that was not created, or more than " +
                       std::to_string(payloadSlots) + " payloads before");
    return;
  default:
    report(kernel, elementText(record) + ", another shape than its address payload has");
  }
}

void examineSurface(const uint32_t *entry, const std::string &kernel) {
  uint64_t base = entry[3] | uint64_t(entry[4]) << 32;
  uint32_t inside = entry[1], ahead = entry[2], width = entry[5], height = entry[6],
           pitch = entry[7];
  std::string surface = surfaceText(width, height, pitch);
  if (!inside)
    report(kernel, std::to_string(ahead) + " blocks of " + surface + ", and none lies in it");
  if (std::optional<size_t> rest = bytesBehind(reinterpret_cast<const void *>(base))) {
    uint64_t needed = height ? uint64_t(pitch) * (height - 1) + width : 0;
    if (needed > *rest)
      report(kernel, surface + ", which needs " + std::to_string(needed) +
                         " bytes, from memory of which " + std::to_string(*rest) +
                         " are behind its base");
  }
}

} // namespace

bool checksPrefetches() {
  const char *chosen = std::getenv("XETILE_CHECK_PREFETCHES");
  std::string value = chosen ? chosen : "";
  if (value.empty() || value == "0")
    return false;
  if (value == "1")
    return true;
  throw Error("XETILE_CHECK_PREFETCHES='" + value + "' is neither '0' nor '1'");
}

// Long: one program in OpenCL C.
std::string prefetchRecordText() {
  return expand(R"cl(
typedef struct {
  ulong base;
  uint serial, width, height, pitch, columns, rows, blocks;
  int x, y;
} Xt_Payload;
__global Xt_Payload xt_payloads[@slots@];
__global uint xt_serial;
__global uint xt_record[@words@];

void xt_fault(uint kind, ulong base, uint width, uint height, uint pitch, int x, int y, uint bytes,
              uint columns, uint rows) {
  if (atomic_cmpxchg(&xt_record[0], 0u, kind) != 0u)
    return;
  uint words[] = {(uint)base, (uint)(base >> 32), width, height, pitch, (uint)x, (uint)y, bytes, columns, rows};
  for (int i = 0; i < 10; ++i)
    xt_record[1 + i] = words[i];
}

uint xt_mix(uint sum, uint value) {
  sum = (sum ^ value) * 0x9E3779B1u;
  return sum ^ (sum >> 15);
}

void xt_prefetch(ulong base, uint width, uint height, uint pitch, int x, int y, uint bytes, uint columns,
                 uint rows) {
  uint surface = xt_mix(xt_mix(xt_mix(xt_mix(xt_mix(1u, (uint)base), (uint)(base >> 32)), width), height), pitch);
  uint where = xt_mix(xt_mix(xt_mix(xt_mix(xt_mix(xt_mix(1u, width), height), pitch), (uint)x), (uint)y), bytes);
  atomic_add(&xt_record[@sum@], xt_mix(xt_mix(where, columns), rows));
  bool right = (long)x * bytes >= width, below = y >= (int)height;
  if (x < 0 || y < 0)
    xt_fault(@negative@, base, width, height, pitch, x, y, bytes, columns, rows);
  else if (right && below)
    xt_fault(@both@, base, width, height, pitch, x, y, bytes, columns, rows);
  surface |= 1u;
  for (uint i = 0; i < @surfaces@; ++i) {
    __global uint *entry = xt_record + @head@ + (surface + i) % @surfaces@ * @surface_words@;
    uint there = atomic_cmpxchg(entry, 0u, surface);
    if (there != 0u && there != surface)
      continue;
    if (there == 0u) {
      entry[3] = (uint)base;
      entry[4] = (uint)(base >> 32);
      entry[5] = width;
      entry[6] = height;
      entry[7] = pitch;
    }
    atomic_inc(entry + (right || below ? 2 : 1));
    return;
  }
  atomic_inc(&xt_record[@lost@]);
}

__global Xt_Payload *xt_payload(ulong serial) {
  __global Xt_Payload *payload = xt_payloads + serial % @slots@;
  return serial != 0 && payload->serial == (uint)serial ? payload : 0;
}

ulong xt_create(ulong base, uint width, uint height, uint pitch, int x, int y, uint columns, uint rows,
                uint blocks) {
  ulong serial = 0;
  if (get_sub_group_local_id() == 0) {
    do
      serial = atomic_inc(&xt_serial) + 1u;
    while (serial == 0);
    __global Xt_Payload *payload = xt_payloads + serial % @slots@;
    payload->base = base;
    payload->serial = (uint)serial;
    payload->width = width;
    payload->height = height;
    payload->pitch = pitch;
    payload->columns = columns;
    payload->rows = rows;
    payload->blocks = blocks;
    payload->x = x;
    payload->y = y;
  }
  return sub_group_broadcast(serial, 0);
}

__kernel void xt_take_record(__global uint *out) {
  for (int i = 0; i < @words@; ++i) {
    out[i] = xt_record[i];
    xt_record[i] = 0;
  }
}
)cl",
                {{"slots", number(payloadSlots)},
                 {"words", number(recordWords)},
                 {"sum", number(Sum)},
                 {"lost", number(Lost)},
                 {"head", number(headWords)},
                 {"surfaces", number(surfaceSlots)},
                 {"surface_words", number(surfaceWords)},
                 {"negative", number(Negative)},
                 {"both", number(BothEdges)}});
}

void addPrefetch(BuiltinText &out, const SpirvImport &import, const BlockIo &block) {
  out.addHead(import, {"base", "width", "height", "pitch", "corner"});
  if (!out.checkPrefetches) {
    out.add(" {}\n");
    return;
  }
  out.add(expand(R"( {
  if (get_sub_group_local_id() == 0)
    xt_prefetch((ulong)base, width, height, pitch, corner.x, corner.y, @bytes@, @columns@, @rows@);
}
)",
                 {{"bytes", number(block.elementBytes())},
                  {"columns", number(block.columns * block.blocks)},
                  {"rows", number(block.rows)}}));
}

static void addPayloadHead(BuiltinText &out, const SpirvImport &import, const PayloadCall &call) {
  switch (call.kind) {
  case PayloadCall::Create:
    return out.addHead(import,
                       {"base", "width", "height", "pitch", "x", "y", "columns", "rows", "blocks"});
  case PayloadCall::Copy:
    return out.addHead(import, {"payload"});
  case PayloadCall::Update:
    return out.addHead(import, {"payload", "value"});
  case PayloadCall::Prefetch:
  case PayloadCall::Load:
    return out.addHead(import, {"payload", "x", "y", "cache"});
  case PayloadCall::Store:
    return out.addHead(import, {"payload", "x", "y", "value", "cache"});
  }
}

static std::string payloadBody(const PayloadCall &call) {
  switch (call.kind) {
  case PayloadCall::Create:
    return "  return (@pointer@)xt_create((ulong)base, width + 1, height + 1, pitch + 1, x, y, "
           "columns, rows, "
           "blocks);\n";
  case PayloadCall::Copy:
    return "  __global Xt_Payload *from = xt_payload((ulong)payload);\n"
           "  return from ? (@pointer@)xt_create(from->base, from->width, from->height, "
           "from->pitch, from->x, "
           "from->y, from->columns, from->rows, from->blocks) : 0;\n";
  case PayloadCall::Update:
    return "  __global Xt_Payload *there = xt_payload((ulong)payload);\n"
           "  if (get_sub_group_local_id() == 0 && there)\n"
           "    there->@field@ @assign@ value@offset@;\n";
  case PayloadCall::Prefetch:
    return R"(  __global Xt_Payload *from = xt_payload((ulong)payload);
  if (get_sub_group_local_id() != 0)
    return;
  if (!from)
    xt_fault(@stale@, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  else if (from->columns != @columns@ || from->rows != @rows@ || from->blocks != @blocks@)
    xt_fault(@shape@, from->base, from->width, from->height, from->pitch, from->x, from->y, @bytes@,
             @all_columns@, @rows@);
  else
    xt_prefetch(from->base, from->width, from->height, from->pitch, from->x + x, from->y + y, @bytes@,
                @all_columns@, @rows@);
)";
  case PayloadCall::Load:
  case PayloadCall::Store: // PortableSpirv.cpp calls another function in its place.
    break;
  }
  return {};
}

void addPayload(BuiltinText &out, const SpirvImport &import, const PayloadCall &call) {
  addPayloadHead(out, import, call);
  bool makes = call.kind == PayloadCall::Create || call.kind == PayloadCall::Copy;
  bool loads = call.kind == PayloadCall::Load;
  if (!out.checkPrefetches || loads || call.kind == PayloadCall::Store) {
    out.add(makes || loads ? " { return 0; }\n" : " {}\n");
    return;
  }
  out.add(
      " {\n" +
      expand(payloadBody(call), {{"pointer", import.result.openclName()},
                                 {"field", call.field},
                                 {"assign", call.adds ? "+=" : "="},
                                 {"offset", call.lessOne ? " + 1" : ""},
                                 {"stale", number(StalePayload)},
                                 {"shape", number(WrongShape)},
                                 {"bytes", number(call.block.elementBytes())},
                                 {"all_columns", number(call.block.columns * call.block.blocks)},
                                 {"columns", number(call.block.columns)},
                                 {"rows", number(call.block.rows)},
                                 {"blocks", number(call.block.blocks)}}) +
      "}\n");
}

void examinePrefetches(cl_context context, cl_program program, cl_command_queue queue,
                       const std::string &kernel) {
  std::vector<uint32_t> record = takeRecord(context, program, queue, "xt_take_record", recordWords,
                                            "reading what was prefetched");
  PrefetchCounters counters;
  counters.sum = record[Sum];
  for (unsigned i = 0; i < surfaceSlots; ++i) {
    const uint32_t *entry = &record[headWords + i * surfaceWords];
    counters.prefetches += uint64_t(entry[1]) + entry[2];
    counters.ahead += entry[2];
  }
  counters.prefetches += record[Lost];
  {
    std::lock_guard<std::mutex> lock(lastMutex);
    last = counters;
  }
  examineFault(record, kernel);
  for (unsigned i = 0; i < surfaceSlots; ++i)
    if (const uint32_t *entry = &record[headWords + i * surfaceWords]; entry[0])
      examineSurface(entry, kernel);
}

PrefetchCounters lastPrefetches() {
  std::lock_guard<std::mutex> lock(lastMutex);
  return last;
}

} // namespace xetile::runtime
