//===- PackPanels.cpp - copies of blocks of B --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a matrix, k x n or n x k. Out: loops of vector transfers to a scratch tensor of panels.
// Nothing is refused: the rewrite packs plain operands only.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Cpu/Matmul/Packing/Copier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// Rows copied together: as many streams as a core's prefetcher follows with ease.
static constexpr int64_t kRowsAtOnce = 8;

/// Rows [k, k + rows) of a k x n source to their places in all panels.
static Value packPanelRows(Copier &copier, Index k, int64_t rows, Index n, int64_t panel,
                           Value scratch) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  auto copy = [&](bool inBounds) {
    return [&, inBounds](Index column, Value destination) {
      Index number = floorDivIndex(builder, loc, column, panel);
      for (int64_t row = 0; row < rows; ++row) {
        Index at = addIndex(builder, loc, k, builder.getIndexAttr(row));
        for (int64_t part = 0; part < panel; part += copier.length) {
          Index from = addIndex(builder, loc, column, builder.getIndexAttr(part));
          Value vector = copier.read({at, from}, copier.length, inBounds);
          destination = copier.write(vector, destination, {number, at, builder.getIndexAttr(part)});
        }
      }
      return destination;
    };
  };
  Index whole = copier.wholeSteps(n, panel);
  scratch = copier.loop(builder.getIndexAttr(0), whole, panel, scratch, copy(true));
  return copier.loop(whole, n, panel, scratch, copy(false));
}

/// Rows [k, k + group), interleaved, to row k / group of all panels; from `end` on they are zeros.
static Value packPanelGroup(Copier &copier, Index k, int64_t group, std::optional<Index> end,
                            Index n, int64_t panel, Value scratch) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  Index target = floorDivIndex(builder, loc, k, group);
  auto copy = [&](bool inBounds) {
    return [&, inBounds](Index column, Value destination) {
      Index number = floorDivIndex(builder, loc, column, panel);
      // Rows are interleaved by whole registers, where there are as many columns.
      int64_t wide = inBounds ? copier.length * group : copier.length;
      for (int64_t part = 0, count; part < panel; part += count) {
        count = panel - part >= wide ? wide : copier.length;
        Index from = addIndex(builder, loc, column, builder.getIndexAttr(part));
        Value groups = copier.readGroup(k, count, group, end, from, inBounds);
        destination =
            copier.write(groups, destination, {number, target, builder.getIndexAttr(group * part)});
      }
      return destination;
    };
  };
  Index whole = copier.wholeSteps(n, panel);
  scratch = copier.loop(builder.getIndexAttr(0), whole, panel, scratch, copy(true));
  return copier.loop(whole, n, panel, scratch, copy(false));
}

/// Zeros in rows from `row` up to a multiple of `multiple`, of all panels.
static Value fillPanels(Copier &copier, Index row, int64_t multiple, Index n, int64_t panel,
                        int64_t group, Value scratch) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  Index end = mulIndex(builder, loc, ceilDivIndex(builder, loc, row, multiple), multiple);
  auto type = VectorType::get({copier.length * group}, copier.element);
  Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return copier.loop(row, end, 1, scratch, [&](Index at, Value outer) {
    return copier.loop(builder.getIndexAttr(0), n, panel, outer, [&](Index column, Value into) {
      Index number = floorDivIndex(builder, loc, column, panel);
      for (int64_t part = 0; part < panel; part += copier.length)
        into = copier.write(zeros, into, {number, at, builder.getIndexAttr(group * part)});
      return into;
    });
  });
}

namespace {
/// Elements [place, place + count) of a square's row.
using ReadRow = llvm::function_ref<Value(int64_t row, int64_t place, int64_t count)>;
} // namespace

/// Columns of a square of 32-bit units. Fours of a row are read to where they belong in their
/// registers, then fours by fours transposed in each quarter: half of the shuffles of whole rows.
static SmallVector<Value> transposeFours(OpBuilder &builder, Location loc, VectorType type,
                                         ReadRow read) {
  int64_t length = type.getNumElements();
  auto shuffle = [&](Value left, Value right, std::array<int64_t, 4> places) -> Value {
    SmallVector<int64_t> mask;
    for (int64_t four = 0; four < length; four += 4)
      for (int64_t place : places)
        mask.push_back(place < 4 ? four + place : length + four + place - 4);
    return vector::ShuffleOp::create(builder, loc, left, right, mask);
  };
  SmallVector<Value> columns;
  for (int64_t place = 0; place < length; place += 4) {
    std::array<Value, 4> rows;
    for (int64_t i = 0; i < 4; ++i) {
      rows[i] = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
      for (int64_t four = 0; four < length; four += 4)
        rows[i] = vector::InsertStridedSliceOp::create(builder, loc, read(four + i, place, 4),
                                                       rows[i], four, /*strides=*/1);
    }
    for (std::array<int64_t, 4> places : {std::array<int64_t, 4>{0, 4, 1, 5}, {2, 6, 3, 7}}) {
      Value upper = shuffle(rows[0], rows[1], places), lower = shuffle(rows[2], rows[3], places);
      columns.push_back(shuffle(upper, lower, {0, 1, 4, 5}));
      columns.push_back(shuffle(upper, lower, {2, 3, 6, 7}));
    }
  }
  return columns;
}

