//===- VectorSums.cpp - sums in vector registers -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a part of C. Out: loops over register tiles, whose sums are carried through k in vectors. At
// the edges the last columns are masked and the last rows repeated. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/VectorSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Cpu/Matmul/Config/RegisterTile.h"
#include "xetile/Target/Cpu/Microkernel/Products.h"

using namespace mlir;
using namespace xetile;

namespace {
/// All that the register tiles of an area have in common.
struct AreaBuilder {
  const KernelBuilder &kernel;
  const SumStart &start;
  Index firstStep;
  const Area &area;
  RegisterTile tile;
};
/// Rows of a register tile: `count` from `first` on. Those past the end of the area repeat its
/// last one, if they are to be clamped, and write the same values to it.
struct Rows {
  Index first;
  int64_t count;
  bool clamp;
};
} // namespace

static RegisterPlaces placesOf(const AreaBuilder &in, const Rows &rows, Value firstColumn,
                               bool masked) {
  OpBuilder &b = in.kernel.b;
  Location loc = in.kernel.loc;
  int64_t length = in.kernel.plan.length;
  RegisterPlaces places;
  for (int64_t row = 0; row < rows.count; ++row) {
    Index index = addIndex(b, loc, rows.first, b.getIndexAttr(row));
    if (rows.clamp && row > 0)
      index = minIndex(b, loc, index, subIndex(b, loc, in.area.rowHigh, b.getIndexAttr(1)));
    places.rows.push_back(asValue(b, loc, index));
  }
  for (int64_t vector = 0; vector < in.tile.vectors; ++vector) {
    Index column = addIndex(b, loc, firstColumn, b.getIndexAttr(vector * length));
    places.columns.push_back(asValue(b, loc, column));
    Value mask;
    if (masked) {
      Value left = asValue(b, loc, subIndex(b, loc, in.area.columnHigh, column));
      mask = vector::CreateMaskOp::create(b, loc, VectorType::get({length}, b.getI1Type()), left);
    }
    places.masks.push_back(mask);
  }
  return places;
}

static Values startSums(const KernelBuilder &kernel, const SumStart &start, Indices &place,
                        const RegisterPlaces &tile) {
  const KernelPlan &plan = kernel.plan;
  OpBuilder &b = kernel.b;
  Location loc = kernel.loc;
  auto sumVector = VectorType::get({plan.length}, plan.sumType);
  Values sums, columnBias;
  for (auto [column, mask] : llvm::zip_equal(tile.columns, tile.masks)) {
    if (!start.bias)
      break;
    auto zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sumVector));
    columnBias.push_back(
        mask ? vector::MaskedLoadOp::create(b, loc, sumVector, start.bias, column, mask, zero)
                   .getResult()
             : vector::LoadOp::create(b, loc, sumVector, start.bias, column).getResult());
  }
  for (Value row : tile.rows)
    for (auto [number, column, mask] : llvm::enumerate(tile.columns, tile.masks)) {
      place[plan.rowDim] = row;
      place[plan.columnDim] = column;
      Value sum;
      if (start.initial)
        sum = vector::BroadcastOp::create(b, loc, sumVector, kernel.widen(start.initial, 2));
      else
        sum = kernel.widen(kernel.load(2, kernel.at(2, place), plan.length, mask), 2);
      sums.push_back(start.bias ? arith::AddIOp::create(b, loc, sum, columnBias[number]).getResult()
                                : sum);
    }
  return sums;
}

static void storeSums(const KernelBuilder &kernel, Indices &place, const RegisterPlaces &tile,
                      ArrayRef<Value> sums) {
  const KernelPlan &plan = kernel.plan;
  OpBuilder &b = kernel.b;
  Location loc = kernel.loc;
  for (Value row : tile.rows)
    for (auto [column, mask] : llvm::zip_equal(tile.columns, tile.masks)) {
      place[plan.rowDim] = row;
      place[plan.columnDim] = column;
      Value sum = sums.consume_front();
      if (plan.element != plan.sumType)
        sum = arith::TruncFOp::create(b, loc, VectorType::get({plan.length}, plan.element), sum);
      if (mask)
        vector::MaskedStoreOp::create(b, loc, plan.operands[2], kernel.at(2, place), mask, sum);
      else
        vector::StoreOp::create(b, loc, sum, plan.operands[2], kernel.at(2, place));
    }
}

static void emitRegisterTile(const AreaBuilder &in, Indices place, const Rows &rows,
                             Value firstColumn, bool masked) {
  const KernelBuilder &kernel = in.kernel;
  RegisterPlaces places = placesOf(in, rows, firstColumn, masked);
  Values sums = startSums(kernel, in.start, place, places);
  if (kernel.plan.offsetsA)
    correctOffset(kernel, in.firstStep, place, places, sums);
  KSteps steps = kernel.stepsFrom(in.firstStep);
  sums = kernel.carry(steps, place, sums,
                      [&](Values carried) { return addProducts(kernel, place, places, carried); });
  storeSums(kernel, place, places, sums);
}

static void emitColumns(const AreaBuilder &in, Indices &place, Rows rows) {
  OpBuilder &b = in.kernel.b;
  Location loc = in.kernel.loc;
  Index low = in.area.columnLow, high = in.area.columnHigh;
  int64_t width = in.tile.vectors * in.kernel.plan.length;
  Index columns = subIndex(b, loc, high, low);
  Index whole =
      addIndex(b, loc, low, mulIndex(b, loc, floorDivIndex(b, loc, columns, width), width));
  rows.first = asValue(b, loc, rows.first);
  in.kernel.loop(low, whole, width, [&](Value column) {
    emitRegisterTile(in, place, rows, column, /*masked=*/false);
  });
  in.kernel.loop(whole, high, width,
                 [&](Value column) { emitRegisterTile(in, place, rows, column, /*masked=*/true); });
}

void xetile::emitVectorSums(const KernelBuilder &kernel, const SumStart &start, Index firstStep,
                            Indices &place, const Area &area) {
  OpBuilder &b = kernel.b;
  Location loc = kernel.loc;
  Index rows = subIndex(b, loc, area.rowHigh, area.rowLow);
  Index columns = subIndex(b, loc, area.columnHigh, area.columnLow);
  constexpr int64_t kUnknown = int64_t(24) * 64;
  RegisterTile tile =
      chooseRegisterTile(kernel.usualRows(rows, kUnknown), kernel.usualColumns(columns, kUnknown),
                         kernel.plan.length, kernel.plan.target.registers);
  const AreaBuilder builder = {kernel, start, firstStep, area, tile};
  Index whole = addIndex(b, loc, area.rowLow,
                         mulIndex(b, loc, floorDivIndex(b, loc, rows, tile.rows), tile.rows));
  kernel.loop(area.rowLow, whole, tile.rows,
              [&](Value row) { emitColumns(builder, place, {row, tile.rows, false}); });
  std::optional<int64_t> known = getConstantIntValue(rows);
  int64_t rest = known ? *known % tile.rows : tile.rows;
  if (rest)
    kernel.loop(whole, area.rowHigh, tile.rows,
                [&](Value row) { emitColumns(builder, place, {row, rest, !known}); });
}
