//===- ThreadCode.cpp - arithmetic of one thread ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: numbers of 32 bits. Out: ops on them, folded where both sides are known. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile::hopper;

Value ThreadCode::number(int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
}

Value ThreadCode::wide(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value ThreadCode::add(Value l, Value r) { return b.createOrFold<arith::AddIOp>(l, r); }

Value ThreadCode::mul(Value l, int64_t r) { return b.createOrFold<arith::MulIOp>(l, number(r)); }

Value ThreadCode::bitAnd(Value l, int64_t r) { return b.createOrFold<arith::AndIOp>(l, number(r)); }

Value ThreadCode::bitXor(Value l, Value r) { return b.createOrFold<arith::XOrIOp>(l, r); }

Value ThreadCode::shiftLeft(Value l, int64_t r) {
  return b.createOrFold<arith::ShLIOp>(l, number(r));
}

Value ThreadCode::shiftRight(Value l, int64_t r) {
  return b.createOrFold<arith::ShRUIOp>(l, number(r));
}

Value ThreadCode::isEqual(Value l, Value r) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, l, r);
}

Value ThreadCode::isBelow(Value l, Value r) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, l, r);
}

Value ThreadCode::select(Value condition, Value l, Value r) {
  return arith::SelectOp::create(b, condition, l, r);
}

Value ThreadCode::fromIndex(OpFoldResult index) {
  if (auto known = dyn_cast<Attribute>(index))
    return number(cast<IntegerAttr>(known).getInt());
  return arith::IndexCastOp::create(b, b.getI32Type(), cast<Value>(index));
}

Value ThreadCode::at(Value base, Value bytes) {
  return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

void ThreadCode::onlyIf(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}
