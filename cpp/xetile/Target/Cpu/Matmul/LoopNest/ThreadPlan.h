//===- ThreadPlan.h - how threads share a matmul -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_THREADPLAN_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_THREADPLAN_H

#include "xetile/Linalg/Contraction.h"

namespace xetile {

/// The first plan. Sizes are in steps of the tiled dimensions.
struct ThreadPlan {
  /// Threads along m, n and k.
  std::array<int64_t, 3> counts;
  /// Innermost blocks, and what is not divided between threads: some of these.
  std::array<int64_t, 3> innermost, steps;
  /// A thread's part, kDynamic where it is known at run time only or threads have different ones.
  std::array<int64_t, 3> parts;
  /// How the operands of a thread, which have no batch dimensions, are indexed.
  std::array<mlir::AffineMap, 3> maps;

  /// Threads of k have sums of their own, which are added in the end.
  bool splitsK() const { return counts[kK] > 1; }
  /// True if an operand is a plain matrix, not a blocked one.
  bool isPlain(unsigned operand) const { return maps[operand].getNumResults() == 2; }
};

ThreadPlan planThreads(const Contraction &matmul, const MatmulConfig &config);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_THREADPLAN_H
