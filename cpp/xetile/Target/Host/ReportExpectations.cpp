//===- ReportExpectations.cpp - what did not hold, as results of a function ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on memory that call @xetile_expect. Out: each call records the first expectation
// that does not hold, in memory of the function's own, and public functions return that.
// Refused: such calls in private functions; numbers of no expectation.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/Target/Host/Expectations.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_REPORTEXPECTATIONS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
/// Of one function.
class Reporter {
public:
  explicit Reporter(func::FuncOp function)
      : function(function), b(function.getContext()), loc(function.getLoc()) {}
  void run(ArrayRef<func::CallOp> calls, ArrayAttr expectations);

private:
  Value at(int64_t place) { return arith::ConstantIndexOp::create(b, loc, place); }
  void record(func::CallOp call);
  void endWhereTaken(scf::WhileOp loop);

  func::FuncOp function;
  OpBuilder b;
  Location loc;
  /// Number, what came, what it should be less than; whether these are taken.
  Value status;
  static constexpr int64_t kTold = 3, kTaken = kTold;
};

/// Threads may find several at once: the one that takes the place records.
void Reporter::record(func::CallOp call) {
  loc = call.getLoc();
  b.setInsertionPoint(call);
  Value number = call.getOperand(0), holds = call.getOperand(1);
  Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
  Value fails = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, holds, no);
  auto branch = scf::IfOp::create(b, loc, fails, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value zero = arith::ConstantIntOp::create(b, loc, number.getType(), 0);
  Value before =
      memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::assign, number, status, at(kTaken));
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before, zero);
  auto record = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
  b.setInsertionPointToStart(record.thenBlock());
  for (auto [place, operand] : llvm::enumerate(std::array{0u, 2u, 3u}))
    memref::StoreOp::create(b, loc, call.getOperand(operand), status, at(int64_t(place)));
  call.erase();
}

/// The loop's condition may depend on a violated expectation.
void Reporter::endWhereTaken(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  loc = loop.getLoc();
  b.setInsertionPoint(condition);
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
  Value taken = memref::LoadOp::create(b, loc, status, at(kTaken));
  Value free = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, taken, zero);
  Value goes = arith::AndIOp::create(b, loc, condition.getCondition(), free);
  condition.getConditionMutable().set(goes);
}

void Reporter::run(ArrayRef<func::CallOp> calls, ArrayAttr expectations) {
  b.setInsertionPointToStart(&function.front());
  status = memref::AllocaOp::create(b, loc, MemRefType::get({kTold + 1}, b.getI64Type()));
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
  for (int64_t place = 0; place <= kTaken; ++place)
    memref::StoreOp::create(b, loc, zero, status, at(place));
  for (func::CallOp call : calls)
    record(call);
  function.walk([&](scf::WhileOp loop) { endWhereTaken(loop); });
  loc = function.getLoc();
  function.walk([&](func::ReturnOp op) {
    b.setInsertionPoint(op);
    SmallVector<Value> results(op.getOperands());
    for (int64_t place = 0; place < kTold; ++place)
      results.push_back(memref::LoadOp::create(b, loc, status, at(place)));
    op->setOperands(results);
  });
  SmallVector<Type> types(function.getResultTypes());
  types.append(kTold, b.getI64Type());
  function.setType(b.getFunctionType(function.getArgumentTypes(), types));
  function.removeResAttrsAttr();
  function->setAttr(kExpectationsAttr, expectations);
}

struct ReportExpectations : xetile::impl::ReportExpectationsBase<ReportExpectations> {
  void runOnOperation() override {
    func::FuncOp expect = Expectations::find(getOperation());
    if (!expect)
      return;
    if (failed(Expectations::checkNumbers(getOperation())))
      return signalPassFailure();
    auto expectations = expect->getAttrOfType<ArrayAttr>(kExpectationsAttr);
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      SmallVector<func::CallOp> calls;
      function.walk([&](func::CallOp call) {
        if (call.getCallee() == expect.getName())
          calls.push_back(call);
      });
      if (calls.empty())
        continue;
      if (!function.isPublic() || !SymbolTable::symbolKnownUseEmpty(function, getOperation())) {
        calls.front().emitOpError(
            "is what a function expects that others of the module call: expected it in a public "
            "function, or in one that can be inlined there (one block, no recursion)");
        return signalPassFailure();
      }
      Reporter(function).run(calls, expectations);
    }
    expect.erase();
  }
};
} // namespace
