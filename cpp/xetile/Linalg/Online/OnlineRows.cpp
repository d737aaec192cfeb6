//===- OnlineRows.cpp - what is done once a row and block ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: sums of powers so far, maxima before and now. Out: the sums as if the maxima had always been
// those; in the end what was put off. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/Online/AxisOp.h"
#include "xetile/Linalg/Online/OnlineMaker.h"

using namespace mlir;
using namespace xetile;

Value xetile::convert(OpBuilder &b, Location loc, Value scalar, Type type) {
  if (scalar.getType() == type)
    return scalar;
  if (scalar.getType().getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, scalar);
  return arith::TruncFOp::create(b, loc, type, scalar);
}

/// `scalar` computed of elements of tensors, through the ops between.
Value OnlineMaker::inlined(OpBuilder &inside, linalg::GenericOp op, Value scalar,
                           Substitute element) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (argument && argument.getOwner() == op.getBody()) {
    Value operand = op->getOperand(argument.getArgNumber());
    if (!isa<RankedTensorType>(operand.getType()))
      return operand;
    Operation *producer = operand.getDefiningOp();
    if (!online.isBetween(producer))
      return element(operand);
    auto generic = cast<linalg::GenericOp>(producer);
    return inlined(inside, generic, generic.getBody()->getTerminator()->getOperand(0), element);
  }
  Operation *by = scalar.getDefiningOp();
  if (!by || by->getBlock() != op.getBody())
    return scalar;
  IRMapping map;
  for (Value operand : by->getOperands())
    map.map(operand, inlined(inside, op, operand, element));
  return inside.clone(*by, map)->getResult(0);
}

Value OnlineMaker::isLowest(OpBuilder &inside, Value scalar) {
  auto type = cast<FloatType>(scalar.getType());
  Value lowest = arith::ConstantOp::create(
      inside, loc,
      inside.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true)));
  return arith::CmpFOp::create(inside, loc, arith::CmpFPredicate::OEQ, scalar, lowest);
}

Value OnlineMaker::timesLog2E(OpBuilder &inside, Value scalar) {
  Value factor = arith::ConstantOp::create(
      inside, loc, inside.getFloatAttr(scalar.getType(), 1.4426950408889634));
  return arith::MulFOp::create(inside, loc, scalar, factor);
}

Value OnlineMaker::times(OpBuilder &inside, Value scalar, double factor) {
  Value constant =
      arith::ConstantOp::create(inside, loc, inside.getFloatAttr(scalar.getType(), factor));
  return arith::MulFOp::create(inside, loc, scalar, constant);
}

/// The lowest number in place of minus infinity: powers of what is infinitely lower are zero, and
/// never NaN. Of NaN it makes a number, too: the elements that are NaN make the sums NaN.
Value OnlineMaker::finite(OpBuilder &inside, Value scalar) {
  auto type = cast<FloatType>(scalar.getType());
  Value lowest = arith::ConstantOp::create(
      inside, loc,
      inside.getFloatAttr(type, APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true)));
  return arith::MaxNumFOp::create(inside, loc, scalar, lowest);
}

/// NaN where `scalar` is what a maximum starts from, or infinite, else zero: without comparisons,
/// which Intel's compiler fails on.
Value OnlineMaker::nanIfInfinite(OpBuilder &inside, Value scalar) {
  Value zero = arith::ConstantOp::create(inside, loc, inside.getFloatAttr(scalar.getType(), 0.0));
  if (online.binary) {
    Value lowest =
        arith::ConstantOp::create(inside, loc, inside.getFloatAttr(scalar.getType(), kLowestScore));
    Value above = arith::SubFOp::create(inside, loc, scalar, lowest);
    return arith::DivFOp::create(inside, loc, zero, above);
  }
  Value difference = arith::SubFOp::create(inside, loc, scalar, finite(inside, scalar));
  return arith::MulFOp::create(inside, loc, difference, zero);
}

static bool reads(ArrayRef<OnlineLeaf> leaves, OnlineAxis axis) {
  return llvm::any_of(leaves,
                      [&](const OnlineLeaf &leaf) { return llvm::is_contained(leaf.axes, axis); });
}

