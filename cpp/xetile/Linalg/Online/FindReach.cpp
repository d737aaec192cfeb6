//===- FindReach.cpp - where a mask begins and ends rows of scores ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: reductions along n that depend on maxima. Out: the offsets by which rows, an index each,
// begin and end along n: what is not between them is minus infinity. Refused: masks of other forms,
// of other offsets for other reductions, and reductions that see hidden elements.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/LinearIndex.h"
#include "xetile/Linalg/Online/Online.h"

using namespace mlir;
using namespace xetile;

namespace {
/// An end of rows: element n of row r is hidden where n > r + offset or, of a beginning, where
/// n < r + offset.
struct End {
  OnlineAxis rows;
  bool isBeginning = false;
  int64_t offset = 0;

  bool operator==(const End &other) const {
    return rows == other.rows && isBeginning == other.isBeginning && offset == other.offset;
  }
};
using Ends = SmallVector<End>;

class ReachFinder {
public:
  explicit ReachFinder(const Online &online) : online(online) {}

  std::optional<OnlineReach> find();

private:
  /// The ends behind which `scalar` in the body of `op` is minus infinity.
  Ends hides(linalg::GenericOp op, Value scalar);
  /// The ends behind which `condition` is `where`.
  Ends hidesBy(linalg::GenericOp op, Value condition, bool where);
  std::optional<End> compares(linalg::GenericOp op, arith::CmpIOp compare, bool where);
  /// Through the ops between to the one that computes `scalar` in its body; false where that is
  /// none of them.
  bool resolve(linalg::GenericOp &op, Value &scalar) const;

  const Online &online;
  /// Comparisons that make an end, and their results for what is seen.
  SmallVector<std::tuple<Operation *, End, bool>> comparisons;
};
} // namespace

static Ends both(Ends ends, const Ends &others) {
  for (const End &end : others)
    if (!llvm::is_contained(ends, end))
      ends.push_back(end);
  return ends;
}

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

/// The end of which `compare` is `where`, if there is one offset for all rows; it is noted down.
std::optional<End> ReachFinder::compares(linalg::GenericOp op, arith::CmpIOp compare, bool where) {
  using Is = arith::CmpIPredicate;
  std::optional<LinearIndex> left = linearIndexOf(op, compare.getLhs()),
                             right = linearIndexOf(op, compare.getRhs());
  std::optional<unsigned> n = online.loopOf(op);
  if (!left || !right || !n)
    return std::nullopt;
  LinearIndex difference = left->minus(*right);
  // As n - row + constant against zero, and true where the element is hidden.
  Is predicate = compare.getPredicate();
  if (!where)
    predicate = arith::invertPredicate(predicate);
  if (!llvm::is_contained({Is::slt, Is::sle, Is::sgt, Is::sge}, predicate))
    return std::nullopt;
  bool isAbove = predicate == Is::sgt || predicate == Is::sge,
       isStrict = predicate == Is::sgt || predicate == Is::slt;
  if (difference.factors[*n] == -1) {
    difference = LinearIndex{SmallVector<int64_t>(difference.factors.size(), 0)}.minus(difference);
    isAbove = !isAbove;
  }
  std::optional<unsigned> row;
  for (auto [loop, factor] : llvm::enumerate(difference.factors)) {
    if (factor == 0)
      continue;
    if (loop == *n ? factor != 1 : (factor != -1 || row))
      return std::nullopt;
    if (loop != *n)
      row = loop;
  }
  if (difference.factors[*n] != 1 || !row)
    return std::nullopt;
  // The last element that is seen or, of a beginning, the first one.
  int64_t beyond = isStrict ? 0 : isAbove ? -1 : 1;
  End end{online.axisOf(op, *row), !isAbove, -difference.constant + beyond};
  comparisons.emplace_back(compare, end, !where);
  return end;
}

Ends ReachFinder::hidesBy(linalg::GenericOp op, Value condition, bool where) {
  if (!resolve(op, condition))
    return {};
  Operation *by = condition.getDefiningOp();
  if (auto compare = dyn_cast<arith::CmpIOp>(by)) {
    std::optional<End> end = compares(op, compare, where);
    return end ? Ends{*end} : Ends();
  }
  if (isa<arith::XOrIOp>(by) && matchPattern(by->getOperand(1), m_One()))
    return hidesBy(op, by->getOperand(0), !where);
  // One of two that is false makes both false, one that is true makes either true.
  if (where ? isa<arith::OrIOp>(by) : isa<arith::AndIOp>(by))
    return both(hidesBy(op, by->getOperand(0), where), hidesBy(op, by->getOperand(1), where));
  return {};
}

/// (What would be infinity or NaN there, and the sum of that, is hidden, too: as a mask does in
/// PyTorch's kernels.)
Ends ReachFinder::hides(linalg::GenericOp op, Value scalar) {
  if (!resolve(op, scalar))
    return {};
  Operation *by = scalar.getDefiningOp();
  if (auto select = dyn_cast<arith::SelectOp>(by)) {
    if (isLowest(select.getFalseValue()))
      return both(hidesBy(op, select.getCondition(), false), hides(op, select.getTrueValue()));
    if (isLowest(select.getTrueValue()))
      return both(hidesBy(op, select.getCondition(), true), hides(op, select.getFalseValue()));
    return {};
  }
  if (isa<arith::AddFOp>(by))
    return both(hides(op, by->getOperand(1)), hides(op, by->getOperand(0)));
  if (isa<arith::ExtFOp, arith::TruncFOp>(by))
    return hides(op, by->getOperand(0));
  APFloat factor(0.0f);
  bool keeps = isa<arith::MulFOp, arith::DivFOp>(by) &&
               matchPattern(by->getOperand(1), m_ConstantFloat(&factor)) &&
               factor.isFiniteNonZero() && !factor.isNegative();
  return keeps ? hides(op, by->getOperand(0)) : Ends();
}

std::optional<OnlineReach> ReachFinder::find() {
  std::optional<Ends> common;
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
    SmallVector<OnlineAxis> kept = online.axesOfResult(reduction.op);
    Ends ends = hides(op, element);
    llvm::erase_if(ends, [&](const End &end) {
      return !llvm::is_contained(kept, end.rows) || (common && !llvm::is_contained(*common, end));
    });
    common = std::move(ends);
  }
  if (!common || common->empty())
    return std::nullopt;
  OnlineReach reach;
  reach.rows = common->front().rows;
  for (const End &end : *common) {
    std::optional<int64_t> &offset = end.isBeginning ? reach.first : reach.last;
    if (end.rows == reach.rows && (!offset || (*offset < end.offset) == end.isBeginning))
      offset = end.offset;
  }
  for (auto [compare, end, seen] : comparisons)
    if (end.rows == reach.rows && (end.isBeginning ? reach.first : reach.last) == end.offset)
      reach.comparisons[compare] = seen;
  return reach;
}

std::optional<OnlineReach> xetile::findReach(const Online &online) {
  return ReachFinder(online).find();
}
