//===- RegisterTile.cpp - sums that a microkernel keeps in registers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: rows and columns of C, vectors and registers of the machine. Out: the register tile. Nothing
// is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Config/RegisterTile.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace xetile;

RegisterTile xetile::chooseRegisterTile(int64_t m, int64_t n, int64_t length, int64_t registers,
                                        int64_t mostRows, PanelWaits waits, FoldedLoads folds) {
  // Fewer independent sums than this leave the multiplier waiting for its own results.
  constexpr int64_t kSumsInFlight = 8;
  // Vector multiply-adds that a load, of a vector or to all lanes, takes as long as: on a Zen 4 1.3
  // for pairs of bf16, while 8 to 30 multiply-adds of f32 with as many elements of A and one vector
  // of B took 1.0 each.
  const double loadCycles = folds.ofA ? 1.0 : 1.2;
  // Measured with 208 x 112 x 192 to 4096 x 112 x 64 of f32: where a row of C has 7 vectors, 4 rows
  // of them take 0.81 of the time of 6 x 4 on an Emerald Rapids, 0.87 on a Zen 4.
  constexpr int64_t kWholeRow = 7;
  bool isWhole = folds.ofB && registers > 16 && llvm::divideCeil(n, length) == kWholeRow;
  // One row or two need more vectors for that.
  const int64_t mostVectors = m <= 2 ? 8 : isWhole ? kWholeRow : 6;
  auto fits = [&](int64_t rows, int64_t vectors) {
    return rows * vectors + (vectors == kWholeRow ? 0 : vectors) + 1 <= registers;
  };
  RegisterTile best;
  for (int64_t vectors = 1; vectors <= mostVectors; ++vectors)
    for (int64_t rows = 1; rows <= mostRows && fits(rows, vectors); ++rows) {
      double tiles = double(llvm::divideCeil(m, rows)) * llvm::divideCeil(n, vectors * length);
      double multiplies = std::max<int64_t>(rows * vectors, kSumsInFlight);
      auto loads = double(rows + vectors);
      // Elements of A that go to all lanes are part of multiply-adds with one vector of B; with
      // more each is a load of its own. Of 24 sums 6 x 4 take 0.98 of the time of 12 x 2 on an
      // Emerald Rapids and 0.96 on a Zen 4, in the mean of 14 and 7 sizes. Of 12 sums, in 16
      // registers, 4 x 3 take 1.02 of that of 6 x 2.
      double share = vectors > 1 && registers > 16 ? 0.1 : 0.05;
      double cost = tiles * (std::max(multiplies, loadCycles * loads) + share * loads + 0.5 +
                             waits.of(vectors));
      if (best.cycles == 0 || cost < best.cycles)
        best = {rows, vectors, cost};
    }
  return best;
}
