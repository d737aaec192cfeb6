//===- PassBitsAsBytes.cpp - functions on bytes in place of i1 ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: public functions that take or return tensors of i1, loops and branches that carry some. Out:
// the same on tensors of i8. Refused: functions that the module calls.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/BitsAsBytes.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_PASSBITSASBYTES
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// An elementwise op that makes a tensor of `element` of `value`, by `make`.
static Value convert(OpBuilder &b, Value value, Type element,
                     llvm::function_ref<Value(OpBuilder &, Location, Value)> make) {
  Location loc = value.getLoc();
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, value), element).getResult();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, empty.getType(), value, empty, maps, loops,
                                   [&](OpBuilder &inner, Location at, ValueRange args) {
                                     linalg::YieldOp::create(inner, at, make(inner, at, args[0]));
                                   })
      .getResult(0);
}

bool xetile::isTensorOfBits(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isInteger(1);
}

Value xetile::bitsToBytes(OpBuilder &b, Value bits) {
  return convert(b, bits, b.getI8Type(), [](OpBuilder &inner, Location at, Value bit) -> Value {
    return arith::ExtUIOp::create(inner, at, inner.getI8Type(), bit);
  });
}

Value xetile::bytesToBits(OpBuilder &b, Value bytes) {
  return convert(b, bytes, b.getI1Type(), [](OpBuilder &inner, Location at, Value byte) -> Value {
    Value zero = arith::ConstantIntOp::create(inner, at, 0, 8);
    return arith::CmpIOp::create(inner, at, arith::CmpIPredicate::ne, byte, zero);
  });
}

namespace {
struct PassBitsAsBytes : xetile::impl::PassBitsAsBytesBase<PassBitsAsBytes> {
  void runOnOperation() override {
    getOperation()->walk(widenConstant);
    getOperation()->walk([](Operation *op) {
      if (isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(op))
        widenControl(op);
    });
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.isPublic() ||
          (llvm::none_of(function.getArgumentTypes(), xetile::isTensorOfBits) &&
           llvm::none_of(function.getResultTypes(), xetile::isTensorOfBits)))
        continue;
      if (!SymbolTable::symbolKnownUseEmpty(function, getOperation())) {
        function.emitOpError() << "takes or returns tensors of i1 and is called in its module: "
                                  "expected calls of private functions only";
        return signalPassFailure();
      }
      widen(function);
    }
  }

private:
  /// Constants of different elements are in memory, too.
  static void widenConstant(arith::ConstantOp op) {
    auto elements = dyn_cast<DenseIntElementsAttr>(op.getValue());
    if (!elements || !xetile::isTensorOfBits(op.getType()) || elements.isSplat())
      return;
    OpBuilder b(op);
    auto bytes = elements.mapValues(b.getI8Type(), [](const APInt &bit) { return bit.zext(8); });
    Value constant = arith::ConstantOp::create(b, op.getLoc(), cast<TypedAttr>(Attribute(bytes)));
    op.getResult().replaceAllUsesWith(xetile::bytesToBits(b, constant));
    op.erase();
  }

  static SmallVector<Type> widen(TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) {
      return xetile::isTensorOfBits(type)
                 ? Type(cast<RankedTensorType>(type).clone(IntegerType::get(type.getContext(), 8)))
                 : type;
    });
  }

  /// Loops and branches hand tensors on in memory.
  static void widenControl(Operation *op) {
    OpBuilder b(op);
    widenOperands(b, op);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        b.setInsertionPointToStart(&block);
        for (BlockArgument argument : block.getArguments())
          widen(b, argument);
        b.setInsertionPoint(block.getTerminator());
        widenOperands(b, block.getTerminator());
      }
    b.setInsertionPointAfter(op);
    for (Value result : op->getResults())
      widen(b, result);
  }

  static void widenOperands(OpBuilder &b, Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (xetile::isTensorOfBits(operand.get().getType()))
        operand.set(xetile::bitsToBytes(b, operand.get()));
  }

  static void widen(OpBuilder &b, Value value) {
    if (!xetile::isTensorOfBits(value.getType()))
      return;
    SmallVector<OpOperand *> uses =
        llvm::map_to_vector(value.getUses(), [](OpOperand &use) { return &use; });
    value.setType(widen(TypeRange(value.getType())).front());
    Value bits = xetile::bytesToBits(b, value);
    for (OpOperand *use : uses)
      use->set(bits);
  }

  static void widen(func::FuncOp function) {
    function.setType(FunctionType::get(function.getContext(), widen(function.getArgumentTypes()),
                                       widen(function.getResultTypes())));
    OpBuilder b = OpBuilder::atBlockBegin(&function.front());
    for (BlockArgument argument : function.getArguments())
      widen(b, argument);
    function.walk([&](func::ReturnOp op) {
      b.setInsertionPoint(op);
      widenOperands(b, op);
    });
  }
};
} // namespace
