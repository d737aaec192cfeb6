//===- FindForms.cpp - how scalars depend on reductions ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a scalar in the body of an op, or a tensor, and reductions along n. Out: whether it is the
// same for all n, a power or square of a difference from what is, or something else. Refused:
// nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/Online/OnlineFinder.h"

using namespace mlir;
using namespace xetile;

OnlineForm OnlineFinder::formOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op || !found.ops.contains(op))
    return {};
  if (cast<linalg::GenericOp>(op).getNumReductionLoops() != 0)
    return {OnlineForm::Row, false, {}, {}, nullptr};
  auto generic = cast<linalg::GenericOp>(op);
  OnlineForm form = formOf(generic, yielded(generic));
  form.varies = false;
  return form;
}

OnlineForm OnlineFinder::formOf(linalg::GenericOp op, Value scalar) {
  if (OpOperand *operand = operandOf(op, scalar)) {
    OnlineForm form = formOf(operand->get());
    std::optional<unsigned> loop = found.loopOf(op);
    form.varies = form.kind == OnlineForm::Free && loop &&
                  op.getMatchingIndexingMap(operand).isFunctionOfDim(*loop);
    return form;
  }
  Operation *by = scalar.getDefiningOp();
  if (!by || by->getBlock() != op.getBody() || matchPattern(by, m_Constant()))
    return {};
  if (auto index = dyn_cast<linalg::IndexOp>(by))
    return {OnlineForm::Free, found.loopOf(op) == index.getDim(), {}, {}, nullptr};
  auto [entry, isNew] = known.try_emplace(scalar);
  if (!isNew)
    return entry->second;
  OnlineForm form = combine(by, llvm::map_to_vector(by->getOperands(), [&](Value operand) {
                              return formOf(op, operand);
                            }));
  known[scalar] = form;
  return form;
}

static bool isConstant(Value value) { return matchPattern(value, m_Constant()); }

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

// Long: a case for each form.
OnlineForm OnlineFinder::combine(Operation *op, ArrayRef<OnlineForm> forms) {
  auto all = [&](auto is) { return llvm::all_of(forms, is); };
  if (all([](const OnlineForm &form) { return form.kind == OnlineForm::Free; }))
    return {OnlineForm::Free,
            llvm::any_of(forms, [](const OnlineForm &form) { return form.varies; }),
            {},
            {},
            nullptr};
  if (op->getNumResults() == 1 && op->getNumRegions() == 0 && all([](const OnlineForm &form) {
        return form.kind == OnlineForm::Row || (form.kind == OnlineForm::Free && !form.varies);
      }))
    return {OnlineForm::Row, false, {}, {}, nullptr};
  OnlineForm result;
  auto take = [&](unsigned operand) {
    result = forms[operand];
    return true;
  };
  auto is = [&](unsigned operand, OnlineForm::Kind kind) { return forms[operand].kind == kind; };
  auto isOne = [&](OnlineForm::Kind kind) { return is(0, kind) != is(1, kind); };
  if (isa<arith::SubFOp>(op) && is(0, OnlineForm::Free) && is(1, OnlineForm::Row)) {
    result.kind = OnlineForm::Difference;
    result.power.difference = op;
    return result;
  }
  if (isa<arith::SubFOp>(op) && is(0, OnlineForm::Row) && is(1, OnlineForm::Free)) {
    result.kind = OnlineForm::Opposite;
    result.power.difference = op;
    return result;
  }
  if (combineSquare(op, forms, result))
    return result;
  if (isa<arith::MulFOp, arith::DivFOp>(op) && isOne(OnlineForm::Difference)) {
    unsigned at = is(0, OnlineForm::Difference) ? 0 : 1;
    if (isConstant(op->getOperand(1 - at)) && (at == 0 || isa<arith::MulFOp>(op)) && take(at)) {
      result.power.factors.push_back(op);
      return result;
    }
  }
  if (isa<math::ExpOp, math::Exp2Op>(op) && is(0, OnlineForm::Difference) && take(0)) {
    result.kind = OnlineForm::Power;
    result.power.power = op;
    return result;
  }
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(op) && is(0, OnlineForm::Power) && take(0))
    return result;
  if (isa<arith::MulFOp, arith::DivFOp>(op) && isOne(OnlineForm::Power)) {
    unsigned at = is(0, OnlineForm::Power) ? 0 : 1;
    if ((at == 0 || isa<arith::MulFOp>(op)) &&
        (is(1 - at, OnlineForm::Free) || is(1 - at, OnlineForm::Row)) && take(at)) {
      if (is(1 - at, OnlineForm::Row))
        result.power.rowSteps.push_back(op);
      return result;
    }
  }
  if (isa<arith::SelectOp>(op) && (is(0, OnlineForm::Free) || is(0, OnlineForm::Row)))
    for (unsigned at : {1, 2})
      if (is(at, OnlineForm::Power) && isZero(op->getOperand(3 - at)) && take(at)) {
        if (is(0, OnlineForm::Row))
          result.power.rowSteps.push_back(op);
        return result;
      }
  result = {};
  result.kind = OnlineForm::Other;
  for (const OnlineForm &form : forms)
    if (form.kind == OnlineForm::Other && form.by)
      result.by = form.by;
  if (!result.by)
    result.by = op;
  return result;
}