/// exp(r before - r now) of elements of what r is computed of, zero as long as all was minus
/// infinity.
Value OnlineMaker::ratioOf(OpBuilder &inside, const OnlineReduction &reduction,
                           ArrayRef<OnlineLeaf> leaves, Substitute was, Substitute is) {
  const OnlinePower &power = *reduction.power;
  linalg::GenericOp op = opOf(power.difference);
  Value subtracted = power.difference->getOperand(1);
  Value old = inlined(inside, op, subtracted, was), fresh = inlined(inside, op, subtracted, is);
  Value exponent = arith::SubFOp::create(inside, loc, old, finite(inside, fresh));
  for (Operation *each : power.factors) {
    IRMapping map;
    for (Value operand : each->getOperands())
      map.map(operand, matchPattern(operand, m_Constant())
                           ? inlined(inside, opOf(each), operand, is)
                           : exponent);
    exponent = inside.clone(*each, map)->getResult(0);
  }
  IRMapping map;
  map.map(power.power->getOperand(0), exponent);
  Value ratio = inside.clone(*power.power, map)->getResult(0);
  Value zero = arith::ConstantOp::create(inside, loc, inside.getFloatAttr(ratio.getType(), 0.0));
  // Of a maximum alone the power is zero by itself.
  for (const OnlineLeaf &leaf : leaves)
    if (online.reductionOf(leaf.tensor) && !isa<BlockArgument>(old))
      ratio = arith::SelectOp::create(inside, loc, isLowest(inside, was(leaf.tensor)), zero, ratio);
  return ratio;
}

/// The same for all rows.
Value OnlineMaker::factor(const OnlineReduction &reduction) {
  const OnlinePower &power = *reduction.power;
  linalg::GenericOp op = opOf(power.difference);
  Value subtracted = power.difference->getOperand(1);
  SmallVector<OnlineLeaf> leaves;
  online.leavesOf(op, subtracted, leaves);
  SmallVector<OnlineAxis> axes;
  SmallVector<int64_t> shape;
  linalg::GenericOp sum = reduction.op;
  SmallVector<OnlineAxis> kept = online.axesOfResult(sum);
  for (unsigned i = 0; i < kept.size(); ++i)
    if (reads(leaves, kept[i])) {
      axes.push_back(kept[i]);
      shape.push_back(typeOf(sum.getResult(0)).getDimSize(i));
    }
  auto was = [&](Value tensor) { return online.reductionOf(tensor) ? before[tensor] : tensor; };
  auto is = [&](Value tensor) { return ofRows(tensor); };
  AxisOp result(axes);
  for (OnlineLeaf &leaf : leaves) {
    result.add(was(leaf.tensor), leaf.axes);
    result.add(is(leaf.tensor), leaf.axes);
  }
  return result.create(
      b, loc, shape, subtracted.getType(), [&](OpBuilder &inside, auto get) -> Value {
        if (online.binary) {
          bool guarded = false;
          linalg::GenericOp top = online.maximumOf(op, subtracted, guarded)->op;
          Value exponent = arith::SubFOp::create(inside, loc, get(was(top.getResult(0))),
                                                 get(is(top.getResult(0))));
          return math::Exp2Op::create(inside, loc, exponent).getResult();
        }
        return ratioOf(
            inside, reduction, leaves, [&](Value tensor) { return get(was(tensor)); },
            [&](Value tensor) { return get(is(tensor)); });
      });
}

/// A sum of powers so far, as if it had been one of today's.
Value OnlineMaker::scaled(const OnlineReduction &reduction, Value total) {
  linalg::GenericOp op = reduction.op;
  SmallVector<OnlineAxis> axes = online.axesOfResult(op);
  Value ratio = factor(reduction);
  SmallVector<OnlineLeaf> leaves;
  online.leavesOf(opOf(reduction.power->difference), reduction.power->difference->getOperand(1),
                  leaves);
  SmallVector<OnlineAxis> ofRatio;
  for (OnlineAxis axis : axes)
    if (reads(leaves, axis))
      ofRatio.push_back(axis);
  AxisOp product(axes);
  product.add(total, axes);
  product.add(ratio, ofRatio);
  RankedTensorType type = typeOf(total);
  return product.create(
      b, loc, type.getShape(), type.getElementType(),
      [&](OpBuilder &inside, auto get) {
        Value by = convert(inside, loc, get(ratio), type.getElementType());
        return arith::MulFOp::create(inside, loc, get(total), by);
      },
      /*in place=*/total);
}

