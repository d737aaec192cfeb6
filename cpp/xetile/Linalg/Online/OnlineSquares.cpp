//===- OnlineSquares.cpp - sums of squares about a mean ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a sum, and a sum of squared distances about the mean, of what was before; a block. Out: both
// with the block (Chan, Golub and LeVeque: Updating formulae and a pairwise algorithm for computing
// sample variances, 1979). Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "xetile/Linalg/Online/AxisOp.h"
#include "xetile/Linalg/Online/OnlineMaker.h"

using namespace mlir;
using namespace xetile;

/// The sum of the block of the moment alone.
Value OnlineMaker::sumNow(linalg::GenericOp op) {
  if (Value known = blockSums.lookup(op.getResult(0)))
    return known;
  const OnlineReduction &reduction = *online.reductionOf(op.getResult(0));
  Operation *combiner = nullptr;
  Value element = elementOf(op, combiner);
  SmallVector<OnlineAxis> axes = online.axesOfResult(op);
  OnlineAxis n = online.axisOf(online.n.first, online.n.second);
  axes.push_back(n);
  SmallVector<OnlineLeaf> leaves;
  online.leavesOf(op, element, leaves);
  AxisOp sum(axes);
  auto is = [&](const OnlineLeaf &leaf) {
    auto at = llvm::find(leaf.axes, n);
    return at == leaf.axes.end()
               ? leaf.tensor
               : slice(leaf.tensor, static_cast<unsigned>(at - leaf.axes.begin()));
  };
  llvm::DenseMap<Value, Value> blocks;
  for (OnlineLeaf &leaf : leaves)
    sum.add(blocks[leaf.tensor] = is(leaf), leaf.axes);
  Type wide = carriedType(reduction);
  Value made = sum.reduce(b, loc, zeros(op, wide), [&](OpBuilder &inside, auto get, Value total) {
    Value x = inlined(inside, op, element, [&](Value tensor) { return get(blocks[tensor]); });
    return arith::AddFOp::create(inside, loc, total, convert(inside, loc, x, wide)).getResult();
  });
  return blockSums[op.getResult(0)] = made;
}

/// The sum that squares are about, with this block.
Value OnlineMaker::centreNow(const OnlineReduction &reduction) {
  linalg::GenericOp op = reduction.op;
  Value was = before[op.getResult(0)], more = sumNow(op);
  SmallVector<OnlineAxis> axes = online.axesOfResult(op);
  AxisOp sum(axes);
  sum.add(was, axes);
  sum.add(more, axes);
  RankedTensorType type = typeOf(was);
  return sum.create(b, loc, type.getShape(), type.getElementType(),
                    [&](OpBuilder &inside, auto get) {
                      return arith::AddFOp::create(inside, loc, get(was), get(more)).getResult();
                    });
}

/// A sum of squares about the mean so far, with this block's, about its own mean.
Value OnlineMaker::squaresNow(const OnlineReduction &reduction) {
  const OnlineSquare &square = *reduction.square;
  linalg::GenericOp op = reduction.op, centre = square.sum, by = opOf(square.difference);
  Value x = square.difference->getOperand(square.varying);
  Value more = sumNow(centre), sumBefore = before[centre.getResult(0)],
        was = before[op.getResult(0)];
  Type wide = carriedType(reduction);
  SmallVector<OnlineAxis> kept = online.axesOfResult(op), ofSum = online.axesOfResult(centre);
  OnlineAxis n = online.axisOf(online.n.first, online.n.second);
  SmallVector<OnlineAxis> axes(kept);
  axes.push_back(n);
  SmallVector<OnlineLeaf> leaves;
  online.leavesOf(by, x, leaves);
  llvm::DenseMap<Value, Value> blocks;
  AxisOp squares(axes);
  for (OnlineLeaf &leaf : leaves) {
    auto at = llvm::find(leaf.axes, n);
    Value block = leaf.tensor;
    if (at != leaf.axes.end())
      block = slice(leaf.tensor, static_cast<unsigned>(at - leaf.axes.begin()));
    squares.add(blocks[leaf.tensor] = block, leaf.axes);
  }
  squares.add(more, ofSum);
  auto count = static_cast<double>(size);
  Value own =
      squares.reduce(b, loc, zeros(op, wide), [&](OpBuilder &inside, auto get, Value total) {
        Value element = inlined(inside, by, x, [&](Value tensor) { return get(blocks[tensor]); });
        Value mean = convert(inside, loc, times(inside, get(more), 1.0 / count), wide);
        Value far = arith::SubFOp::create(inside, loc, convert(inside, loc, element, wide), mean);
        far = arith::MulFOp::create(inside, loc, far, far);
        return arith::AddFOp::create(inside, loc, total, far).getResult();
      });
  AxisOp both(kept);
  both.add(was, kept);
  both.add(own, kept);
  both.add(sumBefore, ofSum);
  both.add(more, ofSum);
  RankedTensorType type = typeOf(was);
  return both.create(b, loc, type.getShape(), wide, [&](OpBuilder &inside, auto get) {
    return merged(inside, get(was), get(own), convert(inside, loc, get(sumBefore), wide),
                  convert(inside, loc, get(more), wide));
  });
}

/// Sums of squares of what was before and of a block, about one mean.
Value OnlineMaker::merged(OpBuilder &inside, Value was, Value own, Value sumBefore, Value more) {
  Type wide = was.getType();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(inside, loc, inside.getFloatAttr(wide, value));
  };
  auto count = static_cast<double>(size);
  Value seen = number(static_cast<double>(this->number)), least = number(1.0);
  if (variable) {
    Value whole = arith::IndexCastOp::create(inside, loc, inside.getI64Type(), variable);
    seen = arith::SIToFPOp::create(inside, loc, wide, whole);
  }
  // Of nothing the sum is zero, and so is the mean.
  Value divisor = arith::MaxNumFOp::create(inside, loc, seen, least);
  Value mean = arith::DivFOp::create(inside, loc, sumBefore, divisor);
  Value apart = arith::SubFOp::create(inside, loc, times(inside, more, 1.0 / count), mean);
  Value share = arith::DivFOp::create(inside, loc, seen,
                                      arith::AddFOp::create(inside, loc, seen, number(count)));
  apart = arith::MulFOp::create(inside, loc, apart, apart);
  apart = arith::MulFOp::create(inside, loc, apart, times(inside, share, count));
  Value sum = arith::AddFOp::create(inside, loc, was, own);
  return arith::AddFOp::create(inside, loc, sum, apart);
}
