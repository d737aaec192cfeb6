//===- SumStep.h - how a linalg op's body adds to its results ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_SUMSTEP_H
#define XETILE_LINALG_SUMSTEP_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace xetile {

/// The op of `body` that adds to, subtracts from or multiplies the output's element `sum`, if that
/// is all that becomes of it: `yielded` is its result.
inline mlir::Operation *findSumStep(mlir::Block &body, mlir::BlockArgument sum,
                                    mlir::Value yielded) {
  mlir::Operation *step = yielded.getDefiningOp();
  if (!step || step->getBlock() != &body || !sum.hasOneUse() || !yielded.hasOneUse() ||
      *sum.getUsers().begin() != step)
    return nullptr;
  bool updates = mlir::isa<mlir::arith::AddFOp, mlir::arith::MulFOp>(step) ||
                 (mlir::isa<mlir::arith::SubFOp>(step) && step->getOperand(0) == sum) ||
                 (mlir::isa<mlir::math::FmaOp>(step) && step->getOperand(2) == sum);
  return updates ? step : nullptr;
}

} // namespace xetile

#endif // XETILE_LINALG_SUMSTEP_H
