//===- LaneMatrices.cpp - matrices in shared local memory --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: create_mem_desc, load_matrix and store_matrix. Out: loads and stores of each lane. Refused:
// what lanes hold instead of what a subgroup does, elements that are no whole bytes, offsets that
// do not fit the matrix.
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "xetile/IR/XeTileTypes.h"
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

static LogicalResult lower(xegpu::CreateMemDescOp op, LaneContext &lanes) {
  FailureOr<LaneMatrix> matrix = matrixOf(lanes, op, op.getSource());
  if (failed(matrix))
    return failure();
  lanes.held.define(op.getMemDesc(), {matrix->address});
  return success();
}

/// The matrix at the offsets of an access that moves `value`.
template <typename Op>
static FailureOr<LaneMatrix> accessOf(LaneContext &lanes, Op op, Value value) {
  xegpu::MemDescType type = op.getMemDesc().getType();
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return op.emitOpError("moves what a lane holds; expected a vector of the subgroup, or "
                          "xegpu-op-level=lane");
  if (unsigned bits = memoryBits(LaneFragments::storedType(vector.getElementType())); bits % 8)
    return op.emitOpError("moves elements of ") << bits << " bits, expected whole bytes";
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  size_t rank = type.getRank();
  if (size_t(vector.getRank()) != rank || offsets.size() != rank)
    return op.emitOpError("has a vector of ")
           << vector.getRank() << " dimensions and " << offsets.size() << " offsets, expected "
           << rank << " of each, as the mem_desc has";
  SmallVector<int64_t> strides = type.getStrideShape();
  if (strides.size() != rank && (strides.size() != 2 * rank || type.getBlockShape().size() != rank))
    return op.emitOpError("has a mem_desc of type ") << type << ", whose blocks have no strides";
  LaneMatrix matrix;
  matrix.address = lanes.held.piecesOf(op.getMemDesc())[0];
  matrix.space = sharedSpace;
  for (OpFoldResult offset : offsets)
    matrix.offsets.push_back(getValueOrCreateConstantIndexOp(lanes.b, lanes.b.getLoc(), offset));
  if (strides.size() == rank)
    for (int64_t stride : strides)
      matrix.strides.push_back(lanes.b.index(stride));
  return matrix;
}

/// Of a matrix in blocks one after the other: the pointer to what lanes hold in a register.
static Value pointerInBlocks(LaneContext &lanes, xegpu::MemDescType type, const LaneMatrix &matrix,
                             ArrayRef<int64_t> row, VectorType vector) {
  LaneBuilder &b = lanes.b;
  // Those of blocks, then those within one.
  SmallVector<int64_t> strides = type.getStrideShape(), block = type.getBlockShape();
  Value linear = b.index(0);
  for (unsigned dim = 0, rank = block.size(); dim < rank; ++dim) {
    SmallVector<int64_t> places;
    for (int64_t number : row)
      places.push_back(unravel(number, vector.getShape())[dim]);
    Value at = b.add(matrix.offsets[dim], lanes.numbers.index(places)), side = b.index(block[dim]);
    Value outer = b.createOrFold<arith::DivUIOp>(at, side),
          inner = b.createOrFold<arith::RemUIOp>(at, side);
    linear = b.add(linear, b.add(b.mul(outer, b.index(strides[dim])),
                                 b.mul(inner, b.index(strides[rank + dim]))));
  }
  unsigned bytes = memoryBits(LaneFragments::storedType(vector.getElementType())) / 8;
  return pointerTo(b, advance(b, matrix.address, linear, bytes), matrix.space);
}

static LogicalResult lower(xegpu::LoadMatrixOp op, LaneContext &lanes) {
  FailureOr<LaneMatrix> matrix = accessOf(lanes, op, op.getRes());
  if (failed(matrix))
    return failure();
  const LaneTable &table = lanes.held.tableOf(op.getRes());
  VectorType piece = lanes.held.pieceType(op.getRes());
  auto vector = cast<VectorType>(op.getRes().getType());
  ArrayRef<int64_t> shape = vector.getShape();
  if (!matrix->strides.empty()) {
    lanes.held.define(op.getRes(),
                      loadLanes(lanes, piece, table, *matrix, [&](int64_t number, unsigned dim) {
                        return unravel(number, shape)[dim];
                      }));
    return success();
  }
  Type element = piece.getElementType();
  Values pieces;
  for (unsigned p = 0; p < table.pieces; ++p) {
    Values elements;
    for (unsigned r = 0; r < table.registers; ++r) {
      Value pointer = pointerInBlocks(lanes, op.getMemDesc().getType(), *matrix,
                                      table.row(p * table.registers + r), vector);
      elements.push_back(loadElement(lanes.b, element, pointer, memoryBits(element) / 8));
    }
    pieces.push_back(lanes.b.build(piece, elements));
  }
  lanes.held.define(op.getRes(), pieces);
  return success();
}

static LogicalResult lower(xegpu::StoreMatrixOp op, LaneContext &lanes) {
  FailureOr<LaneMatrix> matrix = accessOf(lanes, op, op.getData());
  if (failed(matrix))
    return failure();
  const LaneTable &table = lanes.held.tableOf(op.getData());
  ArrayRef<Value> pieces = lanes.held.piecesOf(op.getData());
  auto vector = cast<VectorType>(op.getData().getType());
  ArrayRef<int64_t> shape = vector.getShape();
  Type element = LaneFragments::storedType(vector.getElementType());
  if (!matrix->strides.empty()) {
    storeLanes(lanes, pieces, element, table, *matrix,
               [&](int64_t number, unsigned dim) { return unravel(number, shape)[dim]; });
    return success();
  }
  for (unsigned flat = 0; flat < table.flatRegisters(); ++flat) {
    Value pointer =
        pointerInBlocks(lanes, op.getMemDesc().getType(), *matrix, table.row(flat), vector);
    storeElement(lanes.b, lanes.b.element(pieces[flat / table.registers], flat % table.registers),
                 pointer, memoryBits(element) / 8);
  }
  return success();
}

void xetile::addMatrixLowerings(LaneLowerings &table) {
  table.add<xegpu::CreateMemDescOp>(lower);
  table.add<xegpu::LoadMatrixOp>(lower);
  table.add<xegpu::StoreMatrixOp>(lower);
}
