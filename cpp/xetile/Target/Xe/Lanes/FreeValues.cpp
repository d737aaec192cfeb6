//===- FreeValues.cpp - vectors that any lanes can make ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vectors with layouts. Out: which of them need no other vector, and these in other layouts.
// Refused: nothing.
#include "xetile/Target/Xe/Lanes/FreeValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace xetile;

// A longer way is dearer than a move.
static constexpr unsigned kMaxDepth = 12;

/// One instruction for an element: what offsets and masks are computed by.
static bool isCheap(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp,
             arith::XOrIOp, arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp, arith::CmpIOp,
             arith::MinUIOp, arith::MinSIOp, arith::MaxUIOp, arith::MaxSIOp, arith::SelectOp,
             arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp, arith::ExtSIOp,
             arith::TruncIOp, vector::BroadcastOp, vector::ShapeCastOp>(op);
}

bool FreeValues::contains(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto found = depths.find(value); found != depths.end())
    return found->second <= kMaxDepth;
  unsigned depth = isFreeOfLanes(op) || isCheap(op) ? 1 : kMaxDepth + 1;
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()) && depth <= kMaxDepth)
      depth = contains(operand) ? std::max(depth, depths.lookup(operand) + 1) : kMaxDepth + 1;
  depths[value] = depth;
  return depth <= kMaxDepth;
}

Value FreeValues::make(Value value, LaneLayoutAttr wanted) {
  if (layouts.lookup(value) == wanted)
    return value;
  if (Value found = made.lookup({value, wanted}))
    return found;
  Operation *op = value.getDefiningOp();
  replaced.push_back(op);
  OpBuilder builder(op);
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op);
  LaneMap map(wanted);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<VectorType>(operand.get().getType());
    if (!type)
      continue;
    std::optional<LaneMap> part = map;
    if (!isElementwise(op))
      part = mapOfOperand(op, operand.getOperandNumber(), map);
    if (!part || !part->fits(type.getShape()))
      part = LaneMap::natural(type.getShape(), lanes);
    copy->setOperand(operand.getOperandNumber(), make(operand.get(), part->attr(op->getContext())));
  }
  Value result = copy->getResult(0);
  layouts[result] = wanted;
  made[{value, wanted}] = result;
  return result;
}

void FreeValues::eraseUnused() {
  llvm::SetVector<Operation *> pending(replaced.begin(), replaced.end());
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *definition = operand.getDefiningOp())
        if (contains(operand))
          pending.insert(definition);
    for (Value result : op->getResults())
      layouts.erase(result);
    op->erase();
  }
}
