//===- TileSums.cpp - sums in tile registers ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: bf16 or bytes in groups of k (VNNI layout). Out: amx ops on tiles of 16 x 16 sums, two by two
// at a time, and prefetches of C; vector code does the edges of k, the caller those of m and n.
// Refused by fitsTiles: other types and layouts.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/TileSums.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Cpu/Microkernel/TileTraffic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// Rows of a tile register; columns of sums; groups of k in a row of A.
static constexpr int64_t kTileRows = 16;

bool xetile::fitsTiles(const KernelPlan &plan) {
  if (!plan.target.amx || !plan.groupDim || plan.element != plan.sumType ||
      plan.maps[2].getNumResults() < 2 || plan.maps[0].getNumResults() < 3 ||
      plan.maps[1].getNumResults() < 3 || !plan.isContiguous(0) ||
      plan.lastDim(0) != *plan.groupDim)
    return false;
  Type a = plan.elementOf(0), b = plan.elementOf(1), c = plan.element;
  bool halves = a.isBF16() && b.isBF16() && c.isF32() && plan.group == 2;
  bool bytes = a.isInteger(8) && b.isInteger(8) && c.isInteger(32) && plan.group == 4;
  unsigned step = plan.lastDim(0, 2);
  bool large = true;
  for (unsigned dim : {plan.rowDim, plan.columnDim, step}) {
    int64_t size = plan.kernel.sizes[dim];
    large &= ShapedType::isDynamic(size) || size >= kTileRows;
  }
  return (halves || bytes) && large && plan.stepDims().back() == step &&
         plan.lastDim(0, 3) == plan.rowDim &&
         plan.strideOf(0, plan.maps[0].getNumResults() - 2) == plan.group &&
         plan.lastDim(1, 3) == step && plan.lastDim(2, 2) == plan.rowDim;
}

static Index wholeTiles(const KernelBuilder &kernel, Index extent, int64_t tiles) {
  int64_t size = tiles * kTileRows;
  return mulIndex(kernel.b, kernel.loc, floorDivIndex(kernel.b, kernel.loc, extent, size), size);
}

namespace {
/// Up to two by two tiles of sums, in all whole tiles of k.
class TileBlock {
public:
  TileBlock(const KernelBuilder &kernel, const SumStart &start, const TileTraffic &traffic,
            Indices &place)
      : kernel(kernel), plan(kernel.plan), b(kernel.b), loc(kernel.loc), start(start),
        traffic(traffic), place(place),
        sumTile(amx::TileType::get({kTileRows, kTileRows}, plan.element)) {}

  /// The block from `row` and `column` on.
  void emit(Value row, Value column, int64_t rowTiles, int64_t columnTiles);

private:
  Value shifted(Value first, Index distance) {
    return asValue(b, loc, addIndex(b, loc, first, distance));
  }
  Value load(unsigned operand, Value at);
  Values multiply(Values sums);
  /// Writes to C come to lines that are there: `rows` of them are fetched in step `step` of k.
  void fetch(Value step, int64_t rows);
  Values throughSteps(Values sums);

  const KernelBuilder &kernel;
  const KernelPlan &plan;
  RewriterBase &b;
  Location loc;
  const SumStart &start;
  const TileTraffic &traffic;
  Indices &place;
  amx::TileType sumTile;
  Values rowsAt, columnsAt;
  std::array<Value, 2> flat;
};
} // namespace

Value TileBlock::load(unsigned operand, Value at) {
  place[operand == 0 ? plan.rowDim : plan.columnDim] = at;
  // Groups are flattened.
  Values indices = kernel.at(operand, place);
  indices.pop_back();
  indices.back() = asValue(b, loc, mulIndex(b, loc, indices.back(), plan.group));
  auto tile = amx::TileType::get({kTileRows, kTileRows * plan.group}, plan.elementOf(operand));
  auto loaded = amx::TileLoadOp::create(b, loc, tile, flat[operand], indices);
  if (operand == traffic.streamed)
    loaded->setDiscardableAttr(kStreamedAttr, b.getUnitAttr());
  return loaded;
}

Values TileBlock::multiply(Values sums) {
  // Products begin before all tiles are loaded.
  Values left(rowsAt.size()), right(columnsAt.size());
  for (auto [number, sum] : llvm::enumerate(sums)) {
    size_t row = number / columnsAt.size(), column = number % columnsAt.size();
    if (!left[row])
      left[row] = load(0, rowsAt[row]);
    if (!right[column])
      right[column] = load(1, columnsAt[column]);
    if (isa<FloatType>(plan.element))
      sum = amx::TileMulFOp::create(b, loc, sumTile, left[row], right[column], sum);
    else
      sum = amx::TileMulIOp::create(b, loc, sumTile, left[row], right[column], sum,
                                    plan.isUnsigned(0), plan.isUnsigned(1));
  }
  return sums;
}

void TileBlock::fetch(Value step, int64_t rows) {
  Index first = mulIndex(b, loc, floorDivIndex(b, loc, step, kTileRows), rows);
  for (int64_t number = 0; number < rows; ++number) {
    Index distance = addIndex(b, loc, first, b.getIndexAttr(number));
    place[plan.rowDim] = shifted(rowsAt[0], distance);
    for (Value column : columnsAt) {
      place[plan.columnDim] = column;
      memref::PrefetchOp::create(b, loc, plan.operands[2], kernel.at(2, place), /*isWrite=*/true,
                                 /*localityHint=*/3, /*isDataCache=*/true);
    }
  }
}

