//===- LastTiles.h - steps of k that fill no tile ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_LASTTILES_H
#define XETILE_TARGET_CPU_MICROKERNEL_LASTTILES_H

#include "xetile/Target/Cpu/Microkernel/KernelBuilder.h"

namespace xetile {

/// Copies of the last groups of k, of two tiles of A and two of B, with zeros where there are none.
class LastTiles {
public:
  /// `flat` are A and B with their groups collapsed, `steps` the groups that are left.
  LastTiles(const KernelBuilder &kernel, const std::array<mlir::Value, 2> &flat, Index steps);

  /// Copies what a tile has at `place`: `lines` rows of A, or columns of B.
  void copy(unsigned operand, int64_t number, Indices place, int64_t lines);
  /// Loads a tile that was copied.
  mlir::Value load(unsigned operand, int64_t number, mlir::Type tile);

private:
  /// The first row of a copy in memory.
  int64_t rowOf(unsigned operand, int64_t number) const;
  mlir::VectorType rowType(unsigned operand) const;

  const KernelBuilder &kernel;
  std::array<mlir::Value, 2> flat;
  Index steps;
  /// One for A and one for B, whose bytes may be signed and unsigned.
  mlir::Value memory;
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_LASTTILES_H
