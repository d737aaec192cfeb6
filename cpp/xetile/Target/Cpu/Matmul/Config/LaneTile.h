//===- LaneTile.h - sums along k that a microkernel keeps in registers ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_CONFIG_LANETILE_H
#define XETILE_TARGET_CPU_MATMUL_CONFIG_LANETILE_H

#include <cstdint>

namespace xetile {

/// Rows and columns of C whose sums, one vector each, a microkernel keeps in registers.
struct LaneTile {
  int64_t rows = 1, columns = 1;
  /// Estimated cycles of a core for m x n and one vector of k, and for adding the lanes of all sums
  /// once.
  double cycles = 0, laneCycles = 0;
};

constexpr int64_t kMostLaneColumns = 8;

/// Rows that one call of the microkernel has at most: past as many a column of B stays in the
/// first-level cache.
constexpr int64_t kLaneRows = 32;

/// The tile of at most `mostColumns` that runs through m x n in the fewest cycles. With
/// `sumsColumns` registers hold the sums of columns of B, too. A vector of a row of A comes in no
/// less than `lineCycles`, for each tile of columns.
LaneTile chooseLaneTile(int64_t m, int64_t n, int64_t registers, bool sumsColumns,
                        int64_t mostColumns = kMostLaneColumns, double lineCycles = 0);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_CONFIG_LANETILE_H
