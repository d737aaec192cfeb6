//===- OnlineValues.cpp - vectors of an attention that a thread has a part of ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the loops of an attention and its stores. Out: that each vector is computed of those parts
// of others that the same thread has, or that four threads of a row share.
// Refused: vectors of other shapes, operations between other elements.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/RingPlan.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

namespace {

bool isLoop(const RingPlan &plan, Operation *op) {
  return llvm::any_of(plan.online, [&](const OnlineLoop &online) { return online.loop == op; });
}

/// Maxima and sums along rows.
bool isOfRows(const RingPlan &plan, TileReduceOp reduce) {
  auto from = cast<VectorType>(reduce.getVector().getType());
  bool isMaximum = reduce.getKind() == vector::CombiningKind::MAXNUMF ||
                   reduce.getKind() == vector::CombiningKind::MAXIMUMF;
  bool isSum = reduce.getKind() == vector::CombiningKind::ADD;
  return reduce.getReductionDims() == ArrayRef<int64_t>{1} && (isMaximum || isSum) &&
         !(isSum && from.getDimSize(1) == plan.sameColumns());
}

/// Elements of a matrix, as those of a mask that is added.
bool isRead(LoadTileOp load) {
  auto init = load.getTile().getDefiningOp<InitTileOp>();
  return init && isa<MemRefType>(init.getSource().getType()) && load.hasZeroPadding() &&
         cast<VectorType>(load.getValue().getType()).getRank() == 2;
}

/// That pairs of a value follow from those of its operands, which go to `values`. Emits an error
/// otherwise.
LogicalResult checkValue(const RingPlan &plan, Value value, llvm::SetVector<Value> &values) {
  auto type = cast<VectorType>(value.getType());
  Operation *op = value.getDefiningOp();
  int64_t columns = type.getRank() == 2 ? type.getDimSize(1) : 0;
  int64_t keys = plan.tiling.kStep, n = plan.tiling.workgroupN;
  bool isSame = columns == 1 || columns == plan.sameColumns();
  auto refuse = [&]() {
    return (op ? op->emitOpError() : emitError(value.getLoc()))
           << "gives " << type << " to an attention; ";
  };
  if (!columns || (type.getDimSize(0) != plan.rows() && type.getDimSize(0) != 1) ||
      (!isSame && columns != keys && columns != n))
    return refuse() << "expected vectors of its queries, with keys, elements or one column";
  if (!op || isLoop(plan, op) || isa<TileMmaOp>(op) || isSplat(value))
    return success();
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    if (!isa<VectorType>(broadcast.getSource().getType()))
      return success();
  if (auto steps = dyn_cast<vector::ShapeCastOp>(op))
    if (steps.getSource().getDefiningOp<vector::StepOp>())
      return success();
  if (auto load = dyn_cast<LoadTileOp>(op)) {
    if (isRead(load))
      return success();
    return refuse() << "expected loads of matrices, with zeros beyond their edges";
  }
  if (auto reduce = dyn_cast<TileReduceOp>(op)) {
    if (!isOfRows(plan, reduce))
      return refuse() << "expected maxima and sums along rows";
    values.insert(reduce.getVector());
    return success();
  }
  bool isElementwise = OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
                       op->getNumRegions() == 0;
  if (!isElementwise && !isa<TileBroadcastOp>(op))
    return refuse() << "expected elementwise operations, broadcasts, places of elements, maxima "
                    << "and sums along rows; keys that do not fill whole steps have no lowering "
                    << "for " << kChip;
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()))
      values.insert(operand);
  return success();
}

} // namespace

LogicalResult hopper::checkOnlineValues(const RingPlan &plan) {
  llvm::SetVector<Value> values;
  for (StoreTileOp store : plan.stores)
    values.insert(store.getValue());
  for (const OnlineLoop &online : plan.online) {
    values.insert_range(online.loop.getInitArgs());
    values.insert_range(online.loop.getYieldedValues());
    values.insert(online.values.getA());
    values.insert(online.values.getC());
    if (online.rowSums)
      values.insert(online.rowSums.getC());
  }
  for (unsigned at = 0; at < values.size(); ++at) {
    Value value = values[at];
    if (!isa<VectorType>(value.getType()))
      return plan.loop.emitOpError("carries ") << value.getType() << "; expected vectors";
    if (failed(checkValue(plan, value, values)))
      return failure();
  }
  for (Value first : plan.online.front().loop.getInitArgs())
    if (!isSplat(first) || !cast<VectorType>(first.getType()).getElementType().isF32())
      return plan.loop.emitOpError(
          "begins with other values than constants of f32; expected these");
  return success();
}
