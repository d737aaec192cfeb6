//===- MicrokernelAmx.cpp - sums in tile registers ---------------------------===//
// In: bf16 or bytes in groups of k (VNNI layout). Out: amx ops on tiles of 16 x 16 sums, two by two
// at a time; vector code does the edges of k, the caller those of m and n.
// Refused by fitsTiles: other types and layouts.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Cpu/Microkernel/MicrokernelEmitter.h"

using namespace mlir;
using namespace xetile;

/// Rows of a tile register; columns of sums; groups of k in a row of A.
static constexpr int64_t kTileRows = 16;

bool MicrokernelEmitter::fitsTiles() const {
  if (!target.amx || !groupDim || element != sumType || maps[2].getNumResults() < 2 ||
      maps[0].getNumResults() < 3 || maps[1].getNumResults() < 3 || !isContiguous(0) ||
      lastDim(0) != *groupDim)
    return false;
  Type a = elementOf(0), right = elementOf(1);
  bool halves = a.isBF16() && right.isBF16() && element.isF32() && group == 2;
  bool bytes = a.isInteger(8) && right.isInteger(8) && element.isInteger(32) && group == 4;
  unsigned step = lastDim(0, 2);
  bool large = true;
  for (unsigned dim : {rowDim, columnDim, step})
    large &= ShapedType::isDynamic(kernel.sizes[dim]) || kernel.sizes[dim] >= kTileRows;
  return (halves || bytes) && large && stepDims().back() == step && lastDim(0, 3) == rowDim &&
         strideOf(0, maps[0].getNumResults() - 2) == group && lastDim(1, 3) == step &&
         lastDim(2, 2) == rowDim;
}

MicrokernelEmitter::Region MicrokernelEmitter::emitTiles(Indices &place) {
  auto wholeTiles = [&](Index extent, int64_t tiles) {
    int64_t size = tiles * kTileRows;
    return mulIndex(b, loc, floorDivIndex(b, loc, extent, size), size);
  };
  Index zero = b.getIndexAttr(0), rows = extentOf(rowDim), columns = extentOf(columnDim);
  Region region = {zero, wholeTiles(rows, 1), zero, wholeTiles(columns, 1)};
  Index rowPairs = wholeTiles(rows, 2), columnPairs = wholeTiles(columns, 2);
  auto alongColumns = [&](Value row, int64_t rowTiles) {
    loop(zero, columnPairs, 2 * kTileRows,
         [&](Value column) { emitTileBlock(place, row, column, rowTiles, 2); });
    loop(columnPairs, region.columnHigh, kTileRows,
         [&](Value column) { emitTileBlock(place, row, column, rowTiles, 1); });
  };
  loop(zero, rowPairs, 2 * kTileRows, [&](Value row) { alongColumns(row, 2); });
  loop(rowPairs, region.rowHigh, kTileRows, [&](Value row) { alongColumns(row, 1); });

  // The rest of k goes on from the sums in C.
  Index steps = extentOf(stepDims().back()), wholeSteps = wholeTiles(steps, 1);
  if (getConstantIntValue(steps) && getConstantIntValue(steps) == getConstantIntValue(wholeSteps))
    return region;
  Value start = initial;
  initial = nullptr;
  firstStep = wholeSteps;
  Value left = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, asValue(b, loc, wholeSteps),
                                     asValue(b, loc, steps));
  auto rest = scf::IfOp::create(b, loc, left);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rest.thenBlock());
    emitRegion(place, region);
  }
  firstStep = zero;
  initial = start;
  return region;
}

void MicrokernelEmitter::emitTileBlock(Indices &place, Value row, Value column, int64_t rowTiles,
                                       int64_t columnTiles) {
  auto sumTile = amx::TileType::get({kTileRows, kTileRows}, element);
  auto tileOf = [&](unsigned operand) {
    return amx::TileType::get({kTileRows, kTileRows * group}, elementOf(operand));
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
        place[rowDim] = tileRow;
        place[columnDim] = tileColumn;
        body();
      }
  };
  Values sums;
  overSums([&] {
    sums.push_back(
        initial ? amx::TileZeroOp::create(b, loc, sumTile).getResult()
                : amx::TileLoadOp::create(b, loc, sumTile, operands[2], at(2, place)).getResult());
  });

  Value flatA = flatten(0), flatB = flatten(1);
  // The indices of an operand whose groups are flattened.
  auto flatAt = [&](unsigned operand) {
    Values indices = at(operand, place);
    indices.pop_back();
    indices.back() = asValue(b, loc, mulIndex(b, loc, indices.back(), group));
    return indices;
  };
  SmallVector<unsigned> dims = stepDims();
  Index steps = extentOf(dims.back());
  Index last = mulIndex(b, loc, floorDivIndex(b, loc, steps, kTileRows), kTileRows);
  sums = carry(dims, place, sums, last, kTileRows, [&](Values carried) {
    Values left, right;
    for (Value tileRow : rowsAt) {
      place[rowDim] = tileRow;
      left.push_back(amx::TileLoadOp::create(b, loc, tileOf(0), flatA, flatAt(0)));
    }
    for (Value tileColumn : columnsAt) {
      place[columnDim] = tileColumn;
      right.push_back(amx::TileLoadOp::create(b, loc, tileOf(1), flatB, flatAt(1)));
    }
    for (auto [number, sum] : llvm::enumerate(carried)) {
      Value x = left[number / columnTiles], y = right[number % columnTiles];
      if (isa<FloatType>(element))
        sum = amx::TileMulFOp::create(b, loc, sumTile, x, y, sum);
      else
        sum = amx::TileMulIOp::create(b, loc, sumTile, x, y, sum, isUnsigned(0), isUnsigned(1));
    }
    return carried;
  });
  unsigned next = 0;
  overSums([&] { amx::TileStoreOp::create(b, loc, operands[2], at(2, place), sums[next++]); });
}
