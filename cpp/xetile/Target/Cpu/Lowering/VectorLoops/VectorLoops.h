//===- VectorLoops.h - loops of vectors for a linalg op ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_LOWERING_VECTORLOOPS_VECTORLOOPS_H
#define XETILE_TARGET_CPU_LOWERING_VECTORLOOPS_VECTORLOOPS_H

#include "mlir/IR/PatternMatch.h"
#include "xetile/Target/Cpu/Lowering/VectorLoops/VectorPlan.h"

namespace xetile {

/// Replaces `op` by loops of the vectors of `plan`: over the parallel dimensions, in the order of
/// the result; then over vectors, several of them at a time where sums are kept in registers; over
/// the reduced dimensions inside. What is left of a row is masked.
void emitVectorLoops(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op,
                     const VectorPlan &plan);

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOWERING_VECTORLOOPS_VECTORLOOPS_H
