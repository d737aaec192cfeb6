//===- CostModel.h - what parts of a matmul cost on a machine ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_CONFIG_COSTMODEL_H
#define XETILE_TARGET_CPU_CONFIG_COSTMODEL_H

#include "xetile/Target/Cpu/Config/ConfigAnalysis.h"
#include "xetile/Target/Cpu/Config/LaneTile.h"
#include "xetile/Target/Cpu/Config/RegisterTile.h"
#include "xetile/Target/Cpu/LoopNest/Contraction.h"

namespace xetile {

/// Costs in cycles of a core. Starting and joining threads:
constexpr double kForkCycles = 8000;
/// Reading and writing one element of C again for another block of K, in the second-level cache and
/// past it:
constexpr double kRevisitCycles = 0.15, kFarRevisitCycles = 1.0;
/// Writing one partial result and adding it up:
constexpr double kPartialCycles = 1.5;
/// Fixed costs of one microkernel:
constexpr double kCallCycles = 40;

/// What the heuristic knows before it chooses anything.
struct CostModel {
  const Contraction &matmul;
  const Machine &machine;
  /// Sizes in elements; unknown ones count as typical ones.
  std::array<int64_t, 3> extents;
  int64_t batches = 1;
  int64_t sumBits, inputBytes;
  /// Sums in a vector.
  int64_t length;
  /// Elements of k that one instruction multiplies and adds.
  int64_t group;
  /// The dimension that the microkernel's vectors run along. k: in A where it is, in B where it is
  /// or in a copy; the lanes of sums are added in the end. m: in A where it is, for a single column
  /// of B.
  MatmulDim vectorDim = kN;
  /// Sums in registers, of vectors along n or m; and of vectors along k.
  RegisterTile registerTile;
  LaneTile laneTile;
  /// Rows of B, or of A where vectors run along m, that are read together through all of n, where
  /// they are; 0 where blocks of k may be as large as caches let them be.
  int64_t streamedRows = 0;

  PackingWish packing;

  CostModel(const Contraction &matmul, const Machine &machine, PackingWish packing);

  /// Whether an operand is a matrix, or several of them: not in blocks.
  bool isPlain(unsigned operand) const;
  /// Whether `dim` is the contiguous one of an operand.
  bool runsAlong(unsigned operand, MatmulDim dim) const;
  /// Whether an input is a matrix whose elements along k are side by side.
  bool runsAlongK(unsigned operand) const;
  /// Whether tile registers hold the sums.
  bool usesTiles() const { return vectorDim == kN && group > 1 && machine.amx; }
  /// Columns of B that stay near for tiles: 1 KiB of each row.
  int64_t tileColumns() const { return 1024 / inputBytes; }
  /// Whether B is copied to rows along k.
  bool turnsB() const { return vectorDim == kK && !runsAlongK(1); }
  /// Rows of A that run along k are streams, which a core prefetches from where they are. Dot
  /// products need a copy if parts of k may be no whole groups: the last group is filled up.
  bool readsAInPlace(const MatmulConfig &config) const;
  /// Without a copy n would have to be contiguous, and dot products would have no groups.
  bool mustCopyB() const { return vectorDim == kN && (group > 1 || !runsAlong(1, kN)); }

  /// Elements of `dim` that the busiest of `count` threads gets.
  int64_t share(const MatmulConfig &config, MatmulDim dim, int64_t count) const;
  /// The same for the configuration's own threads.
  int64_t share(const MatmulConfig &config, MatmulDim dim) const;

  /// Cycles for copying elements of an operand, and for reading them where they are.
  double copyCost(double elements) const;
  double readCost(double elements) const;
  /// Cycles for reading k x n elements of B where they are, once for each row of tiles of m.
  double readBCost(const MatmulConfig &config, double m, double n, double k) const;

private:
  /// Rows of A, where they are, of which the first-level cache keeps one line each.
  int64_t rowsInFirstLevel() const;
  MatmulDim chooseVectorDim() const;
  int64_t chooseStreamedRows() const;
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_CONFIG_COSTMODEL_H
