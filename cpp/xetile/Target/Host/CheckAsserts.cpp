//===- CheckAsserts.cpp - assertions as expectations of a call ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: cf.assert anywhere in a function, in bodies of linalg ops, tensor.generate and tensor.pad,
// too. Out: what the function expects of its data; the run goes on where one fails, whose results
// nobody gets. Refused: in bodies, what HoistFromBody.cpp refuses.
//===----------------------------------------------------------------------===//
// Errors that an assertion guards against cannot crash without it: indices and sizes have checks of
// their own, divisors of integers are made other than 0 here.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Target/Host/Expectations.h"
#include "xetile/Target/Host/HoistFromBody.h"
#include "xetile/Target/Host/IntegerRanges.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKASSERTS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

static LogicalResult expectInBody(RewriterBase &b, cf::AssertOp op, Operation *owner,
                                  Expectations &expectations) {
  FailureOr<linalg::GenericOp> generic = toGeneric(b, owner);
  if (failed(generic))
    return op.emitOpError("is in an operation where it cannot be checked: expected it in the body "
                          "of a linalg operation, or outside of bodies");
  Value argument = op.getArg();
  FailureOr<Value> failures =
      greatestInBody(b, *generic, op, op, argument,
                     [&](OpBuilder &nested, Location where, const IRMapping &map) -> Value {
                       Value no = arith::ConstantIntOp::create(nested, where, 0, 1);
                       Value fails = arith::CmpIOp::create(nested, where, arith::CmpIPredicate::eq,
                                                           map.lookupOrDefault(argument), no);
                       return arith::ExtUIOp::create(nested, where, nested.getI64Type(), fails);
                     });
  if (failed(failures))
    return failure();
  b.setInsertionPoint(*generic);
  Value zero = arith::ConstantIntOp::create(b, op.getLoc(), b.getI64Type(), 0);
  Value holds = arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, *failures, zero);
  return expectations.expect(b, op, op.getMsg(), holds);
}

/// 1 where the CPU has no quotient: of a division by 0, and of the least number by -1.
static void makeSafe(RewriterBase &b, Operation *op, bool isSigned) {
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  if (!divisor.getType().isIntOrIndex())
    return;
  ConstantIntRanges range = IntegerRanges().of(divisor);
  bool mayBeZero = range.umin().isZero();
  bool mayOverflow = isSigned && !range.smin().isStrictlyPositive() && range.smax().sge(-1) &&
                     IntegerRanges().of(dividend).smin().isMinSignedValue();
  if (!mayBeZero && !mayOverflow)
    return;
  Location loc = op->getLoc();
  b.setInsertionPoint(op);
  Type type = divisor.getType();
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value));
  };
  auto equals = [&](Value value, const APInt &other) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, constant(other));
  };
  unsigned width = ConstantIntRanges::getStorageBitwidth(type);
  Value none = equals(divisor, APInt::getZero(width));
  if (mayOverflow) {
    Value least = equals(dividend, APInt::getSignedMinValue(width));
    Value both = arith::AndIOp::create(b, loc, least, equals(divisor, APInt::getAllOnes(width)));
    none = arith::OrIOp::create(b, loc, none, both);
  }
  Value safe = arith::SelectOp::create(b, loc, none, constant(APInt(width, 1)), divisor);
  op->setOperand(1, safe);
}

namespace {
struct CheckAsserts : xetile::impl::CheckAssertsBase<CheckAsserts> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (failed(check(function)))
        return signalPassFailure();
  }

private:
  LogicalResult check(func::FuncOp function) {
    IRRewriter b(&getContext());
    Expectations expectations(getOperation());
    SmallVector<cf::AssertOp> asserts;
    function.walk([&](cf::AssertOp op) { asserts.push_back(op); });
    bool anyLeft = false;
    for (cf::AssertOp op : asserts) {
      // Known to hold.
      if (IntegerRanges().of(op.getArg()).umin().isOne()) {
        op.erase();
        continue;
      }
      anyLeft = true;
      b.setInsertionPoint(op);
      Operation *owner = bodyOwner(op);
      if (failed(owner ? expectInBody(b, op, owner, expectations)
                       : expectations.expect(b, op, op.getMsg(), op.getArg())))
        return failure();
      op.erase();
    }
    if (anyLeft)
      function.walk([&](Operation *op) {
        if (isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op))
          makeSafe(b, op, /*isSigned=*/true);
        else if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
          makeSafe(b, op, /*isSigned=*/false);
      });
    return success();
  }
};
} // namespace
