//===- EpiloguePlan.h - where sums are kept and what follows them ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_EPILOGUEPLAN_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_EPILOGUEPLAN_H

#include "xetile/Target/Cpu/Matmul/LoopNest/BlockPlan.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Fusion.h"

namespace xetile {

/// A tensor or a scalar, indexed by dimensions of the iteration space.
struct IndexedValue {
  mlir::Value value;
  mlir::AffineMap map;
};

/// The last plan.
struct EpiloguePlan {
  /// The init value of the whole matmul: a constant, or, if that is null, the elements of its last
  /// operand.
  mlir::TypedAttr accumulator;
  /// The tensor that the loops write to.
  IndexedValue destination;
  /// The consumer, if it is part of the loops: with K threads it is part of their reduction.
  mlir::linalg::GenericOp consumer;
  /// Other operands of the loops than A and B, with batch dimensions: the accumulator first, if it
  /// `addsAccumulator` and there is a consumer.
  llvm::SmallVector<IndexedValue> inputs;

  /// Of a thread's sums, of its results, and of the matmul's.
  mlir::Type sumType, resultType, elementType;
  /// The constant that a thread's sums start from; null if they start from the accumulator.
  mlir::TypedAttr start;
  /// Something follows complete sums: the accumulator is added, they are cast, the consumer.
  bool finishes;
  /// The accumulator is added in the end.
  bool addsAccumulator = false;
  /// Sums are kept where the result goes.
  bool inPlace = true;
  /// How results are indexed, without batch dimensions.
  mlir::AffineMap resultMap;
  /// Kept elsewhere, sums of several steps of k take as much of m and n as the loop over k goes
  /// through, and all others one tile: at most this; no value for all of a thread's part.
  std::array<std::optional<int64_t>, 3> sumLimits;

  /// Sums live as long as the loop over k.
  bool carriesSums(const BlockPlan &blocks) const { return !inPlace && blocks.severalSteps(); }
};

EpiloguePlan planEpilogue(const Contraction &matmul, const Fusion &fusion,
                          const ThreadPlan &threads, const BlockPlan &blocks);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_EPILOGUEPLAN_H
