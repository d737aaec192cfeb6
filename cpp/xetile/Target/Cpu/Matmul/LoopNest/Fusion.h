//===- Fusion.h - elementwise work before and after a matmul -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_FUSION_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_FUSION_H

#include "xetile/Linalg/Contraction.h"

namespace xetile {

/// The ops that are fused into a deep-tiled matmul: one merged producer of A and of B, one merged
/// consumer; null if there is none or it has other uses.
struct Fusion {
  std::array<mlir::linalg::GenericOp, 2> producers;
  mlir::linalg::GenericOp consumer;
};

/// Merges the chains of elementwise ops that lead to and away from `matmul`, each to one op.
/// Results that are used more than once stay as they are and end a chain.
Fusion mergeNeighbours(mlir::RewriterBase &rewriter, const Contraction &matmul);

/// `body` on vectors of `count` elements: `arguments` take the place of its arguments, which may be
/// scalars where they are the same for all elements. Returns what it yields.
mlir::Value cloneOnVectors(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &body,
                           mlir::ValueRange arguments, int64_t count);

/// The same on several vectors, one step on all of them before the next: CPUs look ahead over some
/// hundred instructions, which are to be those of different vectors.
llvm::SmallVector<mlir::Value>
cloneInterleaved(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block &body,
                 llvm::ArrayRef<llvm::SmallVector<mlir::Value>> arguments, int64_t count);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_FUSION_H
