//===- StoreBitsAsBytes.cpp - i1 in memory as bytes --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on memrefs. Out: no memref of i1 is left; bytes are 0 or 1 where they are written,
// anything but 0 is true where they are read, as in NumPy.
// Refused: vectors that are read from or written to memory of i1.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_STOREBITSASBYTES
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;

static bool holdsBits(Type type) {
  auto memory = dyn_cast<MemRefType>(type);
  return memory && memory.getElementType().isInteger(1);
}

static Type bytesOf(Type type) {
  if (!holdsBits(type))
    return type;
  return MemRefType::Builder(cast<MemRefType>(type))
      .setElementType(IntegerType::get(type.getContext(), 8));
}

static Value toBit(OpBuilder &b, Location loc, Value byte) {
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 8);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, byte, zero);
}

static Value toByte(OpBuilder &b, Location loc, Value bit) {
  return arith::ExtUIOp::create(b, loc, b.getI8Type(), bit);
}

namespace {
struct StoreBitsAsBytes : xetile::impl::StoreBitsAsBytesBase<StoreBitsAsBytes> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> users;
    getOperation()->walk([&](Operation *op) {
      if (llvm::any_of(op->getOperandTypes(), holdsBits) || isa<memref::GlobalOp>(op))
        users.push_back(op);
    });
    for (Operation *op : users)
      if (failed(convert(rewriter, op)))
        return signalPassFailure();
    getOperation()->walk([](Operation *op) {
      for (Value result : op->getResults())
        result.setType(bytesOf(result.getType()));
      for (Region &region : op->getRegions())
        for (mlir::Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(bytesOf(argument.getType()));
    });
    getOperation()->walk([](func::FuncOp function) {
      auto convertAll = [](TypeRange types) { return llvm::map_to_vector(types, bytesOf); };
      function.setType(FunctionType::get(function.getContext(),
                                         convertAll(function.getArgumentTypes()),
                                         convertAll(function.getResultTypes())));
    });
  }

private:
  static LogicalResult convert(IRRewriter &b, Operation *op) {
    Location loc = op->getLoc();
    b.setInsertionPoint(op);
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      b.setInsertionPointAfter(op);
      Value byte = load.getResult();
      byte.setType(b.getI8Type());
      Value bit = toBit(b, loc, byte);
      byte.replaceAllUsesExcept(bit, bit.getDefiningOp());
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      store->setOperand(0, toByte(b, loc, store.getValueToStore()));
    } else if (auto global = dyn_cast<memref::GlobalOp>(op)) {
      convertGlobal(global);
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      if (!isa<linalg::GenericOp>(op)) {
        FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(b, linalgOp);
        if (failed(generic))
          return op->emitOpError("on memory of i1 cannot be lowered: expected a linalg.generic");
        linalgOp = *generic;
      }
      convertBody(b, linalgOp);
    } else if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<VectorType>) ||
               llvm::any_of(op->getResultTypes(), llvm::IsaPred<VectorType>)) {
      return op->emitOpError("moves vectors of i1 from or to memory, which holds them as bytes: "
                             "expected linalg operations or elements of i8");
    }
    return success();
  }

  static void convertBody(IRRewriter &b, linalg::LinalgOp op) {
    mlir::Block &body = op->getRegion(0).front();
    Location loc = op.getLoc();
    for (OpOperand &operand : op->getOpOperands()) {
      if (!holdsBits(operand.get().getType()))
        continue;
      BlockArgument byte = body.getArgument(operand.getOperandNumber());
      byte.setType(b.getI8Type());
      if (!byte.use_empty()) {
        b.setInsertionPointToStart(&body);
        Value bit = toBit(b, loc, byte);
        byte.replaceAllUsesExcept(bit, bit.getDefiningOp());
      }
      if (!op.isDpsInit(&operand))
        continue;
      Operation *yield = body.getTerminator();
      unsigned result = operand.getOperandNumber() - op.getNumDpsInputs();
      b.setInsertionPoint(yield);
      yield->setOperand(result, toByte(b, loc, yield->getOperand(result)));
    }
  }

  static void convertGlobal(memref::GlobalOp global) {
    if (!holdsBits(global.getType()))
      return;
    auto type = cast<MemRefType>(bytesOf(global.getType()));
    global.setType(type);
    auto bits = dyn_cast_or_null<DenseIntElementsAttr>(global.getInitialValueAttr());
    if (!bits)
      return;
    auto shape = RankedTensorType::get(type.getShape(), type.getElementType());
    SmallVector<int8_t> bytes;
    if (bits.isSplat())
      bytes.push_back(bits.getSplatValue<bool>());
    else
      for (bool bit : bits.getValues<bool>())
        bytes.push_back(bit);
    global.setInitialValueAttr(DenseElementsAttr::get(shape, ArrayRef<int8_t>(bytes)));
  }
};
} // namespace
