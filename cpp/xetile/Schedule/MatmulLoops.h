//===- MatmulLoops.h - the matmuls that schedules for GPUs take --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_MATMULLOOPS_H
#define XETILE_SCHEDULE_MATMULLOOPS_H

#include "xetile/Linalg/Contraction.h"

namespace xetile::transform_ops {

/// A contraction C[.., m, n] += A[.., m, k] * B[.., k, n] with the loops that tiles run along;
/// each operand may have its dimensions in any order. Loops besides m, n and k (batches, others of
/// m and n) are `outer`.
struct MatmulLoops : Contraction {
  unsigned m = 0, n = 0, k = 0;         // numbers of loops
  llvm::SmallVector<unsigned, 2> outer; // in the order of the result's dimensions
  unsigned a = 0, b = 1;                // which input has m, which n

  /// True if the loops are in the order m, n, k, outer.
  bool isNormalized() const;
};

/// True if `op` multiplies and adds as a matmul does, whatever its types and sizes.
bool looksLikeMatmul(mlir::Operation *op);

/// The loops of `op`, or why a schedule cannot take it.
Result<MatmulLoops> matchMatmul(mlir::Operation *op);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_MATMULLOOPS_H
