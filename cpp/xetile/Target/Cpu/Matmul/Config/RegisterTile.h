//===- RegisterTile.h - sums that a microkernel keeps in registers --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_CONFIG_REGISTERTILE_H
#define XETILE_TARGET_CPU_MATMUL_CONFIG_REGISTERTILE_H

#include <cstdint>

namespace xetile {

/// Rows and vectors of C that a microkernel keeps in registers.
struct RegisterTile {
  int64_t rows = 1, vectors = 1;
  /// Estimated cycles of a core for m x n and one step of k.
  double cycles = 0;
};

/// Cycles in which multiply-adds wait for a vector of a panel of B that the first level does not
/// keep, and for each row of it, and the most vectors of one that it keeps.
struct PanelWaits {
  double cycles = 0;
  int64_t mostNear = 0;
  double row = 0;

  double of(int64_t vectors) const {
    return row + (vectors > mostNear ? cycles * double(vectors) : 0);
  }
};

/// Loads that may be operands of multiply-adds: an element of A, to all lanes; vectors of B, of
/// which some have no register then.
struct FoldedLoads {
  bool ofA = false, ofB = false;
};

/// The register tile of at most `mostRows` that runs through m x n in the fewest cycles; `length`
/// elements in a vector.
RegisterTile chooseRegisterTile(int64_t m, int64_t n, int64_t length, int64_t registers,
                                int64_t mostRows = 30, PanelWaits waits = {},
                                FoldedLoads folds = {});

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_CONFIG_REGISTERTILE_H
