//===- WorkgroupOrder.cpp - orders of a grid that suit a shared cache ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels that ask for gpu.block_id x and y. Out: the same, at the places of another order.
// Refused: nothing; kernels without one of both stay.
#include "xetile/Transforms/WorkgroupOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

namespace {

/// A column and a row of the grid.
struct Place {
  Value x, y;
};

/// Writes where a workgroup is, in 32 bits: divisions of 64 bits take four times as long.
class PlaceWriter {
public:
  explicit PlaceWriter(gpu::GPUFuncOp kernel) : b(kernel.getLoc(), kernel.getContext()) {
    kernel.walk([&](gpu::BlockIdOp id) {
      if (id.getDimension() == gpu::Dimension::x)
        xs.push_back(id);
      else if (id.getDimension() == gpu::Dimension::y)
        ys.push_back(id);
    });
    if (!hasGrid())
      return;
    b.setLoc(xs.front().getLoc());
    b.setInsertionPointToStart(&kernel.getBody().front());
    width = size(kernel, gpu::Dimension::x);
    height = size(kernel, gpu::Dimension::y);
    serial = add(mul(id(gpu::Dimension::y), width), id(gpu::Dimension::x));
  }

  bool hasGrid() const { return !xs.empty() && !ys.empty(); }

  Place inGroups(int64_t rows);
  Place alongHilbert(int64_t side);

  void moveTo(Place place) {
    auto wide = [&](Value value) -> Value {
      return arith::IndexCastUIOp::create(b, b.getIndexType(), value);
    };
    Value x = wide(place.x), y = wide(place.y);
    for (gpu::BlockIdOp old : xs)
      old.replaceAllUsesWith(x);
    for (gpu::BlockIdOp old : ys)
      old.replaceAllUsesWith(y);
    for (gpu::BlockIdOp old : llvm::concat<gpu::BlockIdOp>(xs, ys))
      old.erase();
  }

private:
  Value narrow(Value value) { return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), value); }
  Value id(gpu::Dimension dim) { return narrow(gpu::BlockIdOp::create(b, dim)); }
  Value size(gpu::GPUFuncOp kernel, gpu::Dimension dim) {
    if (std::optional<ArrayRef<int32_t>> known = kernel.getKnownGridSize())
      return number((*known)[static_cast<unsigned>(dim)]);
    return narrow(gpu::GridDimOp::create(b, dim));
  }
  Value number(int64_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  template <typename Op> Value make(Value l, Value r) { return b.createOrFold<Op>(l, r); }
  Value add(Value l, Value r) { return make<arith::AddIOp>(l, r); }
  Value sub(Value l, Value r) { return make<arith::SubIOp>(l, r); }
  Value mul(Value l, Value r) { return make<arith::MulIOp>(l, r); }
  Value div(Value l, Value r) { return make<arith::DivUIOp>(l, r); }
  Value rem(Value l, Value r) { return make<arith::RemUIOp>(l, r); }
  Value bitAnd(Value l, Value r) { return make<arith::AndIOp>(l, r); }
  Value bitXor(Value l, Value r) { return make<arith::XOrIOp>(l, r); }
  Value bitAt(Value value, unsigned at) {
    return bitAnd(make<arith::ShRUIOp>(value, number(at)), number(1));
  }
  Value isLess(Value l, Value r) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, l, r);
  }
  Value select(Value condition, Value l, Value r) {
    return b.createOrFold<arith::SelectOp>(condition, l, r);
  }
  Place inSquare(Value step, int64_t side);

  ImplicitLocOpBuilder b;
  SmallVector<gpu::BlockIdOp> xs, ys;
  Value width, height;
  /// The number of the workgroup in the order in which all are started.
  Value serial;
};

Place PlaceWriter::inGroups(int64_t rows) {
  Value count = number(rows), perGroup = mul(width, count);
  Value first = mul(div(serial, perGroup), count), inside = rem(serial, perGroup);
  Value here = make<arith::MinUIOp>(sub(height, first), count);
  return {div(inside, here), add(first, rem(inside, here))};
}

/// The place of a step of Hilbert's curve from the corner (0, 0) to (side - 1, 0): two bits of the
/// step choose a quadrant, in which the curve so far lies turned.
Place PlaceWriter::inSquare(Value step, int64_t side) {
  Place place{number(0), number(0)};
  for (unsigned level = 0; level < llvm::Log2_64(side); ++level) {
    Value low = bitAt(step, 2 * level), right = bitAt(step, 2 * level + 1);
    Value up = bitXor(low, right), isDown = bitXor(up, number(1));
    // Below at the right the curve runs backwards; below it is turned.
    Value mask = mul(bitAnd(right, isDown), number((int64_t{1} << level) - 1));
    Value x = bitXor(place.x, mask), y = bitXor(place.y, mask);
    Value turned = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, isDown, number(0));
    Value half = number(int64_t{1} << level);
    place = {add(select(turned, y, x), mul(right, half)), add(select(turned, x, y), mul(up, half))};
  }
  return place;
}

Place PlaceWriter::alongHilbert(int64_t side) {
  Value length = number(side), one = number(1);
  Value squares = div(width, length);
  Value coveredWidth = mul(squares, length), coveredHeight = mul(div(height, length), length);
  Value covered = mul(coveredWidth, coveredHeight);
  // Of squares; divisors are one where there are none.
  Value area = number(side * side), square = div(serial, area);
  Value perRow = make<arith::MaxUIOp>(squares, one);
  Place inside = inSquare(rem(serial, area), side);
  inside.x = add(inside.x, mul(rem(square, perRow), length));
  inside.y = add(inside.y, mul(div(square, perRow), length));
  // The places at the right of them, then those below all that.
  Value rest = sub(serial, covered), strip = sub(width, coveredWidth);
  Value ofStrip = mul(strip, coveredHeight), perLine = make<arith::MaxUIOp>(strip, one);
  Value last = sub(rest, ofStrip), isRight = isLess(rest, ofStrip);
  Place outside{select(isRight, add(coveredWidth, rem(rest, perLine)), rem(last, width)),
                select(isRight, div(rest, perLine), add(coveredHeight, div(last, width)))};
  Value isInside = isLess(serial, covered);
  return {select(isInside, inside.x, outside.x), select(isInside, inside.y, outside.y)};
}

} // namespace

void xetile::orderByGroups(gpu::GPUFuncOp kernel, int64_t rows) {
  PlaceWriter writer(kernel);
  if (writer.hasGrid())
    writer.moveTo(writer.inGroups(rows));
}

void xetile::orderByHilbert(gpu::GPUFuncOp kernel, int64_t side) {
  PlaceWriter writer(kernel);
  if (writer.hasGrid())
    writer.moveTo(writer.alongHilbert(side));
}
