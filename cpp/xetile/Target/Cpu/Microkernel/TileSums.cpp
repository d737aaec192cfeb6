//===- TileSums.cpp - sums in tile registers ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: bf16 or bytes in groups of k (VNNI layout). Out: amx ops on tiles of 16 x 16 sums, two by two
// at a time, and prefetches of C; up to 32 rows and columns in tiles of as many. The last groups of
// k that fill no tile are copied to ones that they do; the caller does the edges of more, or
// unknown, m and n. Refused by fitsTiles: other types and layouts.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/TileSums.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Cpu/Microkernel/LastTiles.h"
#include "xetile/Target/Cpu/Microkernel/TileTraffic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// Rows of a tile register; columns of sums; groups of k in a row of A.
static constexpr int64_t kTileRows = 16;

/// Tiles of one size that cover rows or columns, as few as can; two of them may share some.
struct TileCover {
  int64_t count, size, extent;

  /// Where tile `number` begins.
  int64_t start(int64_t number) const { return number == 0 ? 0 : extent - size; }
  bool isWhole() const { return size == kTileRows; }
};

static constexpr TileCover kOneTile = {1, kTileRows, kTileRows},
                           kTwoTiles = {2, kTileRows, 2 * kTileRows};

/// None for more than two tiles, or an unknown number.
static std::optional<TileCover> coverOf(int64_t extent) {
  if (ShapedType::isDynamic(extent) || extent < 1 || extent > 2 * kTileRows)
    return std::nullopt;
  int64_t count = llvm::divideCeil(extent, kTileRows);
  return TileCover{count, int64_t(llvm::divideCeil(extent, count)), extent};
}

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
  auto isLarge = [&](unsigned dim) {
    int64_t size = plan.kernel.sizes[dim];
    return ShapedType::isDynamic(size) || size >= kTileRows;
  };
  bool large = isLarge(step);
  if (!coverOf(plan.kernel.sizes[plan.rowDim]) || !coverOf(plan.kernel.sizes[plan.columnDim]))
    large &= isLarge(plan.rowDim) && isLarge(plan.columnDim);
  return (halves || bytes) && large && plan.stepDims().back() == step &&
         plan.lastDim(0, 3) == plan.rowDim &&
         plan.strideOf(0, plan.maps[0].getNumResults() - 2) == plan.group &&
         plan.lastDim(1, 3) == step && plan.lastDim(2, 2) == plan.rowDim;
}

static Index wholeTiles(const KernelBuilder &kernel, Index extent, int64_t tiles) {
  int64_t size = tiles * kTileRows;
  return mulIndex(kernel.b, kernel.loc, floorDivIndex(kernel.b, kernel.loc, extent, size), size);
}

/// True if all of k is known to be in whole tiles.
static bool hasWholeSteps(const KernelBuilder &kernel) {
  const KernelPlan &plan = kernel.plan;
  unsigned dim = plan.stepDims().back();
  if (int64_t known = plan.kernel.sizes[dim]; !ShapedType::isDynamic(known))
    return known % kTileRows == 0;
  auto [operand, place] = *plan.indexedBy(dim); // planKernel has checked
  auto view = plan.operands[operand].getDefiningOp<memref::ExpandShapeOp>();
  auto size = view ? dyn_cast<Value>(view.getMixedOutputShape()[place]) : Value();
  auto computed = size ? size.getDefiningOp<affine::AffineApplyOp>() : affine::AffineApplyOp();
  return computed && computed.getAffineMap().getResult(0).isMultipleOf(kTileRows);
}

namespace {
/// Loads tile `number` of an operand.
using LoadTile = llvm::function_ref<Value(unsigned operand, size_t number)>;

/// Up to two by two tiles of sums, through all of k.
class TileBlock {
public:
  TileBlock(const KernelBuilder &kernel, const SumStart &start, const TileTraffic &traffic,
            Indices &place)
      : kernel(kernel), plan(kernel.plan), b(kernel.b), loc(kernel.loc), start(start),
        traffic(traffic), place(place) {}

  /// The block from `row` and `column` on.
  void emit(Value row, Value column, const TileCover &rows, const TileCover &columns);

private:
  Value shifted(Value first, Index distance) {
    return asValue(b, loc, addIndex(b, loc, first, distance));
  }
  amx::TileType tileOf(unsigned operand);
  /// The tile at `place`, but for the row or column, which is `at`.
  Value load(unsigned operand, Value at);
  Values multiply(Values sums, LoadTile loadTile);
  /// Writes to C come to lines that are there: `rows` of them are fetched in step `step` of k.
  void fetch(Value step, int64_t rows);
  Values throughSteps(Values sums);
  /// Steps of k from `first` on, which fill no tile.
  Values throughLastSteps(Values sums, Index first);

  const KernelBuilder &kernel;
  const KernelPlan &plan;
  RewriterBase &b;
  Location loc;
  const SumStart &start;
  const TileTraffic &traffic;
  Indices &place;
  /// Rows and columns of tiles of sums.
  int64_t height = kTileRows, width = kTileRows;
  amx::TileType sumTile;
  Values rowsAt, columnsAt;
  std::array<Value, 2> flat;
};
} // namespace

