//===- LaneTile.cpp - sums along k that a microkernel keeps in registers --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: rows and columns of C, registers of the machine. Out: the tile of sums. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/LaneTile.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace xetile;

LaneTile xetile::chooseLaneTile(int64_t m, int64_t n, int64_t registers, bool sumsColumns,
                                int64_t mostColumns) {
  // As in chooseRegisterTile; every vector of products takes a load of a row or a column, or both.
  constexpr int64_t kSumsInFlight = 8;
  // Two shuffles and an addition halve the lanes of a pair of sums.
  constexpr double kLaneCycles = 3.5;
  LaneTile best;
  for (int64_t columns = 1; columns <= kMostLaneColumns; columns *= 2)
    for (int64_t rows = 1; rows <= 12; ++rows) {
      if (columns > mostColumns || rows * columns + (sumsColumns ? 2 : 1) * columns + 1 > registers)
        continue;
      double tiles = double(llvm::divideCeil(m, rows)) * llvm::divideCeil(n, columns);
      double multiplies = std::max<int64_t>(rows * columns, kSumsInFlight);
      double cost =
          tiles * (std::max(multiplies, (rows + columns) / 2.0) + 0.05 * double(rows + columns));
      if (best.cycles == 0 || cost < best.cycles)
        best = {rows, columns, cost, double(m) * n * kLaneCycles};
    }
  return best;
}
