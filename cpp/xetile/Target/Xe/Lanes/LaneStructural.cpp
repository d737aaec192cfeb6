//===- LaneStructural.cpp - operations that move elements of vectors ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: transposes, broadcasts, casts, slices and their like. Out: elements gathered from where the
// operands' lanes hold them. Refused: nothing.
#include "xetile/IR/XeTileOps.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

/// The same elements in row-major order, as another shape or in other lanes.
template <typename Op> static LogicalResult lowerSame(Op op, LaneContext &lanes) {
  defineByElements(lanes, op->getResult(0), {op.getSource()}, sameElement);
  return success();
}

static LogicalResult lower(vector::TransposeOp op, LaneContext &lanes) {
  ArrayRef<int64_t> to = shapeOf(op.getResult()), from = shapeOf(op.getVector());
  defineByElements(lanes, op.getResult(), {op.getVector()}, [&](int64_t element) {
    LaneMap::Shape at = unravel(element, to), source(from.size());
    for (auto [dim, permuted] : llvm::enumerate(op.getPermutation()))
      source[permuted] = at[dim];
    return std::pair(0u, ravel(source, from));
  });
  return success();
}

static LogicalResult lower(vector::BroadcastOp op, LaneContext &lanes) {
  ArrayRef<int64_t> to = shapeOf(op.getVector()), from = shapeOf(op.getSource());
  defineByElements(lanes, op.getVector(), {op.getSource()}, [&](int64_t element) {
    LaneMap::Shape at = unravel(element, to), source;
    for (auto [place, size] : llvm::zip_equal(ArrayRef(at).take_back(from.size()), from))
      source.push_back(size == 1 ? 0 : place);
    return std::pair(0u, ravel(source, from));
  });
  return success();
}

static LogicalResult lower(vector::ExtractStridedSliceOp op, LaneContext &lanes) {
  ArrayRef<int64_t> to = shapeOf(op.getResult()), from = shapeOf(op.getSource());
  SmallVector<int64_t> offsets;
  op.getOffsets(offsets);
  offsets.resize(from.size(), 0);
  defineByElements(lanes, op.getResult(), {op.getSource()}, [&](int64_t element) {
    LaneMap::Shape at = unravel(element, to);
    for (auto [place, offset] : llvm::zip_equal(at, offsets))
      place += offset;
    return std::pair(0u, ravel(at, from));
  });
  return success();
}

static LogicalResult lower(vector::InsertStridedSliceOp op, LaneContext &lanes) {
  ArrayRef<int64_t> to = shapeOf(op.getResult()), from = shapeOf(op.getValueToStore());
  SmallVector<int64_t> offsets;
  for (Attribute offset : op.getOffsets())
    offsets.push_back(cast<IntegerAttr>(offset).getInt());
  SmallVector<int64_t> sizes(to.size() - from.size(), 1);
  llvm::append_range(sizes, from);
  defineByElements(lanes, op.getResult(), {op.getValueToStore(), op.getDest()},
                   [&](int64_t element) {
                     LaneMap::Shape at = unravel(element, to);
                     for (auto [place, offset, size] : llvm::zip_equal(at, offsets, sizes)) {
                       place -= offset;
                       if (place < 0 || place >= size)
                         return std::pair(1u, element);
                     }
                     return std::pair(0u, ravel(at, sizes));
                   });
  return success();
}

static LogicalResult lower(vector::InterleaveOp op, LaneContext &lanes) {
  defineByElements(lanes, op.getResult(), {op.getLhs(), op.getRhs()},
                   [](int64_t element) { return std::pair(unsigned(element % 2), element / 2); });
  return success();
}

static LogicalResult lower(vector::DeinterleaveOp op, LaneContext &lanes) {
  for (auto [number, result] : llvm::enumerate(op.getResults()))
    defineByElements(lanes, result, {op.getSource()}, [number = number](int64_t element) {
      return std::pair(0u, element * 2 + int64_t(number));
    });
  return success();
}

static LogicalResult lower(vector::ShuffleOp op, LaneContext &lanes) {
  ArrayRef<int64_t> to = shapeOf(op.getResult());
  int64_t rows = shapeOf(op.getV1()).empty() ? 1 : shapeOf(op.getV1())[0];
  int64_t row = llvm::product_of(to.drop_front());
  defineByElements(lanes, op.getResult(), {op.getV1(), op.getV2()}, [&](int64_t element) {
    int64_t from = std::max<int64_t>(op.getMask()[element / row], 0);
    unsigned source = from >= rows;
    return std::pair(source, (from - (source ? rows : 0)) * row + element % row);
  });
  return success();
}

static LogicalResult lower(vector::BitCastOp op, LaneContext &lanes) {
  int64_t from = memoryBits(op.getSourceVectorType().getElementType()),
          to = memoryBits(op.getResultVectorType().getElementType());
  bool narrows = to < from;
  int64_t ratio = narrows ? from / to : to / from;
  LaneMap result(lanes.held.layoutOf(op.getResult()));
  // The side with wide elements says which lane has what; neighbours must be together.
  std::optional<LaneMap> source =
      narrows ? result.joined(ratio) : std::optional(result.split(ratio));
  if (!source) {
    // The result in the source's lanes, moved behind.
    LaneMap given(lanes.held.layoutOf(op.getSource()));
    std::optional<LaneMap> follows =
        narrows ? std::optional(given.split(ratio)) : given.joined(ratio);
    source = follows ? given : LaneMap::natural(shapeOf(op.getSource()), lanes.count);
    result = narrows ? source->split(ratio) : LaneMap();
  }
  const LaneTable &sourceTable =
      lanes.held.tableFor(source->attr(op.getContext()), shapeOf(op.getSource()));
  Type fromType = LaneFragments::storedType(op.getSourceVectorType().getElementType()),
       toType = LaneFragments::storedType(op.getResultVectorType().getElementType());
  auto piece = VectorType::get({int64_t(source->numRegisters())}, fromType);
  Values pieces =
      gather(lanes, piece, sourceTable, {lanes.held.sourceOf(op.getSource())}, sameElement);
  auto cast = VectorType::get(
      {narrows ? source->numRegisters() * ratio : source->numRegisters() / ratio}, toType);
  for (Value &value : pieces)
    value = lanes.b.createOrFold<vector::BitCastOp>(cast, value);
  LaneLayoutAttr made = result.attr(op.getContext());
  if (made != lanes.held.layoutOf(op.getResult()))
    pieces = gather(lanes, lanes.held.pieceType(op.getResult()), lanes.held.tableOf(op.getResult()),
                    {{pieces, lanes.held.tableFor(made, shapeOf(op.getResult()))}}, sameElement);
  lanes.held.define(op.getResult(), pieces);
  return success();
}

void xetile::addStructuralLowerings(LaneLowerings &table) {
  table.addMove<ConvertLanesOp>(lowerSame);
  table.addMove<xegpu::ConvertLayoutOp>(lowerSame);
  table.addMove<vector::ShapeCastOp>(lowerSame);
  table.addMove<vector::TransposeOp>(lower);
  table.addMove<vector::BroadcastOp>(lower);
  table.addMove<vector::ExtractStridedSliceOp>(lower);
  table.addMove<vector::InsertStridedSliceOp>(lower);
  table.addMove<vector::InterleaveOp>(lower);
  table.addMove<vector::DeinterleaveOp>(lower);
  table.addMove<vector::ShuffleOp>(lower);
  table.addMove<vector::BitCastOp>(lower);
}
