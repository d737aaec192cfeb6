//===- PartialSums.h - sums of several threads of k --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_PARTIALSUMS_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_PARTIALSUMS_H

#include "mlir/IR/PatternMatch.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/DeepTilePlan.h"

namespace xetile {

/// A tensor for the sums of all threads of k, the thread being the first dimension.
mlir::Value createPartials(mlir::OpBuilder &b, mlir::Location loc, const DeepTilePlan &plan);

/// Adds the sums of all threads and what the matmul adds to.
mlir::Value addPartials(mlir::OpBuilder &b, mlir::Location loc, const DeepTilePlan &plan,
                        mlir::Value partials);

/// Makes the op that adds partial sums and the consumer of its result one op, where that can be
/// done; returns the consumer's result.
mlir::Value fuseReduction(mlir::RewriterBase &rewriter, mlir::Value sum,
                          mlir::linalg::GenericOp consumer);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_PARTIALSUMS_H
