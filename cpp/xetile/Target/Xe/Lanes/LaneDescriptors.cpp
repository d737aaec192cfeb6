//===- LaneDescriptors.cpp - descriptors of blocks ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: create_nd_tdesc, update_nd_offset. Out: address, sizes, strides and offsets, as values.
// Refused: offsets that do not fit the memory's dimensions, strides that are no rows.
#include "xetile/Target/Xe/Lanes/LaneDescriptors.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

std::optional<int64_t> xetile::constantOf(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

Surface xetile::surfaceOf(const LaneFragments &held, Value descriptor) {
  ArrayRef<Value> all = held.piecesOf(descriptor);
  unsigned rank = held.rankOf(descriptor);
  return {all[0], all.slice(1, rank), all.slice(1 + rank, rank), all.slice(1 + 2 * rank, rank)};
}

static Values toValues(LaneBuilder &b, ArrayRef<OpFoldResult> mixed) {
  Values values;
  for (OpFoldResult value : mixed) {
    Value number = getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
    if (!number.getType().isIndex())
      number = arith::IndexCastUIOp::create(b, b.getIndexType(), number);
    values.push_back(number);
  }
  return values;
}

static LogicalResult lower(xegpu::CreateNdDescOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  FailureOr<LaneMatrix> matrix = matrixOf(lanes, op, op.getSource());
  if (failed(matrix))
    return failure();
  Values sizes = matrix->sizes, strides = matrix->strides;
  int64_t tileRank = op.getType().getRank();
  if (!op.getShape().empty() || op.getConstShapeAttr()) {
    sizes = toValues(b, op.getMixedSizes());
    strides = toValues(b, op.getMixedStrides());
  } else if (!isa<MemRefType>(op.getSource().getType())) {
    // An address alone: a row without an end.
    if (tileRank != 1)
      return op.emitOpError("describes a tile of ")
             << tileRank << " dimensions at an address, expected its matrix's shape and strides";
    sizes = {b.index(std::numeric_limits<int32_t>::max())};
    strides = {b.index(1)};
  }
  if (sizes.size() != strides.size() || int64_t(sizes.size()) < tileRank)
    return op.emitOpError("has a shape of ")
           << sizes.size() << " and strides of " << strides.size()
           << " dimensions, expected as many of each, and the tile's " << tileRank << " at least";
  if (std::optional<int64_t> last = constantOf(strides.back()); last && *last != 1)
    return op.emitOpError("has memory with a last stride of ")
           << *last << ", expected 1: rows of neighbours";
  Values offsets = toValues(b, op.getMixedOffsets());
  if (offsets.size() > sizes.size())
    return op.emitOpError("has ") << offsets.size() << " offsets, expected at most one for each of "
                                  << sizes.size() << " dimensions";
  // Fewer are those of the last dimensions.
  Values starts;
  for (size_t dim = offsets.size(); dim < sizes.size(); ++dim)
    starts.push_back(b.index(0));
  llvm::append_range(starts, offsets);
  Values all{matrix->address};
  for (const Values &part : {sizes, strides, starts})
    llvm::append_range(all, part);
  lanes.held.setRank(op.getResult(), sizes.size());
  lanes.held.define(op.getResult(), all);
  return success();
}

static LogicalResult lower(xegpu::UpdateNdOffsetOp op, LaneContext &lanes) {
  Values all(lanes.held.piecesOf(op.getTensorDesc()));
  unsigned rank = lanes.held.rankOf(op.getTensorDesc());
  SmallVector<OpFoldResult> deltas = op.getMixedOffsets();
  if (deltas.size() > rank)
    return op.emitOpError("has ") << deltas.size() << " offsets, expected at most " << rank;
  for (auto [place, delta] : llvm::zip_equal(MutableArrayRef(all).take_back(deltas.size()), deltas))
    place = lanes.b.add(place, getValueOrCreateConstantIndexOp(lanes.b, lanes.b.getLoc(), delta));
  lanes.held.setRank(op.getResult(), rank);
  lanes.held.define(op.getResult(), all);
  return success();
}

void xetile::addDescriptorLowerings(LaneLowerings &table) {
  table.add<xegpu::CreateNdDescOp>(lower);
  table.add<xegpu::UpdateNdOffsetOp>(lower);
}
