//===- CostModel.h - what parts of a matmul cost on a machine ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_CONFIG_COSTMODEL_H
#define XETILE_TARGET_CPU_MATMUL_CONFIG_COSTMODEL_H

#include "xetile/Linalg/Contraction.h"
#include "xetile/Target/Cpu/Matmul/Config/ConfigAnalysis.h"
#include "xetile/Target/Cpu/Matmul/Config/LaneTile.h"
#include "xetile/Target/Cpu/Matmul/Config/RegisterTile.h"

namespace xetile {

/// Elements of `dim` that `count` threads have whole ones of: innermost blocks, or lines of C where
/// these are larger and there are enough of them. Cores that write to one line wait for each other.
int64_t threadStep(const Contraction &matmul, const MatmulConfig &config, MatmulDim dim,
                   int64_t count);

/// Costs are in cycles, each of which is one multiply-add of f32 vectors. What no calibration
/// measures: the fixed costs of one microkernel.
constexpr double kCallCycles = 40;

/// For more rows than this a B that is fetched ahead is in the first level already.
constexpr int64_t kRowsAhead = 128;

/// Rows of a tile register, and 32-bit columns of sums.
constexpr int64_t kTileSide = 16;

/// Facts for the heuristic, before any choice.
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

  /// True for an operand that is a matrix, or a batch of them: not blocked.
  bool isPlain(unsigned operand) const;
  /// True if `dim` is the contiguous one of an operand.
  bool runsAlong(unsigned operand, MatmulDim dim) const;
  /// True for an input that is a matrix, contiguous along k.
  bool runsAlongK(unsigned operand) const;
  /// True if the accumulators are in tile registers.
  bool usesTiles() const { return vectorDim == kN && fitsTiles(); }
  /// True if they are vectors along n.
  bool hasVectorsOfSums() const { return vectorDim == kN && !fitsTiles(); }
  /// True for products that tiles of A and B can have; a column of B fills none.
  bool fitsTiles() const { return group > 1 && machine.amx && matmul.extent(kN) != 1; }
  /// Columns of B that stay near for tiles: 1 KiB of each row.
  int64_t tileColumns() const { return 1024 / inputBytes; }
  /// Steps of k of a product of tiles.
  int64_t tileSteps() const { return kTileSide * group; }
  /// True if rows of A, along k, are a whole number of lines: if one begins at a line, all do, and
  /// tiles fill them.
  bool fillsLines() const;
  /// True if packing transposes B, to rows along k.
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

  /// Loads that multiply-adds do, where it matters: of A for many rows and columns of one vector,
  /// of B for many rows.
  FoldedLoads foldedLoads() const;
  /// For vectors of a panel of B, along n, that few rows read: what the second level costs where
  /// the first does not keep the panel.
  PanelWaits panelWaits() const;

  /// True if multiply-adds wait longer for the third level than the second takes to be read.
  bool isThirdLevelFar() const { return machine.rates.waitL3 > machine.rates.readL2; }

  /// The part of the second level that keeps what fits there: pages of 4 KiB are at any places, and
  /// some sets are full before all are. A third level that is near hides it.
  double keptOfSecondLevel() const { return isThirdLevelFar() ? 0.75 : 1; }

  /// True if two of so many threads may share a core: virtual machines tell of one thread a core
  /// where it has two.
  bool mayShareCores(int64_t threads) const;
  /// Bytes of a core's second level that each of so many threads has.
  double ownSecondLevel(int64_t threads) const;
  /// The part of the busiest thread's multiply-adds that a core with two of them waits for, as
  /// another thread has the mean of all.
  double pairedLoad(double busiest, int64_t threads) const;

