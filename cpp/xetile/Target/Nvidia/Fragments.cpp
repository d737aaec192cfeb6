//===- Fragments.cpp - what a thread holds of a workgroup's vectors ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: elementwise code on a workgroup's vectors. Out: the same on pairs of elements, each computed
// where it is first stored. Refused: nothing; RingPlan.cpp has.
//
// wgmma gives the thread t of a warp, of the sums of 64 rows: rows 16 * warp + t / 4 and 8 below,
// and of each 8 columns those of number 2 * (t % 4) and the next.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

Value KernelWriter::makePair(Value first, Value second) {
  auto type = VectorType::get({2}, first.getType());
  Value pair = LLVM::UndefOp::create(b, type);
  pair = LLVM::InsertElementOp::create(b, pair, first, number(0));
  return LLVM::InsertElementOp::create(b, pair, second, number(1));
}

Value KernelWriter::pairOf(Value value, Place place) {
  // A value that is the same in all rows, or in all columns, is computed once.
  if (auto type = dyn_cast<VectorType>(value.getType())) {
    if (type.getDimSize(0) == 1)
      place.block = place.half = 0;
    if (type.getDimSize(1) == 1 || (plan.isOnline() && type.getDimSize(1) == plan.sameColumns()))
      place.column = 0;
  }
  auto key = std::make_tuple(value.getAsOpaquePointer(), place.block, place.column, place.half);
  auto found = pairs.find(key);
  if (found != pairs.end())
    return found->second;
  Value made = computePair(value, place);
  pairs[key] = made;
  return made;
}

Value KernelWriter::computePair(Value value, Place place) {
  auto type = cast<VectorType>(value.getType());
  auto pairType = VectorType::get({2}, type.getElementType());
  if (auto found = held.find(value.getAsOpaquePointer()); found != held.end())
    return found->second[size_t(2 * place.column + place.half)];
  if (value == plan.loop.getResult(0)) {
    auto element = [&](int64_t at) -> Value {
      return LLVM::ExtractValueOp::create(b, sums[place.block], ArrayRef<int64_t>{at});
    };
    int64_t at = 4 * place.column + 2 * place.half;
    return makePair(element(at), element(at + 1));
  }
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(pairType, constant.getSplatValue<Attribute>()));
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast<LoadTileOp>(op))
    return loadPair(load, place);
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    Value source = scalarOf(broadcast.getSource());
    return makePair(source, source);
  }
  if (auto steps = dyn_cast<vector::ShapeCastOp>(op))
    return indexPair(steps, place);
  if (auto broadcast = dyn_cast<TileBroadcastOp>(op))
    return pairOf(broadcast.getVector(), place);
  if (auto reduce = dyn_cast<TileReduceOp>(op))
    return reducePairs(reduce, place);
  if (plan.isOnline() && isa<math::Exp2Op>(op) && type.getElementType().isF32())
    return exp2Pair(pairOf(op->getOperand(0), place));
  if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && plan.isOnline())
    if (Value pair = comparePlaces(compare, place))
      return pair;
  if (auto quotient = dyn_cast<arith::DivFOp>(op); quotient && plan.isOnline())
    if (Value product = divideByRows(quotient, place))
      return product;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()))
      mapping.map(operand, pairOf(operand, place));
  Operation *copy = b.clone(*op, mapping);
  copy->getResult(0).setType(pairType);
  return copy->getResult(0);
}

/// A quotient by a number of each row as a product with its inverse, which is made once; null for
/// others.
Value KernelWriter::divideByRows(arith::DivFOp quotient, Place place) {
  auto rows = quotient.getRhs().getDefiningOp<TileBroadcastOp>();
  auto type = cast<VectorType>(quotient.getType());
  if (!rows || !type.getElementType().isF32() || columnsOf(rows.getVector()) != 1 ||
      columnsOf(quotient.getResult()) == 1)
    return {};
  // Beside the row's number itself in `pairs`: no value has a column below zero.
  auto key =
      std::make_tuple(rows.getVector().getAsOpaquePointer(), place.block, int64_t(-1), place.half);
  Value &inverse = pairs[key];
  if (!inverse) {
    Value row = partOf(pairOf(rows.getVector(), place), 0);
    Value one = arith::ConstantOp::create(b, b.getFloatAttr(b.getF32Type(), 1.0));
    Value made = arith::DivFOp::create(b, one, row);
    pairs[key] = makePair(made, made);
  }
  return arith::MulFOp::create(b, pairOf(quotient.getLhs(), place), pairs[key]);
}

