//===- LaneTile.cpp - sums along k that a microkernel keeps in registers --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: rows and columns of C, registers of the machine. Out: the tile of sums. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/LaneTile.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace xetile;

/// Cycles for one vector of k of a tile of `rows` x `columns` sums; `lineCycles` for one of a row.
static double stepCycles(int64_t rows, int64_t columns, double lineCycles) {
  // As in chooseRegisterTile.
  constexpr int64_t kSumsInFlight = 8;
  constexpr double kLoadCycles = 1.2;
  auto loads = double(rows + columns);
  double least = std::max(kLoadCycles * loads, lineCycles * double(rows));
  return std::max(double(std::max(rows * columns, kSumsInFlight)), least) + 0.05 * loads + 0.5;
}

LaneTile xetile::chooseLaneTile(int64_t m, int64_t n, int64_t registers, bool sumsColumns,
                                int64_t mostColumns, double lineCycles) {
  // Two shuffles and an addition halve the lanes of a pair of sums.
  constexpr double kLaneCycles = 3.5;
  LaneTile best;
  for (int64_t columns = 1; columns <= std::min(mostColumns, kMostLaneColumns); ++columns)
    for (int64_t rows = 1; rows <= 12; ++rows) {
      if (rows * columns + (sumsColumns ? 2 : 1) * columns + 1 > registers)
        continue;
      // Rows of a single tile stay near, and for one tile of columns they come once, however they
      // are read. Left columns are of a number that is not known where they are computed: one by
      // one.
      double cyclesOfLine = m > rows && n > columns ? lineCycles : 0;
      auto alongColumns = [&](int64_t height) {
        int64_t whole = n / columns, single = n % columns;
        return double(whole) * stepCycles(height, columns, cyclesOfLine) +
               double(single) * stepCycles(height, 1, cyclesOfLine);
      };
      // So are left rows of more than a call of the microkernel has.
      int64_t tiles = m / rows, left = m % rows;
      double rest = m > kLaneRows ? double(left) * alongColumns(1) : left ? alongColumns(left) : 0;
      double cost = double(tiles) * alongColumns(rows) + rest;
      if (best.cycles == 0 || cost < best.cycles)
        best = {rows, columns, cost, double(m) * n * kLaneCycles};
    }
  return best;
}
