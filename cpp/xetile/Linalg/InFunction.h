//===- InFunction.h - ops outside of loops -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_INFUNCTION_H
#define XETILE_LINALG_INFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/Linalg/ScheduleMark.h"

namespace xetile {

/// True if `op` is in the entry block of a function and is no microkernel of a tiled matmul:
/// microkernels and ops in loops have their order, buffers and rounding fixed already.
inline bool isInFunction(mlir::Operation *op) {
  return op && !op->hasAttr(kMicrokernelAttr) && mlir::isa<mlir::func::FuncOp>(op->getParentOp()) &&
         op->getBlock() == &op->getParentRegion()->front();
}

} // namespace xetile

#endif // XETILE_LINALG_INFUNCTION_H
