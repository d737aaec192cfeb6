//===- ThreadNest.h - what the loops of one thread read ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_THREADNEST_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_THREADNEST_H

#include "xetile/Target/Cpu/Matmul/LoopNest/DeepTilePlan.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/IterationSpace.h"

namespace xetile {

/// Operands that the compiler has packed, all of them; null if they are no constants.
struct PackedConstants {
  mlir::Value a, b;
};

/// Memory of a thread, null where the plans need none: copies of blocks, sums of B's columns, sums
/// that are kept elsewhere than the result.
struct Scratch {
  mlir::Value a, b, columnSums, sums;
};

/// One thread's operands, without batch dimensions, which the plans index.
struct ThreadOperands {
  /// A and B; null if they are computed on the way, from what is in `produced`.
  std::array<mlir::Value, 2> values;
  std::array<llvm::SmallVector<IndexedValue>, 2> produced;
  /// The tensor to write to.
  mlir::Value result;
  /// EpiloguePlan's inputs.
  llvm::SmallVector<IndexedValue> epilogue;
};

/// Everything around the loops of one thread. Its values do not change while the loops are emitted.
struct ThreadNest {
  mlir::RewriterBase &b;
  mlir::Location loc;
  const DeepTilePlan &plan;
  const IterationSpace &space;
  const PackedConstants &constants;
  /// Where the thread's part begins and how large it is, in steps of the tiled dimensions.
  std::array<Index, 3> offsets, extents;
  ThreadOperands operands;
  Scratch scratch;

  mlir::AffineMap map(unsigned operand) const { return plan.threads.maps[operand]; }
};

/// A piece of something: offsets in it and sizes, in steps of the tiled dimensions.
struct Piece {
  std::array<Index, 3> offsets, sizes;
};

/// A piece of the thread's part, as far as the loops over blocks have come to know it.
struct BlockPiece : Piece {
  /// Dimensions that loops have gone through, or that are one block.
  std::array<bool, 3> known;
  /// Null for what is read in place, or not known yet.
  mlir::Value packedA, packedB, columnSums;
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_THREADNEST_H
