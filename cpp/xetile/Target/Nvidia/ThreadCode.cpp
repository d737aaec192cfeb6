//===- ThreadCode.cpp - arithmetic of one thread ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: numbers of 32 bits. Out: ops on them, folded where both sides are known. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/ThreadCode.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

Value ThreadCode::toIndex(Value number) {
  return arith::IndexCastUIOp::create(b, b.getIndexType(), number);
}

Value ThreadCode::sizeOf(Value matrix, unsigned dim) {
  return memref::ExtractStridedMetadataOp::create(b, matrix).getSizes()[dim];
}

Value ThreadCode::isInside(Value matrix, Value row, Value column) {
  auto isBelowSize = [&](Value at, unsigned dim) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at, sizeOf(matrix, dim));
  };
  return arith::AndIOp::create(b, isBelowSize(row, 0), isBelowSize(column, 1));
}

Value ThreadCode::elementOf(Value matrix, Value row, Value column) {
  auto facts = memref::ExtractStridedMetadataOp::create(b, matrix);
  int64_t bytes = cast<MemRefType>(matrix.getType()).getElementTypeBitWidth() / 8;
  auto mul = [&](Value l, Value r) -> Value { return arith::MulIOp::create(b, l, r); };
  auto add = [&](Value l, Value r) -> Value { return arith::AddIOp::create(b, l, r); };
  Value at = add(mul(row, facts.getStrides()[0]), mul(column, facts.getStrides()[1]));
  at = mul(add(at, facts.getOffset()), arith::ConstantIndexOp::create(b, bytes));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, matrix);
  Value sum = arith::IndexCastOp::create(b, b.getI64Type(), add(base, at));
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 1), sum);
}

void ThreadCode::onlyIf(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}