amx::TileType TileBlock::tileOf(unsigned operand) {
  return amx::TileType::get(operand == 0 ? ArrayRef{height, kTileRows * plan.group}
                                         : ArrayRef{kTileRows, width * plan.group},
                            plan.elementOf(operand));
}

Value TileBlock::load(unsigned operand, Value at) {
  place[operand == 0 ? plan.rowDim : plan.columnDim] = at;
  // Groups are flattened.
  Values indices = kernel.at(operand, place);
  indices.pop_back();
  indices.back() = asValue(b, loc, mulIndex(b, loc, indices.back(), plan.group));
  auto loaded = amx::TileLoadOp::create(b, loc, tileOf(operand), flat[operand], indices);
  if (operand == traffic.streamed)
    loaded->setDiscardableAttr(kStreamedAttr, b.getUnitAttr());
  return loaded;
}

Values TileBlock::multiply(Values sums, LoadTile loadTile) {
  // Products begin before all tiles are loaded.
  Values left(rowsAt.size()), right(columnsAt.size());
  for (auto [number, sum] : llvm::enumerate(sums)) {
    size_t row = number / columnsAt.size(), column = number % columnsAt.size();
    if (!left[row])
      left[row] = loadTile(0, row);
    if (!right[column])
      right[column] = loadTile(1, column);
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
      return multiply(std::move(carried), [&](unsigned operand, size_t number) {
        return load(operand, operand == 0 ? rowsAt[number] : columnsAt[number]);
      });
    });
  };
  Index from = b.getIndexAttr(0);
  std::optional<int64_t> known = getConstantIntValue(last);
  if (traffic.fetchesC && height == kTileRows) {
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
  return hasWholeSteps(kernel) ? sums : throughLastSteps(std::move(sums), last);
}

Values TileBlock::throughLastSteps(Values sums, Index first) {
  unsigned dim = plan.stepDims().back();
  Index end = kernel.extentOf(dim);
  // One step, or none.
  return kernel.carry({first, end, kTileRows}, place, std::move(sums), [&](Values carried) {
    LastTiles last(kernel, flat, subIndex(b, loc, end, place[dim]));
    for (auto [number, row] : llvm::enumerate(rowsAt)) {
      place[plan.rowDim] = row;
      last.copy(0, int64_t(number), place, height);
    }
    for (auto [number, column] : llvm::enumerate(columnsAt)) {
      place[plan.columnDim] = column;
      last.copy(1, int64_t(number), place, width);
    }
    return multiply(std::move(carried), [&](unsigned operand, size_t number) {
      return last.load(operand, int64_t(number), tileOf(operand));
    });
  });
}

void TileBlock::emit(Value row, Value column, const TileCover &rows, const TileCover &columns) {
  height = rows.size;
  width = columns.size;
  sumTile = amx::TileType::get({height, width}, plan.element);
  rowsAt.clear();
  columnsAt.clear();
  for (int64_t i = 0; i < rows.count; ++i)
    rowsAt.push_back(shifted(row, b.getIndexAttr(rows.start(i))));
  for (int64_t i = 0; i < columns.count; ++i)
    columnsAt.push_back(shifted(column, b.getIndexAttr(columns.start(i))));
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
  Index zero = b.getIndexAttr(0), rows = kernel.extentOf(plan.rowDim),
        columns = kernel.extentOf(plan.columnDim);
  const TileTraffic traffic = planTraffic(kernel, start);
  TileBlock block(kernel, start, traffic, place);
  std::optional<TileCover> rowCover = coverOf(plan.kernel.sizes[plan.rowDim]),
                           columnCover = coverOf(plan.kernel.sizes[plan.columnDim]);
  if (rowCover && columnCover) {
    OpBuilder::InsertionGuard guard(b);
    Area all = {zero, rows, zero, columns};
    Value origin = kernel.constant(0);
    // Tiles of other sizes become a function, of what is in a region.
    if (!rowCover->isWhole() || !columnCover->isWhole()) {
      auto region = scf::ExecuteRegionOp::create(b, kernel.loc, TypeRange());
      b.createBlock(&region.getRegion());
      b.setInsertionPoint(scf::YieldOp::create(b, kernel.loc));
    }
    block.emit(origin, origin, *rowCover, *columnCover);
    return all;
  }
  Area area = {zero, wholeTiles(kernel, rows, 1), zero, wholeTiles(kernel, columns, 1)};
  Index rowPairs = wholeTiles(kernel, rows, 2), columnPairs = wholeTiles(kernel, columns, 2);
  auto alongColumns = [&](Value row, const TileCover &rowTiles) {
    kernel.loop(zero, columnPairs, 2 * kTileRows,
                [&](Value column) { block.emit(row, column, rowTiles, kTwoTiles); });
    kernel.loop(columnPairs, area.columnHigh, kTileRows,
                [&](Value column) { block.emit(row, column, rowTiles, kOneTile); });
  };
  kernel.loop(zero, rowPairs, 2 * kTileRows, [&](Value row) { alongColumns(row, kTwoTiles); });
  kernel.loop(rowPairs, area.rowHigh, kTileRows, [&](Value row) { alongColumns(row, kOneTile); });
  return area;
}
