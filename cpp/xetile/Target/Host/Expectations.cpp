//===- Expectations.cpp - what a run expects of data --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: conditions on data, as values. Out: a call for each, and their texts.
// Refused: a module that has the name @xetile_expect for something else; calls of it whose number
// is of no expectation.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/Expectations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace xetile;

static constexpr llvm::StringLiteral kExpect = "xetile_expect";

std::string xetile::describePlace(Operation *op) {
  std::string place = op->getName().getStringRef().str();
  if (auto where = op->getLoc()->findInstanceOf<FileLineColLoc>())
    place += " in line " + std::to_string(where.getLine());
  return place;
}

func::FuncOp Expectations::find(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>(kExpect);
  return function && function->hasAttr(kExpectationsAttr) ? function : func::FuncOp();
}

LogicalResult Expectations::checkNumbers(ModuleOp module) {
  func::FuncOp function = find(module);
  if (!function)
    return success();
  int64_t count = function->getAttrOfType<ArrayAttr>(kExpectationsAttr).size();
  WalkResult result = module.walk([&](func::CallOp call) -> WalkResult {
    APInt number;
    if (call.getCallee() != kExpect || call.getNumOperands() == 0 ||
        !matchPattern(call.getOperand(0), m_ConstantInt(&number)) ||
        (number.sge(1) && number.sle(count)))
      return WalkResult::advance();
    return call.emitOpError("names expectation ")
           << number.getSExtValue() << " of @" << kExpect << ", whose " << kExpectationsAttr
           << " has " << count << "; expected a number from 1 to " << count;
  });
  return failure(result.wasInterrupted());
}

LogicalResult Expectations::expect(OpBuilder &b, Operation *op, const llvm::Twine &text,
                                   Value holds, Value got, Value bound) {
  func::FuncOp function = find(module);
  Type number = b.getI64Type();
  if (!function) {
    if (Operation *other = module.lookupSymbol(kExpect))
      return other->emitOpError() << "has the name @" << kExpect
                                  << ", which is needed for what the function expects of its data: "
                                     "expected it to be free, rename it";
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    function = func::FuncOp::create(atEnd, module.getLoc(), kExpect,
                                    b.getFunctionType({number, b.getI1Type(), number, number}, {}));
    function.setPrivate();
    function->setAttr(kExpectationsAttr, b.getArrayAttr({}));
  }
  auto list = llvm::to_vector(function->getAttrOfType<ArrayAttr>(kExpectationsAttr));
  list.push_back(b.getStrArrayAttr({describePlace(op), text.str()}));
  function->setAttr(kExpectationsAttr, b.getArrayAttr(list));
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, op->getLoc(), number, value);
  };
  Value own = constant(int64_t(list.size()));
  func::CallOp::create(
      b, op->getLoc(), function,
      ValueRange{own, holds, got ? got : Value(constant(0)), bound ? bound : Value(constant(-1))});
  return success();
}
