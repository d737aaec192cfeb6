//===- MayBeBinary.cpp - powers of two instead of e ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: reductions that depend on maxima. Out: true if maxima of scores times log2(e) do as well.
// Refused: scores of any size, and maxima or powers that other ops read.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/Online/Online.h"

using namespace mlir;
using namespace xetile;

/// True if the op multiplies f16 or bf16, whose products are far from the range limits of f32.
static bool isNarrowProduct(Operation *op) {
  return isContraction(op) && llvm::all_of(op->getOperands().take_front(2), [](Value operand) {
           return isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(operand.getType()));
         });
}

/// True if a number is minus infinity, or has so few digits before the point that products with
/// log2(e) have enough behind it.
static bool isModest(const APFloat &constant) {
  constexpr double kMost = 1e5; // those of f16
  return (constant.isInfinity() && constant.isNegative()) ||
         std::abs(constant.convertToDouble()) < kMost;
}

/// True if `scalar` is such a product times constants, a number of f16 or about as large, minus
/// infinity, a selection of these, or a sum of few of them.
static bool isModest(const Online &online, linalg::GenericOp op, Value scalar) {
  APFloat constant(0.0f);
  if (matchPattern(scalar, m_ConstantFloat(&constant)))
    return isModest(constant);
  if (scalar.getType().isF16())
    return true;
  if (OpOperand *operand = operandOf(op, scalar)) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    return producer &&
           (isNarrowProduct(producer) ||
            (online.isBetween(producer) && isModest(online, producer, yielded(producer))));
  }
  Operation *by = scalar.getDefiningOp();
  if (isa_and_present<arith::MulFOp, arith::DivFOp>(by))
    return matchPattern(by->getOperand(1), m_Constant()) && isModest(online, op, by->getOperand(0));
  if (isa_and_present<arith::ExtFOp, arith::TruncFOp>(by))
    return isModest(online, op, by->getOperand(0));
  if (isa_and_present<arith::AddFOp>(by))
    return isModest(online, op, by->getOperand(0)) && isModest(online, op, by->getOperand(1));
  return isa_and_present<arith::SelectOp>(by) && isModest(online, op, by->getOperand(1)) &&
         isModest(online, op, by->getOperand(2));
}

/// True if only ops of the set use the maxima and powers, and each power is exp of a difference of
/// scores of narrow floats, which need no more precision than their factors have.
bool xetile::mayBeBinary(const Online &online) {
  bool multiplies = false;
  for (const OnlineReduction &reduction : online.reductions) {
    if (reduction.square)
      return false;
    multiplies |= isNarrowProduct(reduction.op);
    if (!reduction.power)
      continue;
    auto difference = cast<arith::SubFOp>(reduction.power->difference);
    auto op = cast<linalg::GenericOp>(difference->getParentOp());
    bool guarded = false;
    if (!isa<math::ExpOp>(reduction.power->power) || !reduction.power->factors.empty() ||
        !difference.getType().isF32() || !operandOf(op, difference.getRhs()) ||
        !online.maximumOf(op, difference.getRhs(), guarded) ||
        !isModest(online, op, difference.getLhs()))
      return false;
  }
  for (Operation *op : online.ops) {
    const OnlineReduction *reduction = online.reductionOf(op->getResult(0));
    if (reduction && reduction->power)
      continue;
    if (!llvm::all_of(op->getUsers(), [&](Operation *user) { return online.ops.contains(user); }))
      return false;
  }
  return multiplies;
}
