//===- NarrowFloats.h - conversions that no instruction does -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_LOWERING_NARROWFLOATS_H
#define XETILE_TARGET_CPU_LOWERING_NARROWFLOATS_H

#include "mlir/IR/PatternMatch.h"

namespace xetile {

/// True if `op` of the arith dialect computes with bf16, converts from or to it, or truncates f64
/// to f16: LLVM lowers those to libcalls of the compiler's runtime, one per lane.
bool computesNarrow(mlir::Operation *op);

/// Replaces such an op by ops on f32 and integers. They round once, subnormals as all others.
void lowerNarrow(mlir::RewriterBase &rewriter, mlir::Operation *op);

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOWERING_NARROWFLOATS_H
