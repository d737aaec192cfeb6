//===- OnlineRows.cpp - rows of an attention's scores in registers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: scores of a step, what was carried to it. Out: powers, maxima and sums of rows, the output
// for a new maximum. Refused: nothing; OnlinePlan.cpp has.
//
// Four threads have the elements of a row: its maximum is theirs together at once, its sum at the
// end. Until then each has the sum of its own powers, as they were before they were rounded.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

/// Groups of 8 columns of a value that a thread has pairs of; one of what is the same in all.
int64_t KernelWriter::columnsOf(Value value) const {
  int64_t columns = cast<VectorType>(value.getType()).getDimSize(1);
  return columns == 1 || columns == plan.sameColumns() ? 1 : columns / 8;
}

/// Remembers the pairs of a value: two elements each, or one that stands for both.
void KernelWriter::hold(Value value, ValueRange elements) {
  bool isSame = columnsOf(value) == 1;
  SmallVector<Value> pairsOfValue;
  for (size_t at = 0; at < elements.size(); at += isSame ? 1 : 2)
    pairsOfValue.push_back(makePair(elements[at], elements[isSame ? at : at + 1]));
  held[value.getAsOpaquePointer()] = pairsOfValue;
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  auto known = pairs.lower_bound({value.getAsOpaquePointer(), kLeast, kLeast, kLeast});
  while (known != pairs.end() && std::get<0>(known->first) == value.getAsOpaquePointer())
    known = pairs.erase(known);
}

/// The elements that `hold` takes.
SmallVector<Value> KernelWriter::elementsOf(Value value) {
  SmallVector<Value> elements;
  int64_t columns = columnsOf(value);
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t half = 0; half < 2; ++half) {
      Value pair = pairOf(value, {0, column, half});
      elements.push_back(partOf(pair, 0));
      if (columns > 1)
        elements.push_back(partOf(pair, 1));
    }
  return elements;
}

/// Remembers values by the first ones of `elements`; the rest.
ValueRange KernelWriter::holdAll(ValueRange values, ValueRange elements) {
  for (Value value : values) {
    size_t count = size_t(2 * columnsOf(value) * (columnsOf(value) > 1 ? 2 : 1));
    hold(value, elements.take_front(count));
    elements = elements.drop_front(count);
  }
  return elements;
}

Value KernelWriter::partOf(Value pair, int64_t at) {
  return LLVM::ExtractElementOp::create(b, pair, number(at));
}

Value KernelWriter::exp2Pair(Value pair) {
  auto power = [&](int64_t at) -> Value {
    return LLVM::CallIntrinsicOp::create(b, b.getF32Type(),
                                         b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"),
                                         ValueRange{partOf(pair, at)})
        .getResult(0);
  };
  return makePair(power(0), power(1));
}

/// The values of the four threads of a row, together.
Value KernelWriter::ofFour(Value own, vector::CombiningKind kind) {
  for (int64_t distance : {1, 2}) {
    Value other = NVVM::ShflOp::create(b, own.getType(), number(-1), own, number(distance),
                                       number(31), NVVM::ShflKind::bfly, UnitAttr());
    own = vector::makeArithReduction(b, b.getLoc(), kind, own, other);
  }
  return own;
}

/// The elements of a row that a thread has, together.
Value KernelWriter::reduceOwn(Value from, Place place, vector::CombiningKind kind) {
  auto combine = [&](Value l, Value r) {
    return vector::makeArithReduction(b, b.getLoc(), kind, l, r);
  };
  Value all = pairOf(from, {place.block, 0, place.half});
  for (int64_t column = 1; column < columnsOf(from); ++column)
    all = combine(all, pairOf(from, {place.block, column, place.half}));
  return combine(partOf(all, 0), partOf(all, 1));
}

Value KernelWriter::reducePairs(TileReduceOp reduce, Place place) {
  if (columnsOf(reduce.getVector()) == 1)
    return pairOf(reduce.getVector(), {place.block, 0, place.half});
  Value row = ofFour(reduceOwn(reduce.getVector(), place, reduce.getKind()), reduce.getKind());
  return makePair(row, row);
}