Values TileBlock::throughSteps(Values sums) {
  unsigned dim = plan.stepDims().back();
  Index last = wholeTiles(kernel, kernel.extentOf(dim), 1);
  Value origin, sign;
  if (traffic.backwards) {
    Value end = asValue(b, loc, subIndex(b, loc, last, b.getIndexAttr(kTileRows)));
    origin = arith::SelectOp::create(b, loc, traffic.backwards, end, kernel.constant(0));
    sign =
        arith::SelectOp::create(b, loc, traffic.backwards, kernel.constant(-1), kernel.constant(1));
  }
  auto go = [&](Index from, Index to, int64_t fetchedRows) {
    sums = kernel.carry({from, to, kTileRows}, place, sums, [&](Values carried) {
      if (fetchedRows)
        fetch(place[dim], fetchedRows);
      if (sign) {
        Value distance = arith::MulIOp::create(b, loc, place[dim], sign);
        place[dim] = arith::AddIOp::create(b, loc, origin, distance);
      }
      return multiply(std::move(carried));
    });
  };
  Index from = b.getIndexAttr(0);
  std::optional<int64_t> known = getConstantIntValue(last);
  if (traffic.fetchesC) {
    // All lines at once would have to wait for one another.
    constexpr int64_t kMostSteps = 16;
    int64_t steps = std::clamp<int64_t>(known.value_or(INT64_MAX) / kTileRows, 1, kMostSteps);
    steps = llvm::bit_floor(uint64_t(steps));
    Index to = minIndex(b, loc, b.getIndexAttr(steps * kTileRows), last);
    go(from, to, int64_t(rowsAt.size()) * kTileRows / steps);
    from = to;
  }
  if (!known || getConstantIntValue(from) != known)
    go(from, last, 0);
  return sums;
}

void TileBlock::emit(Value row, Value column, int64_t rowTiles, int64_t columnTiles) {
  rowsAt.clear();
  columnsAt.clear();
  for (int64_t i = 0; i < rowTiles; ++i)
    rowsAt.push_back(shifted(row, b.getIndexAttr(i * kTileRows)));
  for (int64_t i = 0; i < columnTiles; ++i)
    columnsAt.push_back(shifted(column, b.getIndexAttr(i * kTileRows)));
  auto overSums = [&](function_ref<void()> body) {
    for (Value tileRow : rowsAt)
      for (Value tileColumn : columnsAt) {
        place[plan.rowDim] = tileRow;
        place[plan.columnDim] = tileColumn;
        body();
      }
  };
  Values sums;
  overSums([&] {
    sums.push_back(start.initial ? amx::TileZeroOp::create(b, loc, sumTile).getResult()
                                 : amx::TileLoadOp::create(b, loc, sumTile, plan.operands[2],
                                                           kernel.at(2, place))
                                       .getResult());
  });
  flat = {kernel.flatten(0), kernel.flatten(1)};
  sums = throughSteps(std::move(sums));
  unsigned next = 0;
  overSums([&] {
    amx::TileStoreOp::create(b, loc, plan.operands[2], kernel.at(2, place), sums[next++]);
  });
}

Area xetile::emitTileSums(const KernelBuilder &kernel, const SumStart &start, Indices &place) {
  const KernelPlan &plan = kernel.plan;
  OpBuilder &b = kernel.b;
  Location loc = kernel.loc;
  Index zero = b.getIndexAttr(0), rows = kernel.extentOf(plan.rowDim),
        columns = kernel.extentOf(plan.columnDim);
  Area area = {zero, wholeTiles(kernel, rows, 1), zero, wholeTiles(kernel, columns, 1)};
  Index rowPairs = wholeTiles(kernel, rows, 2), columnPairs = wholeTiles(kernel, columns, 2);
  const TileTraffic traffic = planTraffic(kernel, start);
  TileBlock block(kernel, start, traffic, place);
  auto alongColumns = [&](Value row, int64_t rowTiles) {
    kernel.loop(zero, columnPairs, 2 * kTileRows,
                [&](Value column) { block.emit(row, column, rowTiles, 2); });
    kernel.loop(columnPairs, area.columnHigh, kTileRows,
                [&](Value column) { block.emit(row, column, rowTiles, 1); });
  };
  kernel.loop(zero, rowPairs, 2 * kTileRows, [&](Value row) { alongColumns(row, 2); });
  kernel.loop(rowPairs, area.rowHigh, kTileRows, [&](Value row) { alongColumns(row, 1); });

  // The rest of k goes on from the sums in C.
  Index steps = kernel.extentOf(plan.stepDims().back()), wholeSteps = wholeTiles(kernel, steps, 1);
  if (getConstantIntValue(steps) && getConstantIntValue(steps) == getConstantIntValue(wholeSteps))
    return area;
  Value left = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, asValue(b, loc, wholeSteps),
                                     asValue(b, loc, steps));
  auto rest = scf::IfOp::create(b, loc, left);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rest.thenBlock());
  emitVectorSums(kernel, SumStart(), wholeSteps, place, area);
  return area;
}