/// Products and quotients with what is known of rows, and selections by it.
Value OnlineMaker::applySteps(OpBuilder &inside, ArrayRef<Operation *> steps, Operation *source,
                              Value value, Substitute element) {
  Type wide = value.getType();
  for (Operation *each : steps) {
    IRMapping map;
    for (Value operand : each->getOperands()) {
      if (online.dependsOn(opOf(each), operand, source)) {
        map.map(operand, value);
        continue;
      }
      Value other = inlined(inside, opOf(each), operand, element);
      map.map(operand, isa<FloatType>(other.getType()) ? convert(inside, loc, other, wide) : other);
    }
    Operation *made = inside.clone(*each, map);
    made->getResult(0).setType(wide);
    value = made->getResult(0);
  }
  return value;
}

/// The result of a sum of powers or squares, `total`. Rows of nothing but minus infinity are
/// NaN, as the powers of their differences were.
Value OnlineMaker::finished(OpBuilder &inside, const OnlineReduction &reduction, Value total,
                            Value sum, Substitute element) {
  if (reduction.square) {
    const OnlineSquare &square = *reduction.square;
    Value r = inlined(inside, opOf(square.difference),
                      square.difference->getOperand(1 - square.varying), element);
    Value apart = arith::SubFOp::create(
        inside, loc, times(inside, sum, 1.0 / static_cast<double>(online.extent)),
        convert(inside, loc, r, total.getType()));
    apart = arith::MulFOp::create(inside, loc, apart, apart);
    total = arith::AddFOp::create(inside, loc, total,
                                  times(inside, apart, static_cast<double>(online.extent)));
    return applySteps(inside, square.rowSteps, square.square, total, element);
  }
  const OnlinePower &power = *reduction.power;
  linalg::GenericOp op = opOf(power.difference);
  Value subtracted = power.difference->getOperand(1);
  bool guarded = false;
  const OnlineReduction *top = online.maximumOf(op, subtracted, guarded);
  if (!online.binary || (top && !guarded)) {
    Value nan = nanIfInfinite(inside, inlined(inside, op, subtracted, element));
    total = arith::AddFOp::create(inside, loc, total, convert(inside, loc, nan, total.getType()));
  }
  return applySteps(inside, power.rowSteps, power.power, total, element);
}

/// Does what was put off until all of n is known.
SmallVector<Value> OnlineMaker::finish(ValueRange totals) {
  llvm::DenseMap<Value, Value> final, wide;
  SmallVector<Value> results;
  for (unsigned i = 0; i < totals.size(); ++i) {
    const OnlineReduction &reduction = online.reductions[i];
    Value total = totals[i];
    linalg::GenericOp sum = reduction.op;
    Value tensor = sum.getResult(0);
    wide[tensor] = total;
    RankedTensorType type = typeOf(tensor);
    if (!reduction.depends() && typeOf(total) == type) {
      results.push_back(final[tensor] = total);
      continue;
    }
    SmallVector<OnlineAxis> axes = online.axesOfResult(sum);
    auto is = [&](Value leaf) { return online.reductionOf(leaf) ? final[leaf] : leaf; };
    SmallVector<OnlineLeaf> leaves;
    Value centre;
    if (reduction.depends()) {
      bool isPower = reduction.power.has_value();
      Operation *difference = isPower ? reduction.power->difference : reduction.square->difference;
      unsigned at = isPower ? 1 : 1 - reduction.square->varying;
      online.leavesOf(opOf(difference), difference->getOperand(at), leaves);
      Operation *source = isPower ? reduction.power->power : reduction.square->square;
      for (Operation *each : isPower ? reduction.power->rowSteps : reduction.square->rowSteps)
        for (Value operand : each->getOperands())
          if (!online.dependsOn(opOf(each), operand, source))
            online.leavesOf(opOf(each), operand, leaves);
    }
    AxisOp result(axes);
    result.add(total, axes);
    if (reduction.square) {
      linalg::GenericOp of = reduction.square->sum;
      centre = wide[of.getResult(0)];
      result.add(centre, online.axesOfResult(of));
    }
    for (OnlineLeaf &leaf : leaves)
      result.add(is(leaf.tensor), leaf.axes);
    final[tensor] = result.create(
        b, loc, type.getShape(), type.getElementType(), [&](OpBuilder &inside, auto get) {
          Value value = get(total);
          if (reduction.depends())
            value = finished(inside, reduction, value, centre ? get(centre) : Value(),
                             [&](Value leaf) { return get(is(leaf)); });
          return convert(inside, loc, value, type.getElementType());
        });
    results.push_back(final[tensor]);
  }
  return results;
}
