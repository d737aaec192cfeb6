//===- LaneElements.cpp - elementwise operations, vectors out of nothing -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: operations on each element alone; constants, steps, masks, splats. Out: the same on pieces.
// Refused: constants without dense elements.
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xetile;

LogicalResult LaneLowering::lowerElementwise(Operation *op) {
  Value result = op->getResult(0);
  if (!isa<VectorType>(result.getType()))
    return op->emitOpError("has no lowering to lanes");
  VectorType type = pieceType(result);
  unsigned count = tableOf(result).pieces;
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()) && piecesOf(operand).size() != count)
      return op->emitOpError("has operands in different lanes; run xetile-assign-lane-layouts");
  Values pieces;
  for (unsigned p = 0; p < count; ++p) {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<VectorType>(operand.getType()) ? piecesOf(operand)[p] : operand);
    Operation *made = mlir::clone(b, op, TypeRange(Type(type)), operands);
    made->removeAttr(lanesAttr);
    pieces.push_back(made->getResult(0));
  }
  define(result, pieces);
  return success();
}

LogicalResult LaneLowering::lowerFree(Operation *op) {
  Value result = op->getResult(0);
  auto vector = cast<VectorType>(result.getType());
  VectorType type = pieceType(result);
  const LaneTable &table = tableOf(result);
  Type element = type.getElementType();
  ArrayRef<int64_t> shape = vector.getShape();
  Values pieces;
  // Element by element of what each lane holds.
  auto buildAll = [&](function_ref<Value(ArrayRef<int64_t>)> make) {
    for (unsigned p = 0; p < table.pieces; ++p) {
      Values elements;
      for (unsigned r = 0; r < table.registers; ++r)
        elements.push_back(make(table.row(p * table.registers + r)));
      pieces.push_back(build(type, elements));
    }
    define(result, pieces);
    return success();
  };
  auto all = [&](Value value) {
    define(result, Values(table.pieces, value));
    return success();
  };
  auto choose = [&](ArrayRef<int64_t> row, function_ref<Value(int64_t)> valueOf) {
    SmallVector<std::pair<uint64_t, Value>> choices;
    uint64_t done = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (done >> lane & 1)
        continue;
      uint64_t mask = 0;
      for (unsigned other = 0; other < lanes; ++other)
        mask |= uint64_t(row[other] == row[lane]) << other;
      done |= mask;
      choices.push_back({mask, valueOf(row[lane])});
    }
    return selectByLane(choices);
  };
  /// Coordinates of the row's elements along a dimension.
  auto along = [&](ArrayRef<int64_t> row, unsigned dim) {
    SmallVector<int64_t> places;
    for (int64_t number : row)
      places.push_back(unravel(number, shape)[dim]);
    return places;
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp constantOp) {
        auto dense = dyn_cast<DenseElementsAttr>(constantOp.getValue());
        if (!dense)
          return LogicalResult(constantOp.emitOpError("has no lowering to lanes: expected dense "
                                                      "elements"));
        auto attrOf = [&](Attribute value) -> TypedAttr {
          if (auto number = dyn_cast<FloatAttr>(value))
            return FloatAttr::get(element, number.getValueAsDouble());
          return IntegerAttr::get(element, cast<IntegerAttr>(value).getValue());
        };
        if (dense.isSplat())
          return all(arith::ConstantOp::create(
              b, loc,
              DenseElementsAttr::get(type, Attribute(attrOf(dense.getSplatValue<Attribute>())))));
        SmallVector<Attribute> values(dense.getValues<Attribute>());
        return buildAll([&](ArrayRef<int64_t> row) -> Value {
          if (element.isIntOrIndex() && !element.isInteger(1)) {
            SmallVector<int64_t> numbers;
            bool small = true;
            for (int64_t number : row) {
              numbers.push_back(cast<IntegerAttr>(values[number]).getValue().getSExtValue());
              small &= llvm::isInt<31>(numbers.back());
            }
            if (llvm::all_equal(numbers))
              return constant(element, numbers[0]);
            if (small && element.isIndex())
              return laneIndex(numbers);
            if (small && element.getIntOrFloatBitWidth() > 32)
              return b.createOrFold<arith::ExtSIOp>(loc, element, laneTable(numbers));
            if (small)
              return b.createOrFold<arith::TruncIOp>(loc, element, laneTable(numbers));
          }
          // Equal values of different elements are one choice.
          SmallVector<int64_t> firsts;
          for (int64_t number : row)
            firsts.push_back(std::distance(values.begin(), llvm::find(values, values[number])));
          return choose(firsts, [&](int64_t number) -> Value {
            return arith::ConstantOp::create(b, loc, attrOf(values[number]));
          });
        });
      })
      .Case([&](ub::PoisonOp) { return all(ub::PoisonOp::create(b, loc, type)); })
      .Case([&](vector::BroadcastOp broadcast) {
        return all(vector::BroadcastOp::create(b, loc, type, broadcast.getSource()));
      })
      .Case([&](vector::StepOp) {
        return buildAll([&](ArrayRef<int64_t> row) { return laneIndex(row); });
      })
      .Case([&](vector::FromElementsOp from) {
        return buildAll([&](ArrayRef<int64_t> row) {
          return choose(row, [&](int64_t number) { return from.getElements()[number]; });
        });
      })
      .Case([&](vector::ConstantMaskOp mask) {
        return buildAll([&](ArrayRef<int64_t> row) -> Value {
          uint64_t inside = 0;
          for (auto [lane, number] : llvm::enumerate(row)) {
            bool all =
                llvm::all_of(llvm::zip_equal(unravel(number, shape), mask.getMaskDimSizes()),
                             [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
            inside |= uint64_t(all) << lane;
          }
          uint64_t every = (uint64_t(1) << lanes) - 1;
          if (inside == 0 || inside == every)
            return constant(b.getI1Type(), inside != 0);
          return laneIn(inside);
        });
      })
      .Case([&](vector::CreateMaskOp mask) {
        return buildAll([&](ArrayRef<int64_t> row) {
          Value inside;
          for (auto [dim, bound] : llvm::enumerate(mask.getOperands())) {
            Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                               laneIndex(along(row, dim)), bound);
            inside = inside ? arith::AndIOp::create(b, loc, inside, here).getResult() : here;
          }
          return inside ? inside : constant(b.getI1Type(), 1);
        });
      })
      .Default([](Operation *unknown) {
        return LogicalResult(unknown->emitOpError("has no lowering to lanes"));
      });
}