/// Squares of differences, and products of these with what is the same for all n.
bool OnlineFinder::combineSquare(Operation *op, ArrayRef<OnlineForm> forms, OnlineForm &result) {
  auto isDistance = [](const OnlineForm &form) {
    return (form.kind == OnlineForm::Difference || form.kind == OnlineForm::Opposite) &&
           form.power.factors.empty();
  };
  APFloat exponent(0.0f);
  APInt whole;
  bool isSquare = isa<arith::MulFOp>(op)
                      ? isDistance(forms[0]) && isDistance(forms[1]) &&
                            forms[0].power.difference == forms[1].power.difference
                      : (isa<math::PowFOp>(op) && isDistance(forms[0]) &&
                         matchPattern(op->getOperand(1), m_ConstantFloat(&exponent)) &&
                         exponent.convertToDouble() == 2) ||
                            (isa<math::FPowIOp>(op) && isDistance(forms[0]) &&
                             matchPattern(op->getOperand(1), m_ConstantInt(&whole)) && whole == 2);
  if (isSquare) {
    result.kind = OnlineForm::Square;
    result.square.difference = forms[0].power.difference;
    result.square.varying = forms[0].kind == OnlineForm::Difference ? 0 : 1;
    result.square.square = op;
    return true;
  }
  auto is = [&](unsigned operand, OnlineForm::Kind kind) { return forms[operand].kind == kind; };
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) && is(0, OnlineForm::Square)) {
    result = forms[0];
    return true;
  }
  if (!isa<arith::MulFOp, arith::DivFOp>(op) ||
      is(0, OnlineForm::Square) == is(1, OnlineForm::Square))
    return false;
  unsigned at = is(0, OnlineForm::Square) ? 0 : 1;
  const OnlineForm &other = forms[1 - at];
  if ((at == 1 && isa<arith::DivFOp>(op)) ||
      !(other.kind == OnlineForm::Row || (other.kind == OnlineForm::Free && !other.varies)))
    return false;
  result = forms[at];
  result.square.rowSteps.push_back(op);
  return true;
}

/// True if two scalars are the same computation of the same elements.
bool OnlineFinder::isSame(linalg::GenericOp x, Value a, linalg::GenericOp y, Value b) {
  auto resolve = [&](linalg::GenericOp &op, Value &scalar) {
    while (OpOperand *operand = operandOf(op, scalar)) {
      Operation *producer = operand->get().getDefiningOp();
      if (!found.isBetween(producer))
        return operand;
      op = cast<linalg::GenericOp>(producer);
      scalar = yielded(op);
    }
    return static_cast<OpOperand *>(nullptr);
  };
  OpOperand *left = resolve(x, a), *right = resolve(y, b);
  if (left || right) {
    if (!left || !right || left->get() != right->get())
      return false;
    auto axes = [&](linalg::GenericOp op, OpOperand *operand) {
      return llvm::map_to_vector(op.getMatchingIndexingMap(operand).getResults(),
                                 [&](AffineExpr expr) {
                                   return found.axisOf(op, cast<AffineDimExpr>(expr).getPosition());
                                 });
    };
    return axes(x, left) == axes(y, right);
  }
  Attribute one, other;
  if (matchPattern(a, m_Constant(&one)) || matchPattern(b, m_Constant(&other)))
    return matchPattern(a, m_Constant(&one)) && matchPattern(b, m_Constant(&other)) && one == other;
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || first->getName() != second->getName() ||
      first->getNumOperands() != second->getNumOperands() || first->getNumRegions() != 0)
    return false;
  if (auto index = dyn_cast<linalg::IndexOp>(first))
    return found.axisOf(x, index.getDim()) ==
           found.axisOf(y, cast<linalg::IndexOp>(second).getDim());
  return first->getAttrDictionary() == second->getAttrDictionary() &&
         llvm::all_of(llvm::zip_equal(first->getOperands(), second->getOperands()), [&](auto pair) {
           return isSame(x, std::get<0>(pair), y, std::get<1>(pair));
         });
}

/// True if `scalar` depends on where it is, by linalg.index.
bool OnlineFinder::knowsPlaces(linalg::GenericOp op, Value scalar) {
  if (OpOperand *operand = operandOf(op, scalar)) {
    auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
    return found.isBetween(producer) && knowsPlaces(producer, yielded(producer));
  }
  Operation *by = scalar.getDefiningOp();
  return by && by->getBlock() == op.getBody() &&
         (isa<linalg::IndexOp>(by) || by->getNumRegions() != 0 ||
          llvm::any_of(by->getOperands(), [&](Value operand) { return knowsPlaces(op, operand); }));
}
