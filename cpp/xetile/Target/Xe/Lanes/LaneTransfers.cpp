//===- LaneTransfers.cpp - vectors in memory, lane by lane -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vector.transfer_read, transfer_write, load and store on memrefs. Out: loads and stores of the
// elements that a lane holds. Refused: tensors, masks of another rank than the access.
#include "xetile/Target/Xe/Lanes/LaneAccess.h"
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

namespace {

/// For each dimension of the memory that of the vector, or -1.
struct Transfer {
  LaneMatrix matrix;
  SmallVector<int> dims;
  Values masks; // pieces, or none
};

} // namespace

/// The vector dimension that runs along each dimension of memory, or -1.
static SmallVector<int> dimensionsOf(AffineMap map) {
  SmallVector<int> result(map.getNumDims(), -1);
  for (auto [number, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      result[dim.getPosition()] = int(number);
  return result;
}

template <typename Op>
static FailureOr<Transfer> transferOf(LaneContext &lanes, Op op, Value vector) {
  if (!isa<MemRefType>(op.getBase().getType()))
    return op.emitOpError("accesses a tensor, expected memory");
  FailureOr<LaneMatrix> matrix = matrixOf(lanes, op, op.getBase());
  if (failed(matrix))
    return failure();
  Transfer transfer{*matrix, dimensionsOf(op.getPermutationMap()), {}};
  Values &sizes = transfer.matrix.sizes;
  transfer.matrix.offsets = Values(op.getIndices());
  SmallVector<bool> inBounds = op.getInBoundsValues();
  for (auto [size, dim] : llvm::zip_equal(sizes, transfer.dims))
    if (dim < 0 || inBounds[dim])
      size = {};
  if (llvm::none_of(sizes, [](Value size) { return bool(size); }))
    sizes.clear();
  Value mask = op.getMask();
  if (!mask)
    return transfer;
  // The mask has the shape of what is accessed, without what is broadcast, in memory's order.
  ArrayRef<int64_t> maskShape = cast<VectorType>(mask.getType()).getShape();
  SmallVector<int> order;
  for (int dim : transfer.dims)
    if (dim >= 0)
      order.push_back(dim);
  if (order.size() != maskShape.size())
    return op.emitOpError("has a mask of ")
           << maskShape.size() << " dimensions, expected " << order.size();
  const LaneTable &table = lanes.held.tableOf(vector);
  ArrayRef<int64_t> shape = cast<VectorType>(vector.getType()).getShape();
  transfer.masks = gather(lanes, VectorType::get({int64_t(table.registers)}, lanes.b.getI1Type()),
                          table, {lanes.held.sourceOf(mask)}, [&](int64_t element) {
                            LaneMap::Shape at = unravel(element, shape), place;
                            for (int dim : order)
                              place.push_back(at[dim]);
                            return std::pair(0u, ravel(place, maskShape));
                          });
  return transfer;
}

/// Loads or stores `vector`; elements that are not read are `padding`.
static void access(LaneContext &lanes, const Transfer &transfer, Value vector, bool isLoad,
                   Value padding) {
  auto type = cast<VectorType>(vector.getType());
  const LaneTable &table = lanes.held.tableOf(vector);
  auto coordinate = [&](int64_t element, unsigned dim) -> int64_t {
    int at = transfer.dims[dim];
    return at < 0 ? 0 : unravel(element, type.getShape())[at];
  };
  auto maskAt = [&](unsigned flat) -> Value {
    return lanes.b.element(transfer.masks[flat / table.registers], flat % table.registers);
  };
  auto paddingAt = [&](unsigned) -> Value { return padding; };
  RegisterValue maskOf, otherwise;
  if (!transfer.masks.empty())
    maskOf = maskAt;
  if (padding)
    otherwise = paddingAt;
  if (isLoad)
    lanes.held.define(vector, loadLanes(lanes, lanes.held.pieceType(vector), table, transfer.matrix,
                                        coordinate, maskOf, otherwise));
  else
    storeLanes(lanes, lanes.held.piecesOf(vector), LaneFragments::storedType(type.getElementType()),
               table, transfer.matrix, coordinate, maskOf);
}

static LogicalResult lower(vector::TransferReadOp op, LaneContext &lanes) {
  FailureOr<Transfer> transfer = transferOf(lanes, op, op.getResult());
  if (failed(transfer))
    return failure();
  access(lanes, *transfer, op.getResult(), /*isLoad=*/true, op.getPadding());
  return success();
}

static LogicalResult lower(vector::TransferWriteOp op, LaneContext &lanes) {
  FailureOr<Transfer> transfer = transferOf(lanes, op, op.getVector());
  if (failed(transfer))
    return failure();
  access(lanes, *transfer, op.getVector(), /*isLoad=*/false, Value());
  return success();
}

/// vector.load and store: the vector's dimensions are the memory's last.
template <typename Op>
static LogicalResult lowerAccess(LaneContext &lanes, Op op, Value value, bool isLoad) {
  FailureOr<LaneMatrix> matrix = matrixOf(lanes, op, op.getBase());
  if (failed(matrix))
    return failure();
  matrix->offsets = Values(op.getIndices());
  matrix->sizes.clear();
  int64_t rank = matrix->strides.size(), skip = rank - int64_t(shapeOf(value).size());
  Transfer transfer{*matrix, {}, {}};
  for (int64_t dim = 0; dim < rank; ++dim)
    transfer.dims.push_back(int(std::max<int64_t>(dim - skip, -1)));
  access(lanes, transfer, value, isLoad, Value());
  return success();
}

static LogicalResult lower(vector::LoadOp op, LaneContext &lanes) {
  return lowerAccess(lanes, op, op.getResult(), /*isLoad=*/true);
}

static LogicalResult lower(vector::StoreOp op, LaneContext &lanes) {
  return lowerAccess(lanes, op, op.getValueToStore(), /*isLoad=*/false);
}

void xetile::addTransferLowerings(LaneLowerings &table) {
  table.add<vector::TransferReadOp>(lower);
  table.add<vector::TransferWriteOp>(lower);
  table.add<vector::LoadOp>(lower);
  table.add<vector::StoreOp>(lower);
}
