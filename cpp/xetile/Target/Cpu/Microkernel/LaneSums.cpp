//===- LaneSums.cpp - sums whose lanes are parts of k ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction whose operands both run along k. Out: loops over register tiles; each sum is a
// vector through all of k, whose lanes are added in the end. At the edge of k vectors are masked;
// rows and columns of unknown number that fill no tile are computed one by one. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/LaneSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Cpu/Matmul/Config/LaneTile.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"
#include "xetile/Target/Cpu/Microkernel/Products.h"

using namespace mlir;
using namespace xetile;

namespace {
class LaneSums {
public:
  LaneSums(const KernelBuilder &kernel, const SumStart &start, Indices &place)
      : kernel(kernel), plan(kernel.plan), b(kernel.b), loc(kernel.loc), start(start), place(place),
        sumVector(VectorType::get({plan.length}, plan.sumType)) {}

  void emit();

private:
  /// Calls `body` with numbers of rows, or columns, that make up [0, extent).
  void overPieces(Index extent, int64_t step, function_ref<void(const Values &)> body);
  void emitTile(const Values &rows, const Values &columns);
  /// Adds the products of k in `steps` to sums, row by row, and behind them to those of an offset.
  Values addProducts(const KSteps &steps, const Values &rows, const Values &columns, Values sums,
                     bool masked);
  Value load(unsigned operand, Value mask);
  /// One vector with the sum of the lanes of each of `vectors` in its first lanes.
  Value addLanes(Values vectors);
  Value addHalves(Value left, Value right, int64_t segment);
  void store(Value row, const Values &columns, Value sums);
  Value finish(Value sum, Value old);

  const KernelBuilder &kernel;
  const KernelPlan &plan;
  RewriterBase &b;
  Location loc;
  const SumStart &start;
  Indices &place;
  VectorType sumVector;
};
} // namespace

void LaneSums::emit() {
  Index rows = kernel.extentOf(plan.rowDim), columns = kernel.extentOf(plan.columnDim);
  constexpr int64_t kUnknown = 64;
  LaneTile tile =
      chooseLaneTile(kernel.usualRows(rows, kUnknown), kernel.usualColumns(columns, kUnknown),
                     plan.target.registers, plan.offsetsA);
  overPieces(rows, tile.rows, [&](const Values &rowPlaces) {
    overPieces(columns, tile.columns,
               [&](const Values &columnPlaces) { emitTile(rowPlaces, columnPlaces); });
  });
}

void LaneSums::overPieces(Index extent, int64_t step, function_ref<void(const Values &)> body) {
  auto placesFrom = [&](Value first, int64_t count) {
    Values places;
    for (int64_t number = 0; number < count; ++number)
      places.push_back(asValue(b, loc, addIndex(b, loc, first, b.getIndexAttr(number))));
    return places;
  };
  Index whole = mulIndex(b, loc, floorDivIndex(b, loc, extent, step), step);
  kernel.loop(b.getIndexAttr(0), whole, step, [&](Value first) { body(placesFrom(first, step)); });
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (known && *known % step)
    body(placesFrom(kernel.constant(*known / step * step), *known % step));
  else if (!known)
    kernel.loop(whole, extent, 1, [&](Value first) { body({first}); });
}

Value LaneSums::load(unsigned operand, Value mask) {
  int64_t count = plan.usesDot ? plan.length * plan.group : plan.length;
  Value vector = kernel.load(operand, kernel.at(operand, place), count, mask);
  return plan.usesDot ? vector : kernel.widen(vector, operand);
}

Values LaneSums::addProducts(const KSteps &steps, const Values &rows, const Values &columns,
                             Values sums, bool masked) {
  int64_t count = steps.by;
  return kernel.carry(steps, place, std::move(sums), [&](Values carried) {
    Value mask;
    if (masked) {
      Value left = asValue(b, loc, subIndex(b, loc, steps.last, place[plan.roles[kK].back()]));
      mask = vector::CreateMaskOp::create(b, loc, VectorType::get({count}, b.getI1Type()), left);
    }
    auto bytes = VectorType::get({count}, plan.elementOf(0));
    Value flip;
    if (plan.offsetsA)
      flip = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bytes, APInt(8, 0x80)));
    Values loaded;
    for (auto [number, column] : llvm::enumerate(columns)) {
      place[plan.columnDim] = column;
      loaded.push_back(load(1, mask));
      if (plan.offsetsA) {
        Value &excess = carried[rows.size() * columns.size() + number];
        excess = multiplyAdd(kernel, flip, loaded.back(), excess);
      }
    }
    for (auto [rowNumber, row] : llvm::enumerate(rows)) {
      place[plan.rowDim] = row;
      Value factor = load(0, mask);
      if (plan.offsetsA)
        factor = arith::XOrIOp::create(b, loc, factor, flip);
      for (auto [number, column] : llvm::enumerate(loaded)) {
        Value &sum = carried[rowNumber * columns.size() + number];
        sum = multiplyAdd(kernel, factor, column, sum);
      }
    }
    return carried;
  });
}

