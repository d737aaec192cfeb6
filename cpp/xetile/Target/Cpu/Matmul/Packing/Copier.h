//===- Copier.h - vectors from one tensor to another -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_PACKING_COPIER_H
#define XETILE_TARGET_CPU_MATMUL_PACKING_COPIER_H

#include "xetile/Target/Cpu/Matmul/Packing/Packing.h"

namespace xetile {

/// Writes vectors from a source to a tensor, which is carried through loops.
class Copier {
public:
  Copier(mlir::OpBuilder &builder, mlir::Location loc, const PackSource &source,
         int64_t vectorLength);

  /// `for (offset = first; offset < last; offset += step)`.
  mlir::Value loop(Index first, Index last, int64_t step, mlir::Value init,
                   llvm::function_ref<mlir::Value(Index, mlir::Value)> body);
  /// `count` elements of a row of the source, zeros past its edge.
  mlir::Value read(llvm::ArrayRef<Index> at, int64_t count, bool inBounds);
  /// `count` elements of each of the rows [k, k + group) from column `from` on, interleaved; from
  /// row `end` on they are zeros.
  mlir::Value readGroup(Index k, int64_t count, int64_t group, std::optional<Index> end, Index from,
                        bool inBounds);
  mlir::Value write(mlir::Value vector, mlir::Value destination, llvm::ArrayRef<Index> at);
  /// Largest multiple of `step` that is at most `extent`.
  Index wholeSteps(Index extent, int64_t step);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const PackSource &source;
  mlir::Type element;
  int64_t length;

private:
  mlir::Value readTensor(mlir::Value tensor, llvm::ArrayRef<Index> at, int64_t count,
                         bool inBounds);
  /// The elements at `at`, computed from those of the inputs: along a row vectors or one element
  /// for all.
  mlir::Value compute(llvm::ArrayRef<Index> at, int64_t count, bool inBounds);
  llvm::SmallVector<mlir::Value> values(llvm::ArrayRef<Index> indices);
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_PACKING_COPIER_H
