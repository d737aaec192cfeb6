//===- VectorPlan.h - which loop of a linalg op becomes vectors --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_LOWERING_VECTORLOOPS_VECTORPLAN_H
#define XETILE_TARGET_CPU_LOWERING_VECTORLOOPS_VECTORPLAN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xetile {

/// Sums that are added to in turns: one alone would wait for itself.
constexpr int64_t kSums = 4;

struct VectorPlan {
  /// The dimension of the iteration space that vectors lie along.
  unsigned column = 0;
  /// Elements of a vector.
  int64_t length = 1;
  /// Where `column` is reduced: the op that does it, one of the body, as in `sum = x + sum`.
  mlir::Operation *combiner = nullptr;
};

/// A plan for `op`, with vectors of up to `vectorBits`; none if the op must become scalar loops:
/// - results: one, each of its elements at indices that are parallel dimensions or constants;
/// - body: elementwise;
/// - `column`: the last index of whatever depends on it, maybe plus an offset (the window of a
///   convolution), in memory of stride 1, as tensors are taken to become. It is a parallel
///   dimension, or a reduced one where the body only combines what it computes with the result so
///   far, by an op whose order may change.
std::optional<VectorPlan> planVectors(mlir::linalg::LinalgOp op, int64_t vectorBits);

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOWERING_VECTORLOOPS_VECTORPLAN_H
