//===- WidenBf16.cpp - bf16 arithmetic in f32 -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: device code that computes with bf16. Out: each operation computes in f32 and rounds its
// result. Refused: nothing; conversions and moves of bits stay as they are.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Xe/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_WIDENBF16
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

bool isBf16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

Type withElement(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

bool computes(Operation *op) {
  if (isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::SelectOp, arith::TruncFOp>(op))
    return false;
  return isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
         isa<vector::ContractionOp, vector::FMAOp, vector::MultiDimReductionOp,
             vector::OuterProductOp, vector::ReductionOp, vector::ScanOp>(op);
}

// Not upstream's arith-emulate-unsupported-floats: it lets a rounding be folded away where the
// result is computed with again, and leaves sitofp and uitofp.
struct WidenBf16 : xetile::impl::WidenBf16Base<WidenBf16> {
  using WidenBf16Base::WidenBf16Base;

  void runOnOperation() override {
    SmallVector<Operation *> narrow;
    getOperation().walk([&](Operation *op) {
      if (computes(op) && (llvm::any_of(op->getOperandTypes(), isBf16) ||
                           llvm::any_of(op->getResultTypes(), isBf16)))
        narrow.push_back(op);
    });
    llvm::for_each(narrow, widen);
  }

private:
  static void widen(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Type f32 = builder.getF32Type();
    for (OpOperand &operand : op->getOpOperands())
      if (Type type = operand.get().getType(); isBf16(type))
        operand.set(arith::ExtFOp::create(builder, loc, withElement(type, f32), operand.get()));
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type type = result.getType();
      if (!isBf16(type))
        continue;
      result.setType(withElement(type, f32));
      auto rounded = arith::TruncFOp::create(builder, loc, type, result);
      result.replaceAllUsesExcept(rounded, rounded);
    }
  }
};

} // namespace
