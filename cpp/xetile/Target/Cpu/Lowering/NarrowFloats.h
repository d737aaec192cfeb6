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

/// `value` of f32 as the nearest bf16. Of a NaN as of all other numbers where `isNanShort`, that is
/// where the low 16 bits of any NaN are zero, or it needs a selection.
mlir::Value roundToBf16(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value value,
                        bool isNanShort);

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOWERING_NARROWFLOATS_H
