//===- FetchPlan.h - what is fetched while a block is multiplied -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_FETCHPLAN_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_FETCHPLAN_H

#include "xetile/Target/Cpu/Matmul/Packing/PackingPlan.h"

namespace xetile {

/// The fourth plan: while the last rows of C are multiplied by a block of B, the lines of the block
/// that is packed next come to the second-level cache; or those that the microkernel itself reads
/// in place come to the first, some steps before.
struct FetchPlan {
  /// Rows of B's memory that a call of the microkernel fetches, and elements of each; no rows where
  /// nothing is fetched.
  int64_t rows = 0, columns = 0;
  /// Steps of k from one fetch to the next, and lines that each is of.
  int64_t steps = 1, lines = 1;
  /// Steps of k by which rows that are read in place are fetched before; 0 for those of a block
  /// that is packed.
  int64_t ahead = 0;
  /// The first call, of those for one block, that fetches.
  int64_t firstCall = 0;

  bool fetches() const { return rows != 0; }
};

FetchPlan planFetches(const Contraction &matmul, const ConfigChoice &choice, const Fusion &fusion,
                      const BlockPlan &blocks, const PackingPlan &packing);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_FETCHPLAN_H