void LaneSums::emitTile(const Values &rows, const Values &columns) {
  int64_t count = plan.usesDot ? plan.length * plan.group : plan.length;
  size_t tile = rows.size() * columns.size();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sumVector));
  Values sums(tile + (plan.offsetsA ? columns.size() : 0), zero);
  Index extent = kernel.extentOf(plan.roles[kK].back());
  Index whole = mulIndex(b, loc, floorDivIndex(b, loc, extent, count), count);
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (!known || *known >= count)
    sums = addProducts({b.getIndexAttr(0), whole, count}, rows, columns, sums, /*masked=*/false);
  if (!known || *known % count != 0)
    sums = addProducts({whole, extent, count}, rows, columns, sums, /*masked=*/true);
  for (auto [number, row] : llvm::enumerate(rows)) {
    Values own(ArrayRef<Value>(sums).slice(number * columns.size(), columns.size()));
    if (plan.offsetsA)
      for (auto [sum, excess] :
           llvm::zip_equal(own, ArrayRef<Value>(sums).take_back(columns.size())))
        sum = arith::SubIOp::create(b, loc, sum, excess);
    store(row, columns, addLanes(std::move(own)));
  }
}

/// Vectors are made of segments of lanes to be added to one sum. Returns the segments of both with
/// half of the lanes, those of `left` first.
Value LaneSums::addHalves(Value left, Value right, int64_t segment) {
  int64_t lanes = cast<VectorType>(left.getType()).getDimSize(0);
  int64_t both = left == right ? lanes : 2 * lanes;
  SmallVector<int64_t> low, high;
  for (int64_t first = 0; first < both; first += segment)
    for (int64_t lane = first; lane < first + segment / 2; ++lane) {
      low.push_back(lane);
      high.push_back(lane + segment / 2);
    }
  Value lows = vector::ShuffleOp::create(b, loc, left, right, low);
  Value highs = vector::ShuffleOp::create(b, loc, left, right, high);
  return addElements(b, loc, lows, highs);
}

Value LaneSums::addLanes(Values vectors) {
  // Where halves of halves are added to one sum, LLVM 22 forgets lanes of products of bytes, which
  // it makes four by four (VPDPBUSD) and adds up as if they had the width of the last half.
  if (vectors.size() == 1 && plan.sumType.isInteger()) {
    Value sum = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, vectors[0]);
    return vector::BroadcastOp::create(b, loc, VectorType::get({1}, plan.sumType), sum);
  }
  auto inPairs = [&](llvm::function_ref<Value(Value, Value)> combine) {
    Values next;
    if (vectors.size() > 1 && vectors.size() % 2 != 0)
      vectors.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(vectors[0].getType())));
    for (size_t pair = 0; pair < vectors.size(); pair += 2) {
      Value left = vectors[pair];
      next.push_back(combine(left, vectors.size() == 1 ? left : vectors[pair + 1]));
    }
    vectors = std::move(next);
  };
  for (int64_t segment = plan.length; segment > 1; segment /= 2)
    inPairs([&](Value left, Value right) { return addHalves(left, right, segment); });
  // More sums than a vector has lanes.
  while (vectors.size() > 1)
    inPairs([&](Value left, Value right) {
      int64_t lanes = 2 * cast<VectorType>(left.getType()).getDimSize(0);
      return vector::ShuffleOp::create(b, loc, left, right, llvm::to_vector(llvm::seq(lanes)))
          .getResult();
    });
  return vectors[0];
}

Value LaneSums::finish(Value sum, Value old) {
  Value total = addElements(b, loc, kernel.widen(old, 2), sum);
  return narrowElement(b, loc, total, old.getType());
}

void LaneSums::store(Value row, const Values &columns, Value sums) {
  auto count = int64_t(columns.size());
  place[plan.rowDim] = row;
  place[plan.columnDim] = columns[0];
  Value c = plan.operands[2];
  if (count > 1 && plan.isContiguous(2) && plan.lastDim(2) == plan.columnDim) {
    auto type = VectorType::get({count}, plan.element);
    Value some = vector::ExtractStridedSliceOp::create(
        b, loc, sums, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
    Value old = start.initial ? vector::BroadcastOp::create(b, loc, type, start.initial).getResult()
                              : vector::LoadOp::create(b, loc, type, c, kernel.at(2, place));
    vector::StoreOp::create(b, loc, finish(some, old), c, kernel.at(2, place));
    return;
  }
  for (auto [number, column] : llvm::enumerate(columns)) {
    place[plan.columnDim] = column;
    Value sum = vector::ExtractOp::create(b, loc, sums, int64_t(number));
    Value old = start.initial ? start.initial
                              : memref::LoadOp::create(b, loc, c, kernel.at(2, place)).getResult();
    memref::StoreOp::create(b, loc, finish(sum, old), c, kernel.at(2, place));
  }
}

void xetile::emitLaneSums(const KernelBuilder &kernel, const SumStart &start, Indices &place) {
  LaneSums(kernel, start, place).emit();
}