/// Powers of scores as operands of the second product.
SmallVector<Value> KernelWriter::powersOfScores(const OnlineLoop &online) {
  SmallVector<Value> powers;
  Value value = online.values.getA();
  for (int64_t column = 0; column < columnsOf(value); ++column)
    for (int64_t half = 0; half < 2; ++half)
      powers.push_back(
          LLVM::BitcastOp::create(b, b.getI32Type(), pairOf(value, {0, column, half})));
  return powers;
}

/// The result of a product with a constant: its C and rows of powers times it.
void KernelWriter::sumRows(const OnlineLoop &online) {
  if (!online.rowSums)
    return;
  DenseElementsAttr constant;
  matchPattern(online.rowSums.getB(), m_Constant(&constant));
  double factor = constant.getSplatValue<APFloat>().convertToDouble();
  Value powers = online.rowSums.getA();
  if (auto narrow = powers.getDefiningOp<arith::TruncFOp>())
    powers = narrow.getIn();
  bool isWide = cast<VectorType>(powers.getType()).getElementType().isF32();
  SmallVector<Value> sums = elementsOf(online.rowSums.getC());
  for (int64_t half = 0; half < 2; ++half) {
    Value row;
    if (isWide) {
      row = reduceOwn(powers, {0, 0, half}, vector::CombiningKind::ADD);
    } else {
      Value all;
      for (int64_t column = 0; column < columnsOf(powers); ++column) {
        Value pair = arith::ExtFOp::create(b, VectorType::get({2}, b.getF32Type()),
                                           pairOf(powers, {0, column, half}));
        all = all ? arith::AddFOp::create(b, all, pair).getResult() : pair;
      }
      row = arith::AddFOp::create(b, partOf(all, 0), partOf(all, 1));
    }
    if (!plan.sums)
      row = ofFour(row, vector::CombiningKind::ADD);
    if (factor != 1.0)
      row = arith::MulFOp::create(
          b, row, arith::ConstantOp::create(b, b.getFloatAttr(b.getF32Type(), factor)));
    sums[size_t(half)] = arith::AddFOp::create(b, sums[size_t(half)], row);
  }
  hold(online.rowSums.getResult(), sums);
}

/// Behind the last loop: sums of four threads.
void KernelWriter::finishSums() {
  if (!plan.sums)
    return;
  Value result = plan.loop.getResult(*plan.sums);
  SmallVector<Value> sums;
  for (Value own : elementsOf(result))
    sums.push_back(ofFour(own, vector::CombiningKind::ADD));
  hold(result, sums);
}

/// Keeps the maxima of the steps before as long as those of this one are not much larger: powers
/// are below 2^8 then, whose sums and products are as exact. Whether a row of the warp has grown.
Value KernelWriter::keepMaxima(const OnlineLoop &online) {
  constexpr double kMost = 8;
  Value next = online.loop.getYieldedValues()[*plan.maxima];
  SmallVector<Value> before = elementsOf(online.loop.getRegionIterArg(*plan.maxima)),
                     now = elementsOf(next);
  Value most = arith::ConstantOp::create(b, b.getFloatAttr(b.getF32Type(), kMost));
  Value any;
  for (auto [old, grown] : llvm::zip_equal(before, now)) {
    Value by = arith::SubFOp::create(b, grown, old);
    Value isMuch = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, by, most);
    any = any ? arith::OrIOp::create(b, any, isMuch).getResult() : isMuch;
  }
  any = NVVM::VoteSyncOp::create(b, b.getI1Type(), number(-1), any, NVVM::VoteSyncKind::any);
  for (auto [old, grown] : llvm::zip_equal(before, now))
    grown = select(any, grown, old);
  hold(next, now);
  return any;
}

/// The output before the second product, which adds to it: multiplied for new maxima.
SmallVector<Value> KernelWriter::rescale(const OnlineLoop &online, Value grown) {
  if (!grown)
    return elementsOf(online.values.getC());
  SmallVector<Value> kept = elementsOf(online.loop.getRegionIterArg(plan.output));
  SmallVector<Type> types(kept.size(), b.getF32Type());
  auto branch = scf::IfOp::create(b, types, grown, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto before = pairs;
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, elementsOf(online.values.getC()));
  pairs = before;
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, kept);
  return SmallVector<Value>(branch.getResults());
}
