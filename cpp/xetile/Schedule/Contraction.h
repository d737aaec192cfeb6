//===- Contraction.h - the matmuls that schedules for GPUs take --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_CONTRACTION_H
#define XETILE_SCHEDULE_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <string>

namespace xetile::transform_ops {

/// A linalg op that multiplies matrices: C[.., m, n] += A[.., m, k] * B[.., k, n], where each
/// operand may have its dimensions in any order. Loops besides m, n and k (batches) are `outer`.
struct Contraction {
  mlir::linalg::LinalgOp op;
  unsigned m = 0, n = 0, k = 0;         // numbers of loops
  llvm::SmallVector<unsigned, 2> outer; // in the order of the result's dimensions
  unsigned a = 0, b = 1;                // which input has m, which n
  bool aIsUnsigned = false, bIsUnsigned = false;

  /// The sizes of the loops m, n and k; ShapedType::kDynamic where only the run knows.
  std::array<int64_t, 3> getSizes() const;
  /// True if the loops are in the order m, n, k, outer.
  bool isNormalized() const;
  mlir::Type getElementType(unsigned input) const;
  mlir::Type getResultElementType() const;
};

/// True if `op` multiplies and adds as a matmul does, whatever its types and sizes.
bool looksLikeMatmul(mlir::Operation *op);

/// Reads `op` into `contraction`. Returns why a schedule cannot take it, or an empty string.
std::string matchContraction(mlir::Operation *op, Contraction &contraction);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_CONTRACTION_H