  /// Cycles for so many nanoseconds.
  double cycles(double nanoseconds) const { return nanoseconds / machine.rates.multiplyAdd; }
  /// Cycles of an instruction that is no multiply-add, of bf16 or bytes; `typical` where its rate
  /// is not known.
  double dotCycles() const;
  double tileCycles() const;
  /// Cycles for copying elements of an operand.
  double copyCost(double elements) const;
  /// To have elements of B in panels.
  double panelCost(double elements) const;
  /// For waiting for elements of A where they are, one of so many threads: beside multiply-adds,
  /// which go on meanwhile.
  double readACost(double elements, int64_t threads) const;
  /// True if the second level has so many elements of an input.
  bool isNear(double elements) const { return elements * double(inputBytes) <= double(machine.l2); }
  /// Cycles for waiting for elements that come from the third level.
  double waitCost(double elements, unsigned operand) const;
  /// The same for elements of B in the first pass of A's `m` rows.
  double waitForB(const MatmulConfig &config, double m, double elements) const;
  /// Cycles for reading k x n elements of B where they are, for each row of tiles of m: from beyond
  /// the second level once, where a block of B stays there.
  double readBCost(const MatmulConfig &config, double m, double n, double k, int64_t threads) const;
  /// Cycles for the pages that rows of B are in, where panels of it visit more of them than the
  /// first translation buffer has; once for all panels.
  double pagesCost(const MatmulConfig &config, double n, double k) const;
  /// Cycles for the pages that a thread's part of rows of B begins in, beside those that whole rows
  /// would fill, where they are more than the second translation buffer has.
  double walksCost(double n, double k) const;
  /// Cycles for lines of C that two threads write to, where parts of `rows` rows, of so many
  /// columns, end within them or within pairs of them.
  double sharedLinesCost(double rows, double columns) const;
  /// Cycles for adding up the sums of several threads of k, which all threads do together.
  double partialsCost(double partials, double threads) const;
  /// Cycles for writing results, and for reading them and writing them again.
  double writeCost(double results) const;
  double revisitCost(double results) const;
  /// Cycles for waiting for lines of results to write to, in runs of so many columns.
  double waitForResults(double results, double columns) const;
  /// Cycles for waiting for B where all panels of a block pass for each row of tiles of m, instead
  /// of one for all rows.
  double streamCost(const MatmulConfig &config, double m, double n, double k) const;

  /// True if what the microkernel reads of B, in place and from a third level that is far, is
  /// fetched some steps before: for few rows of A, which wait for it.
  bool fetchesAhead() const;
  /// Steps of k of a block of B that is read in place, of at most `k`.
  double stepsInPlace(const MatmulConfig &config, double k) const;
  /// Steps of k that a block may have, for rows of A and a panel of B in their levels of caches:
  /// of elements of so many bytes.
  double blockSteps(const MatmulConfig &config, double bytesA, double bytesB) const;
  /// Bytes of a panel of B where it is, of a block of at most k steps.
  double panelBytes(const MatmulConfig &config, double k) const;
  /// Bytes between rows along n of B or C where they are, if all of them have as many.
  std::optional<int64_t> pitchOf(unsigned operand) const;
  /// Bytes of the second-level cache that so many columns of B can fill where they are, or those of
  /// a panel: rows some power of two apart share few sets.
  int64_t reachOf(double columns) const;
  int64_t reachOfPanel(const MatmulConfig &config) const;

private:
  double perElement(double nanosecondsPerKib) const;
  /// True if rows of an operand may begin within a line: arguments have any alignment.
  bool isUnaligned(unsigned operand) const;
  /// Rows of an operand along k, where they are, of which the first-level cache keeps one line
  /// each.
  int64_t rowsInFirstLevel(unsigned operand) const;
  /// True if rows of A come from beyond a core's second level, past a single panel of B.
  bool streamsA() const;
  /// The most rows of a register tile.
  int64_t tileRows() const;
  /// Rows of a tile, 8 to 16, of which all threads have as many as possible: with 4 threads 144 x
  /// 16 x 2368 took 0.77 of the time with 12 rows of that with 16.
  int64_t equalRows() const;
  MatmulDim chooseVectorDim() const;
  /// Multiply-adds, or dot products, that a vector of a row of A takes as long as: from the second
  /// level, which rows past a column of B come from, unless the first level has all of them.
  double lineCycles() const;
  /// Cycles with vectors of sums, or tiles of them, along n, B copied where it has to be.
  double alongColumns() const;
  int64_t chooseStreamedRows() const;
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_CONFIG_COSTMODEL_H
