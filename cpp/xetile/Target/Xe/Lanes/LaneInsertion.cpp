//===- LaneInsertion.cpp - elements and slices by position -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vector.extract, insert and to_elements. Out: elements gathered from where the operands' lanes
// hold them; of a position known at run time all elements, and a choice. Refused: such positions of
// more than one element.
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

static LogicalResult refuseRunTimeSlice(Operation *op) {
  return op->emitOpError("has a position that is known at run time only, of more than one element; "
                         "expected a constant one");
}

/// The number of the first element at a constant position.
static int64_t firstElement(ArrayRef<int64_t> position, ArrayRef<int64_t> shape) {
  LaneMap::Shape corner(shape.size(), 0);
  llvm::copy(position, corner.begin());
  return ravel(corner, shape);
}

/// The number of an element at a position of which the run knows some.
template <typename Op> static Value elementNumber(LaneBuilder &b, Op op, ArrayRef<int64_t> shape) {
  Value number = b.index(0);
  auto dynamic = op.getDynamicPosition().begin();
  for (auto [position, size] : llvm::zip_equal(op.getStaticPosition(), shape)) {
    Value place = ShapedType::isDynamic(position) ? Value(*dynamic++) : b.index(position);
    number = b.add(b.mul(number, b.index(size)), place);
  }
  return number;
}

static LogicalResult lower(vector::ExtractOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  ArrayRef<int64_t> from = shapeOf(op.getSource());
  bool isVector = isa<VectorType>(op.getResult().getType());
  if (!op.getDynamicPosition().empty()) {
    // Every position, then the one that is asked for.
    if (isVector)
      return refuseRunTimeSlice(op);
    Value number = elementNumber(b, op, from), result;
    for (int64_t element = 0, end = llvm::product_of(from); element < end; ++element) {
      Value value = scalarOf(lanes, op.getSource(), element);
      Value here = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number, b.index(element));
      result = result ? arith::SelectOp::create(b, here, value, result).getResult() : value;
    }
    op.getResult().replaceAllUsesWith(result);
    return success();
  }
  int64_t first = firstElement(op.getStaticPosition(), from);
  if (isVector)
    defineByElements(lanes, op.getResult(), {op.getSource()},
                     [&](int64_t element) { return std::pair(0u, first + element); });
  else
    op.getResult().replaceAllUsesWith(scalarOf(lanes, op.getSource(), first));
  return success();
}

/// A scalar where the run says.
static void insertAtRunTime(vector::InsertOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  VectorType piece = lanes.held.pieceType(op.getResult());
  const LaneTable &table = lanes.held.tableOf(op.getResult());
  Value number = elementNumber(b, op, shapeOf(op.getResult()));
  Values old = gather(lanes, piece, table, {lanes.held.sourceOf(op.getDest())}, sameElement);
  Values pieces;
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (unsigned r = 0; r < table.registers; ++r) {
      Value mine = lanes.numbers.index(table.row(p * table.registers + r));
      Value here = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number, mine);
      elements.push_back(
          arith::SelectOp::create(b, here, op.getValueToStore(), b.element(old[p], r)));
    }
    pieces.push_back(b.build(piece, elements));
  }
  lanes.held.define(op.getResult(), pieces);
}

static LogicalResult lower(vector::InsertOp op, LaneContext &lanes) {
  ArrayRef<int64_t> to = shapeOf(op.getResult());
  bool isScalar = !isa<VectorType>(op.getValueToStoreType());
  if (!op.getDynamicPosition().empty()) {
    if (!isScalar)
      return refuseRunTimeSlice(op);
    insertAtRunTime(op, lanes);
    return success();
  }
  // A scalar is the same in all lanes.
  LaneTable one(LaneMap::uniform({}, lanes.count), {}, lanes.count);
  Values splat;
  if (isScalar)
    splat.push_back(
        lanes.b.build(VectorType::get({1}, op.getValueToStoreType()), {op.getValueToStore()}));
  SmallVector<LaneSource> sources{isScalar ? LaneSource{splat, one}
                                           : lanes.held.sourceOf(op.getValueToStore()),
                                  lanes.held.sourceOf(op.getDest())};
  int64_t first = firstElement(op.getStaticPosition(), to),
          count = llvm::product_of(to.drop_front(op.getStaticPosition().size()));
  lanes.held.define(op.getResult(),
                    gather(lanes, lanes.held.pieceType(op.getResult()),
                           lanes.held.tableOf(op.getResult()), sources, [&](int64_t element) {
                             return element >= first && element < first + count
                                        ? std::pair(0u, element - first)
                                        : std::pair(1u, element);
                           }));
  return success();
}

static LogicalResult lower(vector::ToElementsOp op, LaneContext &lanes) {
  for (auto [number, result] : llvm::enumerate(op.getResults()))
    result.replaceAllUsesWith(scalarOf(lanes, op.getSource(), number));
  return success();
}

void xetile::addInsertionLowerings(LaneLowerings &table) {
  table.addMove<vector::ExtractOp>(lower);
  table.addMove<vector::InsertOp>(lower);
  table.addMove<vector::ToElementsOp>(lower);
}
