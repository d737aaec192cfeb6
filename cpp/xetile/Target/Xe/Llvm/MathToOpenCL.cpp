//===- MathToOpenCL.cpp - functions that only OpenCL has ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: device code with math operations on scalars and vectors. Out: calls of OpenCL's functions
// where LLVM has none, or one that is wrong near zero; functions of f16 in f32. Refused: such
// functions of vectors that no lane can hold; others stay.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/Target/Xe/Passes.h"
#include "llvm/ADT/StringSwitch.h"

namespace xetile {
#define GEN_PASS_DEF_MATHTOOPENCL
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

/// True if the result may be off by some units in the last place, so that f16 has to be rounded
/// from f32.
bool isFunction(Operation *op) {
  if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) || op->getNumResults() != 1 ||
      isa<math::FPowIOp>(op))
    return false;
  return !isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
              math::RoundEvenOp, math::RoundOp, math::TruncOp>(op) &&
         llvm::all_of(llvm::concat<Type>(op->getOperandTypes(), op->getResultTypes()),
                      [](Type type) { return getElementTypeOrSelf(type).isF16(); });
}

void computeInF32(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    operand.set(arith::ExtFOp::create(b, withElement(value.getType(), b.getF32Type()), value));
  }
  b.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  Type type = result.getType();
  result.setType(withElement(type, b.getF32Type()));
  auto rounded = arith::TruncFOp::create(b, type, result);
  result.replaceAllUsesExcept(rounded, rounded);
}

/// As much f32 as a subgroup's whole register file holds, 256 registers of 64 bytes (pvc, large): a
/// lane's vector has fewer elements, and each becomes a call.
constexpr int64_t maxElements = 4096;

/// The function of OpenCL C that `op` is, mangled for f32 or f64; empty where others serve.
std::string functionFor(Operation *op) {
  Type type =
      op->getNumResults() == 1 && op->getNumOperands() == 1 ? op->getResult(0).getType() : Type();
  Type element = type ? getElementTypeOrSelf(type) : Type();
  auto vector = dyn_cast_or_null<VectorType>(type);
  if (!element || !(element.isF32() || element.isF64()) || (vector && vector.getRank() != 1))
    return {};
  StringRef name =
      llvm::StringSwitch<StringRef>(op->getName().getStringRef())
          .Cases({"math.acosh", "math.asinh", "math.atanh", "math.cbrt", "math.erfc", "math.expm1"},
                 op->getName().stripDialect())
          .Case("math.log1p", "log1p")
          .Case("math.erf", element.isF64() ? "erf" : "")
          .Default("");
  if (name.empty())
    return {};
  return ("_Z" + Twine(name.size()) + name + (element.isF32() ? "f" : "d")).str();
}

/// Emits an error where a lane cannot hold the vector of `op`.
bool fitsLane(Operation *op) {
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!type || (!type.isScalable() && type.getNumElements() <= maxElements))
    return true;
  op->emitOpError() << "has a vector of type " << type << " in device code; expected at most "
                    << maxElements << " elements, a known number, which a lane's registers hold;"
                    << " distribute the vector over lanes or cut it before";
  return false;
}

struct MathToOpenCL : xetile::impl::MathToOpenCLBase<MathToOpenCL> {
  void runOnOperation() override {
    SmallVector<Operation *> functions, narrow;
    getOperation().walk([&](Operation *op) {
      if (isFunction(op))
        narrow.push_back(op);
    });
    llvm::for_each(narrow, computeInF32);
    getOperation().walk([&](Operation *op) {
      if (!functionFor(op).empty())
        functions.push_back(op);
    });
    if (!llvm::all_of(functions, fitsLane))
      return signalPassFailure();
    for (Operation *op : functions)
      call(op, functionFor(op));
  }

private:
  /// Each lane computes its elements one after the other anyway.
  void call(Operation *op, StringRef name) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value operand = op->getOperand(0);
    Type element = getElementTypeOrSelf(operand.getType());
    LLVM::LLVMFuncOp function = declare(name, element);
    auto one = [&](Value x) -> Value {
      auto call = LLVM::CallOp::create(b, function, x);
      call.setCConv(function.getCConv());
      return call.getResult();
    };
    Value result;
    if (auto type = dyn_cast<VectorType>(operand.getType())) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < type.getNumElements(); ++i)
        elements.push_back(one(vector::ExtractOp::create(b, operand, i)));
      result = vector::FromElementsOp::create(b, type, elements);
    } else {
      result = one(operand);
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }

  LLVM::LLVMFuncOp declare(StringRef name, Type element) {
    gpu::GPUModuleOp module = getOperation();
    if (auto known = SymbolTable(module).lookup<LLVM::LLVMFuncOp>(name))
      return known;
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(element, element);
    auto function = LLVM::LLVMFuncOp::create(b, module.getLoc(), name, type);
    function.setCConv(LLVM::cconv::CConv::SPIR_FUNC);
    function.setNoUnwind(true);
    function.setWillReturn(true);
    return function;
  }
};

} // namespace
