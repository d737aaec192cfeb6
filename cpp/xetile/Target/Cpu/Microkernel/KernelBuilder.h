//===- KernelBuilder.h - loops and places of one contraction -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_KERNELBUILDER_H
#define XETILE_TARGET_CPU_MICROKERNEL_KERNELBUILDER_H

#include "mlir/IR/PatternMatch.h"
#include "xetile/Linalg/TileLoops.h"
#include "xetile/Target/Cpu/Microkernel/FetchedRows.h"
#include "xetile/Target/Cpu/Microkernel/KernelPlan.h"

namespace xetile {

/// A place in the iteration space: one index per dimension.
using Indices = llvm::SmallVector<mlir::Value>;
using Values = llvm::SmallVector<mlir::Value>;

/// Steps of the last dimension of k, [first, last) by `by`.
struct KSteps {
  Index first, last;
  int64_t by = 1;
};

/// Writes loops over the dimensions of a contraction, and its accesses to memory.
struct KernelBuilder {
  mlir::RewriterBase &b;
  mlir::Location loc;
  const KernelPlan &plan;
  /// Rows that vector code prefetches in its steps of k, if any.
  const std::optional<FetchedRows> &fetched;

  mlir::Value constant(int64_t value) const;
  Index extentOf(unsigned dim) const;
  /// Rows and columns of most calls: `extent` if it is known, else what the rewrite calls the
  /// kernel with at most, or `unknown`.
  int64_t usualRows(Index extent, int64_t unknown) const;
  int64_t usualColumns(Index extent, int64_t unknown) const;
  /// The indices of an operand's element at `place`.
  Values at(unsigned operand, const Indices &place) const;
  void loop(Index low, Index high, int64_t step, llvm::function_ref<void(mlir::Value)> body) const;
  /// Loops over all of `dims`, which set `place`.
  void overDims(llvm::ArrayRef<unsigned> dims, Indices &place,
                llvm::function_ref<void()> body) const;
  /// Loops over k that carry `sums`: the last of its dimensions but the group in `steps`, the
  /// others from 0.
  Values carry(const KSteps &steps, Indices &place, Values sums,
               llvm::function_ref<Values(Values)> body) const;
  /// All steps of k from `first` on.
  KSteps stepsFrom(Index first) const;
  /// Collapses the last two dimensions of an operand in groups, which are contiguous.
  mlir::Value flatten(unsigned operand) const;
  /// `count` elements of an operand, zeros where `mask`, if it is not null, is false.
  mlir::Value load(unsigned operand, mlir::ValueRange indices, int64_t count,
                   mlir::Value mask) const;
  /// A scalar or vector of an operand in the type of the sums.
  mlir::Value widen(mlir::Value value, unsigned operand) const;

private:
  int64_t usualSize(Index extent, MatmulDim dim, int64_t unknown) const;
  Values carryDims(llvm::ArrayRef<unsigned> dims, const KSteps &steps, Indices &place, Values sums,
                   llvm::function_ref<Values(Values)> body) const;
  /// The innermost of these loops, if a line is fetched after every some steps.
  Values carryFetching(unsigned dim, const KSteps &steps, Indices &place, Values sums,
                       llvm::function_ref<Values(Values)> body) const;
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_KERNELBUILDER_H
