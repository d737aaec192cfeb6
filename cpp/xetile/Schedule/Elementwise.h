//===- Elementwise.h - linalg ops that tiles are computed of one by one -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_ELEMENTWISE_H
#define XETILE_SCHEDULE_ELEMENTWISE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xetile::transform_ops {

/// True if each element of the results of `op` is computed from one element of each operand, by ops
/// that vectors take, too. Inputs may be transposed or repeated; results have all loops.
inline bool isElementwiseOnTensors(mlir::Operation *op) {
  auto linalgOp = mlir::dyn_cast<mlir::linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() ||
      linalgOp.getNumParallelLoops() != linalgOp.getNumLoops())
    return false;
  for (mlir::OpOperand &init : linalgOp.getDpsInitsMutable())
    if (!linalgOp.getMatchingIndexingMap(&init).isPermutation())
      return false;
  for (mlir::OpOperand *input : linalgOp.getDpsInputOperands())
    if (!linalgOp.getMatchingIndexingMap(input).isProjectedPermutation(
            /*allowZeroInResults=*/true))
      return false;
  return llvm::all_of(linalgOp.getBlock()->without_terminator(), [](mlir::Operation &inner) {
    return mlir::isa<mlir::arith::ConstantOp>(inner) ||
           (mlir::OpTrait::hasElementwiseMappableTraits(&inner) && inner.getNumResults() == 1);
  });
}

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_ELEMENTWISE_H
