//===- Online.cpp - axes and leaves of dependent reductions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: reductions that depend on a maximum, and the ops between. Out: which loops and dimensions go
// along, which tensors a scalar is computed from. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Online/Online.h"

using namespace mlir;
using namespace xetile;

Value xetile::yielded(linalg::GenericOp op) { return op.getBody()->getTerminator()->getOperand(0); }

OpOperand *xetile::operandOf(linalg::GenericOp op, Value scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  return argument && argument.getOwner() == op.getBody()
             ? &op->getOpOperand(argument.getArgNumber())
             : nullptr;
}

OnlineAxis Online::axisOf(void *of, unsigned number) const {
  OnlineAxis axis{of, number};
  auto leader = axes.findLeader(axis);
  return leader == axes.member_end() ? axis : *leader;
}

std::optional<unsigned> Online::loopOf(linalg::GenericOp op) const {
  for (unsigned loop : llvm::seq(op.getNumLoops()))
    if (axisOf(op, loop) == n)
      return loop;
  return std::nullopt;
}

const OnlineReduction *Online::reductionOf(Value result) const {
  for (const OnlineReduction &reduction : reductions)
    if (result.getDefiningOp() == reduction.op)
      return &reduction;
  return nullptr;
}

bool Online::isBetween(Operation *op) const {
  return op && ops.contains(op) && cast<linalg::GenericOp>(op).getNumReductionLoops() == 0;
}

SmallVector<OnlineAxis> Online::axesOfResult(linalg::GenericOp op) const {
  return llvm::map_to_vector(
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults(),
      [&](AffineExpr expr) { return axisOf(op, cast<AffineDimExpr>(expr).getPosition()); });
}

void Online::leavesOf(linalg::GenericOp op, Value scalar,
                      SmallVectorImpl<OnlineLeaf> &leaves) const {
  if (OpOperand *operand = operandOf(op, scalar)) {
    if (!isa<RankedTensorType>(operand->get().getType()))
      return;
    Operation *producer = operand->get().getDefiningOp();
    if (isBetween(producer))
      return leavesOf(cast<linalg::GenericOp>(producer), yielded(cast<linalg::GenericOp>(producer)),
                      leaves);
    if (llvm::any_of(leaves, [&](OnlineLeaf &leaf) { return leaf.tensor == operand->get(); }))
      return;
    leaves.push_back({operand->get(), {}});
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
      leaves.back().axes.push_back(axisOf(op, cast<AffineDimExpr>(expr).getPosition()));
    return;
  }
  if (Operation *by = scalar.getDefiningOp(); by && by->getBlock() == op.getBody())
    for (Value operand : by->getOperands())
      leavesOf(op, operand, leaves);
}

bool Online::dependsOn(linalg::GenericOp op, Value scalar, Operation *source) const {
  if (OpOperand *operand = operandOf(op, scalar)) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    return isBetween(producer) && dependsOn(producer, yielded(producer), source);
  }
  Operation *by = scalar.getDefiningOp();
  return by && by->getBlock() == op.getBody() &&
         (by == source || llvm::any_of(by->getOperands(), [&](Value operand) {
            return dependsOn(op, operand, source);
          }));
}
