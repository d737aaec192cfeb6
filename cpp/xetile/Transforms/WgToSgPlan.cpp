//===- WgToSgPlan.cpp - how each operation is distributed ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/WgToSgPlan.h"

using namespace mlir;

namespace xetile {

/// With other dimensions in place of those of `dims`.
static Ownership withDims(Ownership ownership, ArrayRef<int64_t> dims,
                          function_ref<OwnedDim(OwnedDim)> change) {
  for (int64_t dim : dims)
    ownership.dims[dim] = change(ownership.dims[dim]);
  return ownership;
}

LogicalResult WgToSgPlan::decideReduction(TileReduceOp op, int64_t slmBytes) {
  VectorType type = op.getVector().getType(), resultType = op.getResult().getType();
  Ownership from = getOwnership(maps.lookup(op.getVector()), type),
            to = getOwnership(maps.lookup(op.getResult()), resultType);
  ArrayRef<int64_t> dims = op.getReductionDims();
  if (llvm::all_of(dims, [&](int64_t dim) { return from.dims[dim].owners == 1; })) {
    Ownership partial = withDims(from, dims, [](OwnedDim) { return OwnedDim::whole(1); });
    FailureOr<Move> move = planMove(op, resultType, partial, to, {0, 1}, slmBytes);
    if (failed(move))
      return failure();
    moves.insert({op, *move});
    return success();
  }
  Ownership partial = withDims(
      from, dims, [](OwnedDim dim) { return OwnedDim{dim.owners, 1, dim.owners, dim.idStride}; });
  for (int64_t dim : dims)
    to.dims[dim] = OwnedDim::whole(partial.dims[dim].size);
  CrossReduction reduction{partial, to};
  Type wide = getReductionType(op.getKind(), type.getElementType(), dims, from);
  if (failed(checkCrossReduction(op, reduction, wide, slmBytes)))
    return failure();
  reductions.insert({op, reduction});
  return success();
}

/// Elements that several subgroups own would be updated by each of them.
static LogicalResult checkOwners(AtomicRMWScatterOp op, WgMapAttr map) {
  TileType tile = op.getTile().getType();
  if (!hasSharedPieces(map, tile.getShape()))
    return success();
  return op->emitOpError("has a tile of ")
         << tile.getDimSize(0) << " x " << tile.getDimSize(1)
         << " elements that several subgroups own; expected a wg_map under which each piece has "
            "one owner";
}

LogicalResult WgToSgPlan::decide(Operation *op, int64_t slmBytes) {
  auto plan = [&](Value vector, Value result, ArrayRef<int64_t> permutation) -> LogicalResult {
    auto type = cast<VectorType>(vector.getType());
    FailureOr<Move> move =
        planMove(op, type, getOwnership(maps.lookup(vector), type),
                 getOwnership(maps.lookup(result), cast<VectorType>(result.getType())), permutation,
                 slmBytes);
    if (succeeded(move))
      moves.insert({op, *move});
    return move;
  };
  if (auto convert = dyn_cast<TileConvLayoutOp>(op))
    return plan(convert.getVector(), convert.getResult(), {0, 1});
  if (auto transpose = dyn_cast<TileTransposeOp>(op))
    return plan(transpose.getVector(), transpose.getResult(), transpose.getPermutation());
  if (auto reduce = dyn_cast<TileReduceOp>(op))
    return decideReduction(reduce, slmBytes);
  if (auto scatter = dyn_cast<AtomicRMWScatterOp>(op))
    return checkOwners(scatter, maps.lookup(scatter.getTile()));
  auto atomic = dyn_cast<AtomicRMWTileOp>(op);
  if (!atomic)
    return success();
  TileType tile = atomic.getTile().getType();
  if (!hasSharedPieces(maps.lookup(atomic.getTile()), tile.getShape()))
    return success();
  guarded.insert(op);
  if (op->use_empty())
    return success();
  if (!tile.getInnerBlocks().empty())
    return op->emitOpError("has a result that several subgroups own, in blocks; expected a tile "
                           "without inner_blocks, or a wg_map under which each piece has one "
                           "owner");
  if (!getStorageType(tile.getElementType()))
    return op->emitOpError("has a result of elements ")
           << tile.getElementType() << " that several subgroups own; expected a wg_map under which "
           << "each piece has one owner";
  int64_t bytes = getBufferBytes(tile.getShape(), tile.getElementType());
  return bytes > slmBytes ? LogicalResult(emitSlmOverflow(op, bytes, slmBytes)) : success();
}

bool WgToSgPlan::isExchange(Operation *op) const {
  if (auto move = moves.find(op); move != moves.end())
    return !move->second.local;
  return reductions.contains(op) || (guarded.contains(op) && !op->use_empty());
}

LogicalResult WgToSgPlan::make(Operation *root, int64_t slmBytes) {
  llvm::DenseMap<Operation *, int64_t> available;
  llvm::DenseMap<Operation *, Uniformity> uniformities;
  auto visit = [&](Operation *op) -> WalkResult {
    if (!isa<TileConvLayoutOp, TileTransposeOp, TileReduceOp, AtomicRMWTileOp, AtomicRMWScatterOp>(
            op) ||
        llvm::none_of(op->getOperands(), [&](Value value) { return maps.lookup(value); }))
      return success();
    Operation *scope = SubgroupPlace::getScope(op);
    if (!scope)
      return op->emitOpError("is outside of a function; expected the code of a kernel");
    auto [bytes, isNew] = available.insert({scope, 0});
    if (isNew)
      bytes->second = slmBytes - getOtherSharedBytes(scope);
    if (failed(decide(op, bytes->second)))
      return failure();
    if (!isExchange(op))
      return success();
    auto uniformity = uniformities.find(scope);
    if (uniformity == uniformities.end())
      uniformity = uniformities.try_emplace(scope, findUniformityOfSubgroups(scope)).first;
    return checkAllMeet(op, uniformity->second, "maps");
  };
  return failure(root->walk(visit).wasInterrupted());
}

} // namespace xetile
