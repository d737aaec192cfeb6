//===- OnlineMasks.cpp - which keys a query sees -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: comparisons of numbers of rows and columns. Out: for each pair, its known column beside what
// is the same in all columns of a row: one comparison an element, and no register for columns.
// Refused: nothing; other comparisons are elementwise.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

/// True if a number is known to have no sign: places of workgroups and steps, and sums of them.
static bool isPlace(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return !constant.isNegative();
  Operation *op = value.getDefiningOp();
  if (!op)
    return isa<scf::ForOp>(value.getParentBlock()->getParentOp());
  if (isa<gpu::BlockIdOp>(op))
    return true;
  return isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp, arith::MinUIOp,
             arith::IndexCastOp, arith::IndexCastUIOp>(op) &&
         llvm::all_of(op->getOperands(), isPlace);
}

/// A row of a workgroup's tile that a thread has elements of.
Value KernelWriter::ownRow(Place place) {
  if (isFarthest)
    return add(mul(warpgroup, plan.warpgroupRows()), plan.warpgroupRows() - 1);
  Value own = add(mul(warpgroup, plan.warpgroupRows()), mul(shiftRight(lane, 5), 16));
  own = add(own, bitAnd(shiftRight(lane, 2), 7));
  return add(own, place.block * kWgmmaM + place.half * 8);
}

/// The first of two columns.
Value KernelWriter::ownColumn(Place place) {
  if (isFarthest)
    return number(0);
  return add(shiftLeft(bitAnd(lane, 3), 1), place.column * 8);
}

/// Numbers of rows, or of columns.
Value KernelWriter::indexPair(vector::ShapeCastOp steps, Place place) {
  auto type = cast<VectorType>(steps.getType());
  auto typed = [&](Value number) -> Value {
    return type.getElementType().isIndex() ? toIndex(number) : number;
  };
  if (type.getDimSize(1) == 1) {
    Value row = typed(ownRow(place));
    return makePair(row, row);
  }
  Value column = ownColumn(place);
  return makePair(typed(column), typed(add(column, 1)));
}

/// A number of a row plus its column times -1, 0 or 1; none where `value` is of another form.
std::optional<KernelWriter::Linear> KernelWriter::linearOf(Value value, Place place) {
  auto type = cast<VectorType>(value.getType());
  Operation *op = value.getDefiningOp();
  DenseElementsAttr constant;
  constexpr int64_t kMost = int64_t(1) << 30; // sums of such stay numbers of 32 bits
  if (matchPattern(value, m_Constant(&constant))) {
    if (!constant.isSplat() || !type.getElementType().isIntOrIndex())
      return std::nullopt;
    APInt number = constant.getSplatValue<APInt>();
    if (number.getSignificantBits() > 32 || std::abs(number.getSExtValue()) > kMost)
      return std::nullopt;
    return Linear{this->number(number.getSExtValue()), 0, number.isNegative()};
  }
  auto narrow = [&](Value scalar) -> Value {
    scalar = scalarOf(scalar);
    if (scalar.getType().isInteger(32))
      return scalar;
    return scalar.getType().isIndex() ? fromIndex(scalar) : Value();
  };
  if (auto broadcast = dyn_cast_or_null<vector::BroadcastOp>(op)) {
    Value scalar =
        isa<VectorType>(broadcast.getSource().getType()) ? Value() : narrow(broadcast.getSource());
    if (!scalar)
      return std::nullopt;
    return Linear{scalar, 0, !isPlace(broadcast.getSource())};
  }
  if (isa_and_present<vector::ShapeCastOp>(op)) {
    if (type.getDimSize(1) == 1)
      return Linear{ownRow(type.getDimSize(0) == 1 ? Place{0, 0, 0} : place), 0, false};
    return Linear{ownColumn({0, 0, 0}), 1, false};
  }
  if (isa_and_present<TileBroadcastOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return linearOf(op->getOperand(0), place);
  if (!isa_and_present<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  std::optional<Linear> l = linearOf(op->getOperand(0), place),
                        r = linearOf(op->getOperand(1), place);
  if (!l || !r)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return Linear{add(l->row, r->row), l->column + r->column, l->maySign || r->maySign};
  return Linear{b.createOrFold<arith::SubIOp>(l->row, r->row), l->column - r->column, true};
}

/// The comparison of numbers that are sums of places; null for others.
Value KernelWriter::comparePlaces(arith::CmpIOp compare, Place place) {
  using Is = arith::CmpIPredicate;
  Is predicate = compare.getPredicate();
  std::optional<Linear> l = linearOf(compare.getLhs(), place),
                        r = linearOf(compare.getRhs(), place);
  if (!l || !r || std::abs(l->column - r->column) > 1)
    return {};
  bool isUnsigned =
      predicate == Is::ult || predicate == Is::ule || predicate == Is::ugt || predicate == Is::uge;
  if (isUnsigned && (l->maySign || r->maySign))
    return {};
  // Without signs both orders are the same.
  predicate = predicate == Is::ult   ? Is::slt
              : predicate == Is::ule ? Is::sle
              : predicate == Is::ugt ? Is::sgt
              : predicate == Is::uge ? Is::sge
                                     : predicate;
  int64_t columns = l->column - r->column;
  auto one = [&](int64_t element) -> Value {
    Value known = number(8 * place.column + element);
    if (columns == 0)
      return arith::CmpIOp::create(b, predicate, l->row, r->row);
    if (columns > 0)
      return arith::CmpIOp::create(b, predicate, known,
                                   b.createOrFold<arith::SubIOp>(r->row, l->row));
    return arith::CmpIOp::create(b, predicate, b.createOrFold<arith::SubIOp>(l->row, r->row),
                                 known);
  };
  return makePair(one(0), one(1));
}
