//===- LaneSums.h - sums whose lanes are parts of k --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_LANESUMS_H
#define XETILE_TARGET_CPU_MICROKERNEL_LANESUMS_H

#include "xetile/Target/Cpu/Microkernel/KernelBuilder.h"

namespace xetile {

/// Computes all rows and columns of C from vectors along k of both operands, where they are.
void emitLaneSums(const KernelBuilder &kernel, const SumStart &start, Indices &place);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_LANESUMS_H