/// True if a tile's places along a dimension are within its matrix where results are stored.
bool KernelWriter::isReadWithin(InitTileOp init, unsigned dim) {
  int64_t size = cast<MemRefType>(init.getSource().getType()).getDimSize(dim);
  OpFoldResult offset = init.getMixedOffsets()[dim];
  if (init.getTile().getType().getDimSize(dim) == 1) {
    std::optional<int64_t> known = getConstantIntValue(offset);
    return known && *known >= 0 && !ShapedType::isDynamic(size) && *known < size;
  }
  return llvm::all_of(plan.stores, [&](StoreTileOp store) {
    auto to = store.getTile().getDefiningOp<InitTileOp>();
    int64_t stored = cast<MemRefType>(to.getSource().getType()).getDimSize(dim);
    return to.getMixedOffsets()[dim] == offset && !ShapedType::isDynamic(size) &&
           !ShapedType::isDynamic(stored) && stored <= size;
  });
}

/// An element, or zero where there is none.
Value KernelWriter::loadOrZero(Value source, Value row, Value column) {
  auto wide = [&](Value at) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), at);
  };
  Type element = cast<MemRefType>(source.getType()).getElementType();
  Value isThere = isInside(source, wide(row), wide(column));
  auto branch = scf::IfOp::create(b, TypeRange{element}, isThere, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value at = elementOf(source, wide(row), wide(column));
  scf::YieldOp::create(
      b, LLVM::LoadOp::create(b, element, at, element.getIntOrFloatBitWidth() / 8).getResult());
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, arith::ConstantOp::create(b, b.getZeroAttr(element)).getResult());
  return branch.getResult(0);
}

/// Indices beyond the edges of the results read the last element: what is computed of it is not
/// stored. Where results have other edges than what is read, zeros are read beyond the latter.
Value KernelWriter::loadPair(LoadTileOp load, Place place) {
  auto init = load.getTile().getDefiningOp<InitTileOp>();
  auto type = cast<VectorType>(load.getValue().getType());
  auto memory = cast<MemRefType>(init.getSource().getType());
  Type element = memory.getElementType();
  bool isOneRow = type.getDimSize(0) == 1, isOneColumn = type.getDimSize(1) == 1;
  SmallVector<OpFoldResult> offsets = init.getMixedOffsets();
  auto offsetOf = [&](OpFoldResult offset) {
    auto value = dyn_cast<Value>(offset);
    return fromIndex(value ? OpFoldResult(scalarOf(value)) : offset);
  };
  Value row = offsetOf(offsets[0]), column = offsetOf(offsets[1]);
  if (!isOneRow)
    row = add(row, ownRow(place));
  if (!isOneColumn)
    column = add(column, ownColumn(place));
  Value source = scalarOf(init.getSource());
  if (!plan.isOnline() && !(isReadWithin(init, 0) && isReadWithin(init, 1))) {
    Value first = loadOrZero(source, row, column);
    return makePair(first, isOneColumn ? first : loadOrZero(source, row, add(column, 1)));
  }
  auto within = [&](Value at, unsigned dim, int64_t last) -> Value {
    Value wide = arith::IndexCastOp::create(b, b.getIndexType(), at);
    Value most = arith::SubIOp::create(b, sizeOf(source, dim),
                                       arith::ConstantIndexOp::create(b, last).getResult());
    return arith::MinSIOp::create(b, wide, most);
  };
  SmallVector<int64_t> strides;
  int64_t offset;
  bool isAdjacent = succeeded(memory.getStridesAndOffset(strides, offset)) && strides[1] == 1;
  row = within(row, 0, 1);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  // Pairs lie within the matrix or outside of it, if its rows have an even number of elements: as
  // they have where TMA takes the results of a size that is not known.
  int64_t columns = memory.getDimSize(1);
  bool isEven = ShapedType::isDynamic(columns) ? !plan.isAllPlain : columns % 2 == 0;
  if (isAdjacent && isEven && !isOneColumn) {
    Value at = elementOf(source, row, within(column, 1, 2));
    bool isAligned = strides[0] % 2 == 0 && !ShapedType::isDynamic(strides[0]);
    return LLVM::LoadOp::create(b, VectorType::get({2}, element), at,
                                isAligned || isOneRow ? 2 * bytes : bytes);
  }
  auto one = [&](Value column) -> Value {
    Value at = elementOf(source, row, within(column, 1, 1));
    return LLVM::LoadOp::create(b, element, at, bytes);
  };
  Value first = one(column);
  return makePair(first, isOneColumn ? first : one(add(column, 1)));
}
