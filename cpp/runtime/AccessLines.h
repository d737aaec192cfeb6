// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AccessLines.h: which line of the source accessed a place, for XETILE_CHECK.
// Input: a SPIR-V module with debug lines; output: the same with a call in front of each access of
// global memory, which keeps the line of the one that is looked for. Refused: nothing; a module
// without lines has none to tell.
#ifndef XETILE_RUNTIME_ACCESSLINES_H
#define XETILE_RUNTIME_ACCESSLINES_H

#include "BuiltinText.h"
#include "OpenCL.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace xetile::runtime {

struct LinedSpirv {
  std::vector<uint32_t> words;
  /// "file:line"; a call has the number of its line, counted from 1.
  std::vector<std::string> lines;
};

LinedSpirv noteAccesses(const std::vector<uint32_t> &spirv);

/// The functions that noteAccesses() calls.
bool isAccessNote(const SpirvImport &import);
void addAccessNote(BuiltinText &out, const SpirvImport &import);

/// To look for: an access outside of an array: of the bytes from `begin` to `end`, but not of
/// those from `data` to `dataEnd`; at `address`, if one is there. A 2D block message: its matrix,
/// and x where `hasX`.
struct WantedAccess {
  uint64_t begin = 0, end = 0, data = 0, dataEnd = 0, address = 0;
  uint64_t base = 0;
  uint32_t width = 0, height = 0, pitch = 0, x = 0;
  bool hasX = false;
};

/// Before a launch of a kernel of `program`, and after it: the line's number, 0 if there was none.
void wantAccess(cl_program program, cl_command_queue queue, const WantedAccess &wanted);
uint32_t takeLine(cl_context context, cl_program program, cl_command_queue queue);

} // namespace xetile::runtime
#endif
