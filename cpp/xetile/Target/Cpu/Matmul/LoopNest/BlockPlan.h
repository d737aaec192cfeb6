//===- BlockPlan.h - the loops of one thread ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_BLOCKPLAN_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_BLOCKPLAN_H

#include "xetile/Target/Cpu/Matmul/Config/ConfigAnalysis.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadPlan.h"

namespace xetile {

/// The second plan. Sizes are in steps of the tiled dimensions.
struct BlockPlan {
  /// Blocks of nearly equal size, multiples of the innermost ones.
  std::array<int64_t, 3> sizes, innermost;
  /// The loops over blocks, from the outermost.
  std::array<MatmulDim, 3> order;
  /// Dimensions of which a thread's part is known to be one block.
  std::array<bool, 3> whole;
  /// Dimensions of which the block is known where the loop over k starts.
  std::array<bool, 3> knownAtK;
  /// For tile registers: the size of the last innermost block of m and n where it is not a whole
  /// one, and known. It has code of its own, as registers have a number of rows and columns.
  std::array<std::optional<int64_t>, 2> rest;
  /// The size of k is known at run time only: a thread may be left without work.
  bool mayLackK;
  /// Elements of m and n that one call of the microkernel has at most.
  std::array<int64_t, 2> limits;

  /// Sums are not complete after one step of the loop over k.
  bool severalSteps() const { return !whole[kK]; }
};

BlockPlan planBlocks(const Contraction &matmul, const ConfigChoice &choice,
                     const ThreadPlan &threads);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_BLOCKPLAN_H
