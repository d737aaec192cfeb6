//===- WidenBf16.cpp - bf16 arithmetic in f32 -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: device code that computes with bf16. Out: each operation computes in f32 and rounds its
// result. Refused: nothing; conversions to and from f32, and moves
// of bits, stay as they are.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "xetile/Target/Xe/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_WIDENBF16
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

bool isBf16(Type type) { return getElementTypeOrSelf(type).isBF16(); }
bool isF64(Type type) { return getElementTypeOrSelf(type).isF64(); }

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
    SmallVector<arith::TruncFOp> rounds;
    SmallVector<arith::ExtFOp> extends;
    getOperation().walk([&](Operation *op) {
      if (auto round = dyn_cast<arith::TruncFOp>(op))
        if (isBf16(round.getType()) && isF64(round.getIn().getType()))
          rounds.push_back(round);
      if (auto extend = dyn_cast<arith::ExtFOp>(op))
        if (isBf16(extend.getIn().getType()) && isF64(extend.getType()))
          extends.push_back(extend);
    });
    llvm::for_each(rounds, roundOnce);
    for (arith::ExtFOp op : extends) {
      OpBuilder b(op);
      op.setOperand(arith::ExtFOp::create(b, op.getLoc(), withElement(op.getType(), b.getF32Type()),
                                          op.getIn()));
    }
  }

private:
  /// f64 to f32 to bf16, such that the first rounding takes no part in the second: an f32 that is
  /// not exact gets an odd last bit, towards the number.
  static void roundOnce(arith::TruncFOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value x = op.getIn();
    Type f32 = withElement(x.getType(), b.getF32Type());
    Type i32 = withElement(x.getType(), b.getI32Type());
    auto integer = [&](int32_t value) -> Value {
      TypedAttr number = b.getI32IntegerAttr(value);
      if (auto shaped = dyn_cast<ShapedType>(i32))
        number = DenseElementsAttr::get(shaped, Attribute(number));
      return arith::ConstantOp::create(b, number);
    };
    Value near = arith::TruncFOp::create(b, f32, x);
    Value back = arith::ExtFOp::create(b, x.getType(), near);
    Value bits = arith::BitcastOp::create(b, i32, near);
    Value last = arith::AndIOp::create(b, bits, integer(1));
    Value isEven = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, last, integer(0));
    // Of NaN there is none.
    Value isInexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
    Value isLess = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                         math::AbsFOp::create(b, back), math::AbsFOp::create(b, x));
    Value step = arith::SelectOp::create(b, isLess, integer(1), integer(-1));
    step =
        arith::SelectOp::create(b, arith::AndIOp::create(b, isEven, isInexact), step, integer(0));
    bits = arith::AddIOp::create(b, bits, step);
    op.setOperand(arith::BitcastOp::create(b, f32, bits));
  }

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
