//===- Reshapes.cpp - reshapes of what a kernel returns ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tensor that a function returns. Out: the tensor that its kernel computes, and the same
// reshapes of the memory that it wrote. Refused: nothing; without reductions tiles are of what is
// returned.
#include "xetile/Schedule/Tiles/Reshapes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Schedule/Tiles/TileWriter.h"

using namespace mlir;

namespace xetile::transform_ops {

static Operation *reshapeOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  return isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) ? op : nullptr;
}

llvm::SetVector<Value> computedBefore(func::FuncOp func) {
  llvm::SetVector<Value> returned, computed;
  for (Value value : func.getBody().front().getTerminator()->getOperands()) {
    if (!isa<RankedTensorType>(value.getType()) || isOwnMemory(value))
      continue;
    returned.insert(value);
    Value before = value;
    while (Operation *op = reshapeOf(before))
      before = op->getOperand(0);
    computed.insert(isInMemory(before) ? value : before);
  }
  auto shapeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  WalkResult reduction = func.walk([](linalg::LinalgOp op) {
    return op.getNumReductionLoops() != 0 ? WalkResult::interrupt() : WalkResult::advance();
  });
  bool haveOneShape = llvm::all_of(
      computed, [&](Value each) { return shapeOf(each) == shapeOf(computed.front()); });
  return reduction.wasInterrupted() && haveOneShape ? computed : returned;
}

Value reshapeAs(RewriterBase &rewriter, Value returned, Value result, Value by) {
  if (returned == result)
    return by;
  Operation *op = reshapeOf(returned);
  Value before = op ? reshapeAs(rewriter, op->getOperand(0), result, by) : Value();
  if (!before)
    return {};
  IRMapping mapping;
  mapping.map(op->getOperand(0), before);
  return rewriter.clone(*op, mapping)->getResult(0);
}

} // namespace xetile::transform_ops
