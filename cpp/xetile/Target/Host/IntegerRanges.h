//===- IntegerRanges.h - what numbers a value may be --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_INTEGERRANGES_H
#define XETILE_TARGET_HOST_INTEGERRANGES_H

#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace xetile {

/// Ranges of integers and indices of a function on tensors, by upstream's integer range analysis.
/// It also looks through elementwise producers of tensors, and refines the range of a selected
/// value by the comparison that selects it.
class IntegerRanges {
public:
  /// The numbers that `value`, an integer or an index, may be.
  mlir::ConstantIntRanges of(mlir::Value value) { return of(value, 0); }

private:
  mlir::ConstantIntRanges of(mlir::Value value, unsigned depth);
  mlir::ConstantIntRanges ofArgument(mlir::BlockArgument argument, unsigned depth);
  mlir::ConstantIntRanges ofResult(mlir::OpResult result, unsigned depth);
  mlir::ConstantIntRanges ofSelect(mlir::Operation *select, unsigned depth);
  mlir::ConstantIntRanges ofElements(mlir::Value tensor, unsigned depth);

  /// Values of which more is known where a comparison has been true or false.
  llvm::DenseMap<mlir::Value, mlir::ConstantIntRanges> assumed;
};

} // namespace xetile

#endif // XETILE_TARGET_HOST_INTEGERRANGES_H
