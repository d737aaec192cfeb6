//===- InFunction.h - ops outside of loops -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_ROWS_INFUNCTION_H
#define XETILE_TARGET_CPU_ROWS_INFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xetile {

/// Whether `op` stands in the first block of a function: loops have their order and memory already.
inline bool isInFunction(mlir::Operation *op) {
  return op && mlir::isa<mlir::func::FuncOp>(op->getParentOp()) &&
         op->getBlock() == &op->getParentRegion()->front();
}

} // namespace xetile

#endif // XETILE_TARGET_CPU_ROWS_INFUNCTION_H
