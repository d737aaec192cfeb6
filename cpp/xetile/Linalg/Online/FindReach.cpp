//===- FindReach.cpp - where a causal mask ends rows of scores ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: reductions along n that depend on maxima. Out: the offset by which rows, an index each, end
// along n: what comes behind is minus infinity. Refused: masks of other forms, of other offsets for
// other reductions, and reductions that see hidden elements.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/LinearIndex.h"
#include "xetile/Linalg/Online/Online.h"

using namespace mlir;
using namespace xetile;

namespace {
class ReachFinder {
public:
  explicit ReachFinder(const Online &online) : online(online) {}

  std::optional<OnlineReach> find();

private:
  bool hides(linalg::GenericOp op, Value scalar);
  bool hidesBy(linalg::GenericOp op, Value condition, bool where);
  bool compares(linalg::GenericOp op, arith::CmpIOp compare, bool where);
  /// Through the ops between to the one that computes `scalar` in its body; false where that is
  /// none of them.
  bool resolve(linalg::GenericOp &op, Value &scalar) const;

  const Online &online;
  OnlineReach found;
};
} // namespace

static bool isLowest(Value scalar) {
  APFloat constant(0.0f);
  return matchPattern(scalar, m_ConstantFloat(&constant)) && constant.isInfinity() &&
         constant.isNegative();
}

bool ReachFinder::resolve(linalg::GenericOp &op, Value &scalar) const {
  while (OpOperand *operand = operandOf(op, scalar)) {
    if (!online.isBetween(operand->get().getDefiningOp()))
      return false;
    op = operand->get().getDefiningOp<linalg::GenericOp>();
    scalar = yielded(op);
  }
  return scalar.getDefiningOp() != nullptr;
}

/// True if `compare` is `where` if n > row + offset, for one offset and all rows; it is noted down.
bool ReachFinder::compares(linalg::GenericOp op, arith::CmpIOp compare, bool where) {
  using Is = arith::CmpIPredicate;
  std::optional<LinearIndex> left = linearIndexOf(op, compare.getLhs()),
                             right = linearIndexOf(op, compare.getRhs());
  std::optional<unsigned> n = online.loopOf(op);
  if (!left || !right || !n)
    return false;
  LinearIndex difference = left->minus(*right);
  // As n - row + constant against zero, and true where the element is hidden.
  Is predicate = compare.getPredicate();
  if (!where)
    predicate = arith::invertPredicate(predicate);
  if (difference.factors[*n] == -1) {
    difference = LinearIndex{SmallVector<int64_t>(difference.factors.size(), 0)}.minus(difference);
    predicate = predicate == Is::slt ? Is::sgt : predicate == Is::sle ? Is::sge : Is::eq;
  }
  if (predicate != Is::sgt && predicate != Is::sge)
    return false;
  std::optional<unsigned> row;
  for (auto [loop, factor] : llvm::enumerate(difference.factors)) {
    if (factor == 0)
      continue;
    if (loop == *n ? factor != 1 : (factor != -1 || row))
      return false;
    if (loop != *n)
      row = loop;
  }
  if (difference.factors[*n] != 1 || !row)
    return false;
  OnlineReach reach;
  reach.rows = online.axisOf(op, *row);
  reach.offset = -difference.constant - (predicate == Is::sge ? 1 : 0);
  if (found.comparisons.empty()) {
    found.rows = reach.rows;
    found.offset = reach.offset;
  } else if (found.rows != reach.rows || found.offset != reach.offset) {
    return false;
  }
  found.comparisons[compare] = !where;
  return true;
}

/// True if `condition` is `where` for what is hidden.
bool ReachFinder::hidesBy(linalg::GenericOp op, Value condition, bool where) {
  if (!resolve(op, condition))
    return false;
  Operation *by = condition.getDefiningOp();
  if (auto compare = dyn_cast<arith::CmpIOp>(by))
    return compares(op, compare, where);
  if (isa<arith::XOrIOp>(by))
    return matchPattern(by->getOperand(1), m_One()) && hidesBy(op, by->getOperand(0), !where);
  // One of two that is false makes both false, one that is true makes either true.
  if (where ? isa<arith::OrIOp>(by) : isa<arith::AndIOp>(by))
    return hidesBy(op, by->getOperand(0), where) || hidesBy(op, by->getOperand(1), where);
  return false;
}

/// True if `scalar` is minus infinity for elements behind the reach. (What would be infinity or NaN
/// there, and the sum of that, is hidden, too: as a mask does in PyTorch's kernels.)
bool ReachFinder::hides(linalg::GenericOp op, Value scalar) {
  if (!resolve(op, scalar))
    return false;
  Operation *by = scalar.getDefiningOp();
  if (auto select = dyn_cast<arith::SelectOp>(by)) {
    if (isLowest(select.getFalseValue()))
      return hidesBy(op, select.getCondition(), false) || hides(op, select.getTrueValue());
    return isLowest(select.getTrueValue()) &&
           (hidesBy(op, select.getCondition(), true) || hides(op, select.getFalseValue()));
  }
  if (isa<arith::AddFOp>(by))
    return hides(op, by->getOperand(1)) || hides(op, by->getOperand(0));
  if (isa<arith::ExtFOp, arith::TruncFOp>(by))
    return hides(op, by->getOperand(0));
  APFloat factor(0.0f);
  return isa<arith::MulFOp, arith::DivFOp>(by) &&
         matchPattern(by->getOperand(1), m_ConstantFloat(&factor)) && factor.isFiniteNonZero() &&
         !factor.isNegative() && hides(op, by->getOperand(0));
}

std::optional<OnlineReach> ReachFinder::find() {
  for (const OnlineReduction &reduction : online.reductions) {
    linalg::GenericOp op = reduction.op;
    Operation *combiner = nullptr;
    Value element = elementOf(op, combiner);
    if (reduction.power) {
      op = cast<linalg::GenericOp>(reduction.power->difference->getParentOp());
      element = reduction.power->difference->getOperand(0);
    } else if (!isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner)) {
      return std::nullopt;
    }
    linalg::GenericOp reduced = reduction.op;
    if (!hides(op, element) || !llvm::is_contained(online.axesOfResult(reduced), found.rows))
      return std::nullopt;
  }
  return found;
}

std::optional<OnlineReach> xetile::findReach(const Online &online) {
  return ReachFinder(online).find();
}
