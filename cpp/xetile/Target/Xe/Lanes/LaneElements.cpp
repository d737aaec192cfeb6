//===- LaneElements.cpp - elementwise operations, vectors out of nothing -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: operations on each element alone; constants, steps, masks, splats. Out: the same on pieces.
// Refused: constants without dense elements.
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

static LogicalResult lowerElementwise(Operation *op, LaneContext &lanes) {
  Value result = op->getResult(0);
  VectorType type = lanes.held.pieceType(result);
  unsigned count = lanes.held.tableOf(result).pieces;
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()) && lanes.held.piecesOf(operand).size() != count)
      return op->emitOpError("has operands in different lanes; run xetile-assign-lane-layouts");
  Values pieces;
  for (unsigned p = 0; p < count; ++p) {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<VectorType>(operand.getType()) ? lanes.held.piecesOf(operand)[p]
                                                            : operand);
    Operation *made = mlir::clone(lanes.b, op, TypeRange(Type(type)), operands);
    made->removeAttr(lanesAttr);
    pieces.push_back(made->getResult(0));
  }
  lanes.held.define(result, pieces);
  return success();
}

//===----------------------------------------------------------------------===//
// Vectors that are made of no other vector
//===----------------------------------------------------------------------===//

/// The numbers of the elements that lanes hold in a register.
using Row = ArrayRef<int64_t>;

/// Registers one by one.
static void defineByRows(LaneContext &lanes, Value result, function_ref<Value(Row)> make) {
  VectorType type = lanes.held.pieceType(result);
  const LaneTable &table = lanes.held.tableOf(result);
  Values pieces;
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (unsigned r = 0; r < table.registers; ++r)
      elements.push_back(make(table.row(p * table.registers + r)));
    pieces.push_back(lanes.b.build(type, elements));
  }
  lanes.held.define(result, pieces);
}

/// All pieces are `piece`.
static LogicalResult defineAlike(LaneContext &lanes, Value result, Value piece) {
  lanes.held.define(result, Values(lanes.held.tableOf(result).pieces, piece));
  return success();
}

/// The value of each lane's number, made once for equal numbers.
static Value choose(LaneContext &lanes, Row row, function_ref<Value(int64_t)> valueOf) {
  SmallVector<std::pair<uint64_t, Value>> choices;
  uint64_t done = 0;
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    if (done >> lane & 1)
      continue;
    uint64_t mask = 0;
    for (unsigned other = 0; other < lanes.count; ++other)
      mask |= uint64_t(row[other] == row[lane]) << other;
    done |= mask;
    choices.push_back({mask, valueOf(row[lane])});
  }
  return lanes.numbers.select(choices);
}

/// Integers of the lanes, by arithmetic; null where they are too large for it.
static Value integersOf(LaneContext &lanes, Type element, ArrayRef<int64_t> numbers) {
  LaneBuilder &b = lanes.b;
  if (llvm::all_equal(numbers))
    return b.constant(element, numbers[0]);
  if (!llvm::all_of(numbers, llvm::isInt<31>))
    return {};
  if (element.isIndex())
    return lanes.numbers.index(numbers);
  Value table = lanes.numbers.table(numbers);
  return element.getIntOrFloatBitWidth() > 32 ? b.createOrFold<arith::ExtSIOp>(element, table)
                                              : b.createOrFold<arith::TruncIOp>(element, table);
}

