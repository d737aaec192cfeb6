//===- TileSums.cpp - sums in tile registers ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: bf16 or bytes in groups of k (VNNI layout). Out: amx ops on tiles of 16 x 16 sums, two by two
// at a time; vector code does the edges of k, the caller those of m and n.
// Refused by fitsTiles: other types and layouts.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/TileSums.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

/// Computes tiles from `row` and `column` on, in all whole tiles of k.
static void emitTileBlock(const KernelBuilder &kernel, const SumStart &start, Indices &place,
                          Value row, Value column, int64_t rowTiles, int64_t columnTiles) {
  const KernelPlan &plan = kernel.plan;
  OpBuilder &b = kernel.b;
  Location loc = kernel.loc;
  auto sumTile = amx::TileType::get({kTileRows, kTileRows}, plan.element);
  auto tileOf = [&](unsigned operand) {
    return amx::TileType::get({kTileRows, kTileRows * plan.group}, plan.elementOf(operand));
  };
  auto shifted = [&](Value first, int64_t number) {
    return asValue(b, loc, addIndex(b, loc, first, b.getIndexAttr(number * kTileRows)));
  };
  Values rowsAt, columnsAt;
  for (int64_t i = 0; i < rowTiles; ++i)
    rowsAt.push_back(shifted(row, i));
  for (int64_t i = 0; i < columnTiles; ++i)
    columnsAt.push_back(shifted(column, i));
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

  Value flatA = kernel.flatten(0), flatB = kernel.flatten(1);
  // The indices of an operand whose groups are flattened.
  auto flatAt = [&](unsigned operand) {
    Values indices = kernel.at(operand, place);
    indices.pop_back();
    indices.back() = asValue(b, loc, mulIndex(b, loc, indices.back(), plan.group));
    return indices;
  };
  Index extent = kernel.extentOf(plan.stepDims().back());
  KSteps steps = {b.getIndexAttr(0), wholeTiles(kernel, extent, 1), kTileRows};
  sums = kernel.carry(steps, place, sums, [&](Values carried) {
    Values left, right;
    for (Value tileRow : rowsAt) {
      place[plan.rowDim] = tileRow;
      left.push_back(amx::TileLoadOp::create(b, loc, tileOf(0), flatA, flatAt(0)));
    }
    for (Value tileColumn : columnsAt) {
      place[plan.columnDim] = tileColumn;
      right.push_back(amx::TileLoadOp::create(b, loc, tileOf(1), flatB, flatAt(1)));
    }
    for (auto [number, sum] : llvm::enumerate(carried)) {
      Value x = left[number / columnTiles], y = right[number % columnTiles];
      if (isa<FloatType>(plan.element))
        sum = amx::TileMulFOp::create(b, loc, sumTile, x, y, sum);
      else
        sum = amx::TileMulIOp::create(b, loc, sumTile, x, y, sum, plan.isUnsigned(0),
                                      plan.isUnsigned(1));
    }
    return carried;
  });
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
  auto alongColumns = [&](Value row, int64_t rowTiles) {
    kernel.loop(zero, columnPairs, 2 * kTileRows, [&](Value column) {
      emitTileBlock(kernel, start, place, row, column, rowTiles, 2);
    });
    kernel.loop(columnPairs, area.columnHigh, kTileRows, [&](Value column) {
      emitTileBlock(kernel, start, place, row, column, rowTiles, 1);
    });
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
