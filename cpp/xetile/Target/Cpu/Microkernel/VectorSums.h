//===- VectorSums.h - sums in vector registers -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_VECTORSUMS_H
#define XETILE_TARGET_CPU_MICROKERNEL_VECTORSUMS_H

#include "xetile/Target/Cpu/Microkernel/KernelBuilder.h"

namespace xetile {

/// A part of C, [rowLow, rowHigh) x [columnLow, columnHigh).
struct Area {
  Index rowLow, rowHigh, columnLow, columnHigh;
};

/// Computes `area` in register tiles, in steps of k from `firstStep` on.
void emitVectorSums(const KernelBuilder &kernel, const SumStart &start, Index firstStep,
                    Indices &place, const Area &area);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_VECTORSUMS_H