static LogicalResult lower(arith::ConstantOp op, LaneContext &lanes) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return op.emitOpError("has no lowering to lanes: expected dense elements");
  VectorType type = lanes.held.pieceType(op.getResult());
  Type element = type.getElementType();
  auto attrOf = [&](Attribute value) -> TypedAttr {
    if (auto number = dyn_cast<FloatAttr>(value))
      return FloatAttr::get(element, number.getValueAsDouble());
    return IntegerAttr::get(element, cast<IntegerAttr>(value).getValue());
  };
  if (dense.isSplat()) {
    auto splat = DenseElementsAttr::get(type, Attribute(attrOf(dense.getSplatValue<Attribute>())));
    return defineAlike(lanes, op.getResult(), arith::ConstantOp::create(lanes.b, splat));
  }
  SmallVector<Attribute> values(dense.getValues<Attribute>());
  defineByRows(lanes, op.getResult(), [&](Row row) -> Value {
    if (element.isIntOrIndex() && !element.isInteger(1)) {
      SmallVector<int64_t> numbers;
      for (int64_t number : row)
        numbers.push_back(cast<IntegerAttr>(values[number]).getValue().getSExtValue());
      if (Value made = integersOf(lanes, element, numbers))
        return made;
    }
    // Equal values of different elements are one choice.
    SmallVector<int64_t> firsts;
    for (int64_t number : row)
      firsts.push_back(std::distance(values.begin(), llvm::find(values, values[number])));
    return choose(lanes, firsts, [&](int64_t number) -> Value {
      return arith::ConstantOp::create(lanes.b, attrOf(values[number]));
    });
  });
  return success();
}

static LogicalResult lower(ub::PoisonOp op, LaneContext &lanes) {
  if (!isa<VectorType>(op.getType()))
    return refuseLowering(op);
  VectorType type = lanes.held.pieceType(op.getResult());
  return defineAlike(lanes, op.getResult(), ub::PoisonOp::create(lanes.b, type));
}

static LogicalResult lowerSplat(vector::BroadcastOp op, LaneContext &lanes) {
  VectorType type = lanes.held.pieceType(op.getVector());
  return defineAlike(lanes, op.getVector(),
                     vector::BroadcastOp::create(lanes.b, type, op.getSource()));
}

static LogicalResult lower(vector::StepOp op, LaneContext &lanes) {
  defineByRows(lanes, op.getResult(), [&](Row row) { return lanes.numbers.index(row); });
  return success();
}

static LogicalResult lower(vector::FromElementsOp op, LaneContext &lanes) {
  defineByRows(lanes, op.getDest(), [&](Row row) {
    return choose(lanes, row, [&](int64_t number) { return op.getElements()[number]; });
  });
  return success();
}

static LogicalResult lower(vector::ConstantMaskOp op, LaneContext &lanes) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  defineByRows(lanes, op.getResult(), [&](Row row) -> Value {
    uint64_t inside = 0;
    for (auto [lane, number] : llvm::enumerate(row)) {
      bool all = llvm::all_of(llvm::zip_equal(unravel(number, shape), op.getMaskDimSizes()),
                              [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
      inside |= uint64_t(all) << lane;
    }
    uint64_t every = (uint64_t(1) << lanes.count) - 1;
    if (inside == 0 || inside == every)
      return lanes.b.constant(lanes.b.getI1Type(), inside != 0);
    return lanes.numbers.isIn(inside);
  });
  return success();
}

static LogicalResult lower(vector::CreateMaskOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  ArrayRef<int64_t> shape = op.getType().getShape();
  defineByRows(lanes, op.getResult(), [&](Row row) {
    Value inside;
    for (auto [dim, bound] : llvm::enumerate(op.getOperands())) {
      SmallVector<int64_t> places;
      for (int64_t number : row)
        places.push_back(unravel(number, shape)[dim]);
      Value here =
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lanes.numbers.index(places), bound);
      inside = inside ? arith::AndIOp::create(b, inside, here).getResult() : here;
    }
    return inside ? inside : b.constant(b.getI1Type(), 1);
  });
  return success();
}

static bool isSplat(Operation *op) { return isa<vector::BroadcastOp>(op) && isFreeOfLanes(op); }

void xetile::addElementLowerings(LaneLowerings &table) {
  table.addIf(isElementwise, lowerElementwise);
  table.addIf(isSplat, [](Operation *op, LaneContext &lanes) {
    return lowerSplat(cast<vector::BroadcastOp>(op), lanes);
  });
  table.add<arith::ConstantOp>(lower);
  table.add<ub::PoisonOp>(lower);
  table.add<vector::StepOp>(lower);
  table.add<vector::FromElementsOp>(lower);
  table.add<vector::ConstantMaskOp>(lower);
  table.add<vector::CreateMaskOp>(lower);
}
