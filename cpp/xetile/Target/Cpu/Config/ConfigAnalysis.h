//===- ConfigAnalysis.h - the heuristic configuration of a matmul ------------===//
#ifndef XETILE_TARGET_CPU_CONFIG_CONFIGANALYSIS_H
#define XETILE_TARGET_CPU_CONFIG_CONFIGANALYSIS_H

#include "xetile/Target/Cpu/Config/Machine.h"
#include "xetile/Target/Cpu/LoopNest/Contraction.h"

namespace xetile {

/// Rows and vectors of C that a microkernel keeps in registers.
struct RegisterTile {
  int64_t rows = 1, vectors = 1;
  /// Estimated cycles of a core for m x n and one step of k.
  double cycles = 0;
};

/// The register tile that runs through m x n in the fewest cycles; `length` elements in a vector.
RegisterTile chooseRegisterTile(int64_t m, int64_t n, int64_t length, int64_t registers);

/// A configuration and how it came about.
struct ConfigChoice {
  MatmulConfig config;
  bool packA = false, packB = false;
  /// Elements of a vector of sums; elements of k that are packed side by side.
  int64_t vectorLength = 1, group = 1;
  /// Whether packing offsets the bytes of A by 128.
  bool offsetA = false;
  /// One line for each decision, with the terms of its score.
  llvm::SmallVector<std::string> reasons;
};

/// Elements of k that one instruction of the machine multiplies and adds, 1 for plain
/// multiply-adds.
int64_t dotGroup(const Contraction &matmul, const Machine &machine);

/// Whether bytes of A are to be offset by 128: instructions multiply unsigned by signed ones, tiles
/// those of any signs.
bool offsetsBytes(const Contraction &matmul, const Machine &machine);

/// Whether all parts of k are known to be whole groups of `group`.
bool hasWholeGroups(const Contraction &matmul, const MatmulConfig &config, int64_t group);

/// Chooses what `given` leaves open: innermost blocks first, then threads, blocks and loop order.
/// Reads the op, changes nothing.
ConfigChoice chooseConfig(const Contraction &matmul, const Machine &machine,
                          const PartialConfig &given);

} // namespace xetile

#endif // XETILE_TARGET_CPU_CONFIG_CONFIGANALYSIS_H
