//===- LinearOffsets.h - offsets that grow by steps --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LINEAROFFSETS_H
#define XETILE_TARGET_XE_LANES_LINEAROFFSETS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace xetile {

/// The integer that an element of a vector is, or a number: a constant, multiples of numbers that
/// all elements share, and one of each coordinate.
struct LinearOffsets {
  int64_t constant = 0;
  llvm::SmallDenseMap<mlir::Value, int64_t> terms;
  /// A step for each dimension; none of a number.
  llvm::SmallVector<int64_t> steps;

  void add(const LinearOffsets &other, int64_t by);
  void scale(int64_t by);
  /// Its value less that of `other`, where this is a constant and the steps are the same.
  std::optional<int64_t> minus(const LinearOffsets &other) const;
  /// True if all but the constant and the coordinates' steps is known to be a multiple of `number`.
  bool termsAreMultiplesOf(int64_t number) const;
};

/// `value` in these terms; nothing where elements differ by more than their coordinates.
std::optional<LinearOffsets> linearOffsets(mlir::Value value);

/// The same of `bytes` times the offsets behind an address.
std::optional<LinearOffsets> linearAddresses(mlir::Value address, mlir::Value offsets,
                                             int64_t bytes);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LINEAROFFSETS_H
