//===- ConfigAnalysis.h - the heuristic configuration of a matmul ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_CONFIG_CONFIGANALYSIS_H
#define XETILE_TARGET_CPU_MATMUL_CONFIG_CONFIGANALYSIS_H

#include "xetile/Linalg/Contraction.h"
#include "xetile/Target/Cpu/Machine/Machine.h"

namespace xetile {

/// The largest block of a dimension whose size is known at run time only.
constexpr int64_t kLargestDynamicBlock = 4096;

/// A configuration and how it came about.
struct ConfigChoice {
  MatmulConfig config;
  /// Copy blocks of A and B to scratch memory in the order in which the microkernel reads them.
  bool packA = false, packB = false;
  /// Fetch the block of B that is packed next while the one before is multiplied.
  bool fetchB = false;
  /// Fetch rows of B, which is read in place, some steps of k before they are multiplied.
  bool fetchAhead = false;
  /// Copy B to rows along k, which it does not run along.
  bool turnB = false;
  /// Copies of A and B are f32, of narrower floats.
  std::array<bool, 2> widens = {false, false};
  /// Elements of a vector of sums, which packing moves at a time.
  int64_t vectorLength = 1;
  /// Elements of k that lie side by side in packed operands, as dot-product instructions read them:
  /// 2 of bf16, 4 bytes, else 1.
  int64_t group = 1;
  /// Sums are in tile registers.
  bool usesTiles = false;
  /// All parts of k are whole tiles: copies of A and B are filled up with zeros, unless all of k
  /// is.
  bool fillsTiles = false;
  /// Offset the bytes of A by 128, so that one operand is unsigned and the other one signed.
  bool offsetA = false;
  /// The estimate for the slowest thread.
  double cycles = 0;
  /// One line for each decision, with the terms of its score.
  llvm::SmallVector<std::string> reasons;
};

/// The requested packing of A's and B's blocks; no value where the cost model chooses. `aheadB`:
/// all of B is packed by the compiler, or once for all calls.
struct PackingWish {
  std::optional<bool> a, b;
  bool aheadB = false;
};

/// Chooses what `given` leaves open: innermost blocks first, then threads, blocks and loop order.
/// Reads the op, changes nothing.
ConfigChoice chooseConfig(const Contraction &matmul, const Machine &machine,
                          const PartialConfig &given, PackingWish packing);

/// The first violation of `config` for `matmul`, with its field.
Problem checkConfig(const Contraction &matmul, const MatmulConfig &config);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_CONFIG_CONFIGANALYSIS_H