/// Columns of a square of units of any width.
static SmallVector<Value> transposeRows(OpBuilder &builder, Location loc, VectorType type,
                                        ReadRow read) {
  int64_t length = type.getNumElements();
  auto square = VectorType::get({length, length}, type.getElementType());
  Value rows = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(square));
  for (int64_t i = 0; i < length; ++i)
    rows = vector::InsertOp::create(builder, loc, read(i, 0, length), rows, ArrayRef<int64_t>{i});
  Value turned = vector::TransposeOp::create(builder, loc, rows, ArrayRef<int64_t>{1, 0});
  SmallVector<Value> columns;
  for (int64_t i = 0; i < length; ++i)
    columns.push_back(vector::ExtractOp::create(builder, loc, turned, ArrayRef<int64_t>{i}));
  return columns;
}

/// An n x k source: squares of `length` are transposed in registers.
static Value packTransposed(Copier &copier, Index k, Index n, int64_t panel, int64_t group,
                            Value scratch) {
  OpBuilder &builder = copier.builder;
  Location loc = copier.loc;
  int64_t length = copier.length;
  // A group of k moves as one integer.
  Type unit = group > 1 ? Type(builder.getI32Type()) : copier.element;
  auto elements = VectorType::get({length * group}, copier.element);
  Index last = subIndex(builder, loc, n, builder.getIndexAttr(1));
  auto pack = [&](Index column, Index row, bool inBounds, Value into) {
    Index number = floorDivIndex(builder, loc, column, panel);
    Index place = subIndex(builder, loc, column, mulIndex(builder, loc, number, panel));
    auto read = [&](int64_t i, int64_t offset, int64_t count) -> Value {
      // Rows past the end repeat the last one: their columns of the result are never stored.
      Index at =
          minIndex(builder, loc, addIndex(builder, loc, column, builder.getIndexAttr(i)), last);
      Index from = addIndex(builder, loc, row, builder.getIndexAttr(offset * group));
      Value vector = copier.read({at, from}, count * group, inBounds);
      if (group == 1)
        return vector;
      return vector::BitCastOp::create(builder, loc, VectorType::get({count}, unit), vector);
    };
    bool fours = unit.getIntOrFloatBitWidth() == 32 && length % 4 == 0 && inBounds;
    auto transpose = fours ? transposeFours : transposeRows;
    SmallVector<Value> columns = transpose(builder, loc, VectorType::get({length}, unit), read);
    for (auto [i, vector] : llvm::enumerate(columns)) {
      if (group > 1)
        vector = vector::BitCastOp::create(builder, loc, elements, vector);
      Index at = addIndex(builder, loc, floorDivIndex(builder, loc, row, group),
                          builder.getIndexAttr(int64_t(i)));
      into = copier.write(vector, into, {number, at, mulIndex(builder, loc, place, group)});
    }
    return into;
  };
  Index zero = builder.getIndexAttr(0), whole = copier.wholeSteps(k, length * group);
  return copier.loop(zero, n, length, scratch, [&](Index column, Value destination) {
    destination = copier.loop(zero, whole, length * group, destination,
                              [&](Index row, Value into) { return pack(column, row, true, into); });
    return copier.loop(whole, k, length * group, destination,
                       [&](Index row, Value into) { return pack(column, row, false, into); });
  });
}

Value xetile::createPanelScratch(OpBuilder &builder, Location loc, Type element, int64_t k,
                                 int64_t n, int64_t panel, int64_t group, int64_t vectorLength) {
  int64_t panels = llvm::divideCeil(n, panel);
  int64_t rows = llvm::alignTo(llvm::divideCeil(k, group), vectorLength);
  return tensor::EmptyOp::create(builder, loc, {panels, rows, panel * group}, element);
}

Value xetile::packPanels(OpBuilder &builder, Location loc, const PackSource &source, Index k,
                         Index n, bool transposed, const PanelGroups &groups, Value scratch,
                         int64_t vectorLength) {
  int64_t group = groups.size;
  Copier copier(builder, loc, source, vectorLength);
  int64_t panel = cast<RankedTensorType>(scratch.getType()).getDimSize(2) / group;
  if (transposed)
    return packTransposed(copier, k, n, panel, group, scratch);
  Index zero = builder.getIndexAttr(0);
  if (group > 1) {
    Index whole = copier.wholeSteps(k, group);
    scratch = copier.loop(zero, whole, group, scratch, [&](Index row, Value into) {
      return packPanelGroup(copier, row, group, std::nullopt, n, panel, into);
    });
    scratch = copier.loop(whole, k, group, scratch, [&](Index row, Value into) {
      return packPanelGroup(copier, row, group, k, n, panel, into);
    });
    return fillPanels(copier, ceilDivIndex(builder, loc, k, group), groups.multiple, n, panel,
                      group, scratch);
  }
  Index whole = copier.wholeSteps(k, kRowsAtOnce);
  scratch = copier.loop(zero, whole, kRowsAtOnce, scratch, [&](Index row, Value into) {
    return packPanelRows(copier, row, kRowsAtOnce, n, panel, into);
  });
  return copier.loop(whole, k, 1, scratch, [&](Index row, Value into) {
    return packPanelRows(copier, row, 1, n, panel, into);
  });
}
