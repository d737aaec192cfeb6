//===- TileSums.h - sums in tile registers -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_TILESUMS_H
#define XETILE_TARGET_CPU_MICROKERNEL_TILESUMS_H

#include "xetile/Target/Cpu/Microkernel/VectorSums.h"

namespace xetile {

/// True if AMX tiles can hold the sums: their types, layouts and sizes.
bool fitsTiles(const KernelPlan &plan);

/// Computes what fills whole AMX tiles and returns the part of C that it did.
Area emitTileSums(const KernelBuilder &kernel, const SumStart &start, Indices &place);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_TILESUMS_H
