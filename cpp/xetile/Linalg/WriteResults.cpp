//===- WriteResults.cpp - results that a function only passes on ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors that return constants, or nothing but arguments. Out: the same, what
// they return is filled or copied by an op. Refused: nothing; other results stay.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/WriteResults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_WRITERESULTS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// The source of a chain of reshapes.
static Value beforeReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// True if an op, of loops and branches as well, makes elements of a tensor.
static bool computes(func::FuncOp function) {
  return function
      ->walk([](Operation *op) {
        bool some =
            llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>) &&
            !isa<arith::ConstantOp, tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                 scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(op);
        return some ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<OpOperand *> xetile::passedOnResults(func::FuncOp function) {
  SmallVector<OpOperand *> results;
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return results;
  bool copies = !computes(function);
  for (OpOperand &operand : function.getBody().front().getTerminator()->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || !type.getElementType().isIntOrFloat())
      continue;
    Value source = beforeReshapes(operand.get());
    bool isConstant = matchPattern(source, m_Constant());
    if (isConstant || (copies && !source.getDefiningOp<tensor::EmptyOp>()))
      results.push_back(&operand);
  }
  return results;
}

/// An op that writes what `value` is.
static Value written(OpBuilder &b, Value value) {
  Location loc = value.getLoc();
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, value),
                                        getElementTypeOrSelf(value.getType()));
  DenseElementsAttr constant;
  if (matchPattern(beforeReshapes(value), m_Constant(&constant)) && constant.isSplat()) {
    Value number = arith::ConstantOp::create(b, loc, constant.getSplatValue<TypedAttr>());
    return linalg::FillOp::create(b, loc, number, empty).getResult(0);
  }
  return linalg::CopyOp::create(b, loc, value, empty).getResult(0);
}

namespace {
struct WriteResults : xetile::impl::WriteResultsBase<WriteResults> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (OpOperand *result : xetile::passedOnResults(function)) {
        OpBuilder b(result->getOwner());
        result->set(written(b, result->get()));
      }
  }
};
} // namespace
