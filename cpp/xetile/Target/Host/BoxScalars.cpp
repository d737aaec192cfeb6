//===- BoxScalars.cpp - numbers as tensors of rank 0 at a function's boundary -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: public functions that take or return numbers (f32, i1, index, ...). Out: the same that take
// and return tensors of rank 0, so that a caller passes memory for all of them.
// Refused: such functions that the module calls itself.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_BOXSCALARS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

static bool isNumber(Type type) { return type.isIntOrIndexOrFloat(); }

static SmallVector<Type> box(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) {
    return isNumber(type) ? Type(RankedTensorType::get({}, type)) : type;
  });
}

namespace {
struct BoxScalars : xetile::impl::BoxScalarsBase<BoxScalars> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      // Functions of xetile-check-sizes return scalars on purpose.
      if (function.isExternal() || !function.isPublic() || function->hasAttr(kConditionsAttr) ||
          (llvm::none_of(function.getArgumentTypes(), isNumber) &&
           llvm::none_of(function.getResultTypes(), isNumber)))
        continue;
      if (!SymbolTable::symbolKnownUseEmpty(function, getOperation())) {
        function.emitOpError() << "takes or returns numbers and is called in its module: expected "
                                  "calls of private functions only";
        return signalPassFailure();
      }
      boxScalars(function);
    }
  }

private:
  static void boxScalars(func::FuncOp function) {
    function.setType(FunctionType::get(function.getContext(), box(function.getArgumentTypes()),
                                       box(function.getResultTypes())));
    OpBuilder b = OpBuilder::atBlockBegin(&function.front());
    for (BlockArgument argument : function.getArguments()) {
      if (!isNumber(argument.getType()))
        continue;
      argument.setType(RankedTensorType::get({}, argument.getType()));
      auto number = tensor::ExtractOp::create(b, argument.getLoc(), argument, ValueRange());
      argument.replaceAllUsesExcept(number, number);
    }
    function.walk([&](func::ReturnOp op) {
      b.setInsertionPoint(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isNumber(operand.get().getType()))
          operand.set(tensor::FromElementsOp::create(
              b, op.getLoc(), RankedTensorType::get({}, operand.get().getType()), operand.get()));
    });
  }
};
} // namespace
