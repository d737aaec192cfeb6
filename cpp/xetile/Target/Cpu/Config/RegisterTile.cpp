//===- RegisterTile.cpp - sums that a microkernel keeps in registers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: rows and columns of C, vectors and registers of the machine. Out: the register tile. Nothing
// is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Config/RegisterTile.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace xetile;

RegisterTile xetile::chooseRegisterTile(int64_t m, int64_t n, int64_t length, int64_t registers,
                                        int64_t mostRows) {
  // Fewer independent sums than this leave the multiplier waiting for its own results; a core
  // starts two loads for every vector multiply-add.
  constexpr int64_t kSumsInFlight = 8;
  // One row or two need more vectors for that.
  const int64_t mostVectors = m <= 2 ? 8 : 4;
  RegisterTile best;
  for (int64_t vectors = 1; vectors <= mostVectors; ++vectors)
    for (int64_t rows = 1; rows <= mostRows && rows * vectors + vectors + 1 <= registers; ++rows) {
      double tiles = double(llvm::divideCeil(m, rows)) * llvm::divideCeil(n, vectors * length);
      double multiplies = std::max<int64_t>(rows * vectors, kSumsInFlight);
      double cost = tiles * (std::max(multiplies, (rows + vectors) / 2.0) +
                             0.05 * double(rows + vectors) + 0.5);
      if (best.cycles == 0 || cost < best.cycles)
        best = {rows, vectors, cost};
    }
  return best;
}
