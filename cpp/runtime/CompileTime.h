// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CompileTime.h: kernels that Intel's OpenCL driver for CPUs compiles sooner.
// Input: a module as makePortable() leaves it; output: one that computes the same, of which that
// driver makes less code. Refused: nothing.
#ifndef XETILE_RUNTIME_COMPILETIME_H
#define XETILE_RUNTIME_COMPILETIME_H

#include "BuiltinText.h"
#include "PortableSpirv.h"

#include <cstdint>
#include <vector>

namespace xetile::runtime {

/// Which workgroups a kernel that requires a size of its subgroups is made for.
enum class Subgroups {
  /// Those whose first axis is a multiple of that size; in others it does nothing. The driver then
  /// has no use for a second form of the kernel, with masks, which is most of what it compiles.
  Whole,
  Any
};

/// The notes are those of this step.
PortableSpirv shortenCompilation(const std::vector<uint32_t> &spirv, Subgroups subgroups);

/// The functions that it calls.
bool isCompileTimePart(const SpirvImport &import);
void addCompileTimePart(BuiltinText &out, const SpirvImport &import);

} // namespace xetile::runtime
#endif
