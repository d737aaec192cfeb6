//===- Online.cpp - axes and leaves of dependent reductions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: reductions that depend on others, and the ops between. Out: which loops and dimensions go
// along, which tensors a scalar is computed from. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Online/Online.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xetile;

Value xetile::yielded(linalg::GenericOp op) { return op.getBody()->getTerminator()->getOperand(0); }

OpOperand *xetile::operandOf(linalg::GenericOp op, Value scalar) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  return argument && argument.getOwner() == op.getBody()
             ? &op->getOpOperand(argument.getArgNumber())
             : nullptr;
}

Value xetile::elementOf(linalg::GenericOp op, Operation *&combiner) {
  BlockArgument total = op.getBody()->getArguments().back();
  combiner = yielded(op).getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBody() || combiner->getNumOperands() != 2 ||
      !total.hasOneUse() || *total.getUsers().begin() != combiner)
    return {};
  return combiner->getOperand(combiner->getOperand(0) == total ? 1 : 0);
}

OnlineAxis Online::axisOf(void *of, unsigned number) const {
  OnlineAxis axis{of, number};
  auto leader = axes.findLeader(axis);
  return leader == axes.member_end() ? axis : *leader;
}

std::optional<unsigned> Online::loopOf(linalg::GenericOp op) const {
  for (unsigned loop : llvm::seq(op.getNumLoops()))
    if (axisOf(op, loop) == axisOf(n.first, n.second))
      return loop;
  return std::nullopt;
}

const OnlineReduction *Online::reductionOf(Value result) const {
  for (const OnlineReduction &reduction : reductions)
    if (result.getDefiningOp() == reduction.op)
      return &reduction;
  return nullptr;
}

/// True if `scalar` is zero, possibly an element of a constant tensor.
static bool isZero(linalg::GenericOp op, Value scalar) {
  OpOperand *operand = operandOf(op, scalar);
  return matchPattern(operand ? operand->get() : scalar, m_AnyZeroFloat());
}

const OnlineReduction *Online::maximumOf(linalg::GenericOp op, Value scalar, bool &guarded) const {
  if (OpOperand *operand = operandOf(op, scalar)) {
    Operation *producer = operand->get().getDefiningOp();
    if (isBetween(producer))
      return maximumOf(cast<linalg::GenericOp>(producer),
                       yielded(cast<linalg::GenericOp>(producer)), guarded);
    return reductionOf(operand->get());
  }
  Operation *by = scalar.getDefiningOp();
  if (isa_and_present<arith::ExtFOp>(by))
    return maximumOf(op, by->getOperand(0), guarded);
  auto select = dyn_cast_if_present<arith::SelectOp>(by);
  if (!select || !isZero(op, select.getTrueValue()))
    return nullptr;
  // The condition may be an op of its own.
  Value condition = select.getCondition();
  linalg::GenericOp at = op;
  while (OpOperand *operand = operandOf(at, condition)) {
    if (!isBetween(operand->get().getDefiningOp()))
      return nullptr;
    at = operand->get().getDefiningOp<linalg::GenericOp>();
    condition = yielded(at);
  }
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  APFloat bound(0.0f);
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OEQ ||
      !matchPattern(compare.getRhs(), m_ConstantFloat(&bound)) || !bound.isInfinity() ||
      !bound.isNegative())
    return nullptr;
  const OnlineReduction *compared = maximumOf(at, compare.getLhs(), guarded);
  const OnlineReduction *chosen = maximumOf(op, select.getFalseValue(), guarded);
  guarded = true;
  return compared == chosen ? chosen : nullptr;
}

bool Online::isSubtracted(const OnlineReduction &reduction) const {
  for (const OnlineReduction &sum : reductions) {
    if (!sum.power)
      continue;
    SmallVector<OnlineLeaf> leaves;
    Operation *difference = sum.power->difference;
    leavesOf(cast<linalg::GenericOp>(difference->getParentOp()), difference->getOperand(1), leaves);
    linalg::GenericOp op = reduction.op;
    if (llvm::any_of(leaves, [&](OnlineLeaf &leaf) { return leaf.tensor == op.getResult(0); }))
      return true;
  }
  return false;
}

bool Online::isCentre(const OnlineReduction &reduction) const {
  return llvm::any_of(reductions, [&](const OnlineReduction &other) {
    return other.square && other.square->sum == reduction.op;
  });
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
