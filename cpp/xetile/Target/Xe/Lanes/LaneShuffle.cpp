//===- LaneShuffle.cpp - values of other lanes -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: values, and for each lane the one whose value it takes. Out: shuffles of the subgroup, narrow
// values several in a word. Refused: nothing.
#include "xetile/Target/Xe/Lanes/LaneShuffle.h"

using namespace mlir;
using namespace xetile;

Value xetile::callBuiltin(LaneContext &lanes, StringRef name, Type result, ValueRange arguments) {
  LaneBuilder &b = lanes.b;
  auto function = lanes.module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(lanes.module.getBody());
    auto type =
        LLVM::LLVMFunctionType::get(result ? result : Type(LLVM::LLVMVoidType::get(b.getContext())),
                                    llvm::to_vector(arguments.getTypes()));
    function = LLVM::LLVMFuncOp::create(b, lanes.module.getLoc(), name, type);
    function.setCConv(LLVM::cconv::CConv::SPIR_FUNC);
    function.setConvergent(true);
    function.setNoUnwind(true);
    function.setWillReturn(true);
  }
  auto call = LLVM::CallOp::create(b, function, arguments);
  call.setCConv(function.getCConv());
  call.setConvergent(true);
  call.setNoUnwind(true);
  call.setWillReturn(true);
  return result ? call.getResult() : Value();
}

Value xetile::shuffle(LaneContext &lanes, Value value, ArrayRef<int64_t> table) {
  LaneBuilder &b = lanes.b;
  ++b.moves.shuffles;
  Type type = value.getType();
  if (type.isIndex() || type.isF64() || type.isInteger(64)) {
    Type i64 = b.getI64Type();
    Value bits = type.isIndex() ? arith::IndexCastOp::create(b, i64, value).getResult()
                 : type.isF64() ? arith::BitcastOp::create(b, i64, value).getResult()
                                : value;
    Value moved =
        callBuiltin(lanes, "_Z17sub_group_shufflelj", i64, {bits, lanes.numbers.table(table)});
    if (type.isIndex())
      return arith::IndexCastOp::create(b, type, moved);
    return type.isF64() ? arith::BitcastOp::create(b, type, moved).getResult() : moved;
  }
  unsigned width = type.getIntOrFloatBitWidth();
  Type narrow = b.getIntegerType(width), i32 = b.getI32Type();
  Value bits =
      isa<FloatType>(type) ? arith::BitcastOp::create(b, narrow, value).getResult() : value;
  if (width < 32)
    bits = arith::ExtUIOp::create(b, i32, bits);
  Value moved;
  int64_t distance = table[0];
  bool isXor = llvm::all_of(llvm::enumerate(table), [&](auto entry) {
    return entry.value() == (int64_t(entry.index()) ^ distance);
  });
  if (isXor)
    moved =
        callBuiltin(lanes, "_Z21sub_group_shuffle_xorij", i32, {bits, b.constant(i32, distance)});
  else
    moved = callBuiltin(lanes, "_Z17sub_group_shuffleij", i32, {bits, lanes.numbers.table(table)});
  if (width < 32)
    moved = arith::TruncIOp::create(b, narrow, moved);
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, type, moved).getResult() : moved;
}

// Not f16: Intel's compiler shuffles its halves of registers where they are, and packing them costs
// more than it saves.
size_t xetile::valuesInWord(Type type) {
  return type.isBF16() || type.isInteger(16) ? 2 : type.isInteger(8) ? 4 : 1;
}

Values xetile::shuffleTogether(LaneContext &lanes, ArrayRef<Value> values,
                               ArrayRef<int64_t> table) {
  LaneBuilder &b = lanes.b;
  Values moved;
  Type type = values.front().getType();
  size_t count = valuesInWord(type);
  auto packed = VectorType::get({int64_t(count)}, type),
       word = VectorType::get({1}, b.getI32Type());
  while (count > 1 && values.size() > 1) {
    Values parts(values.take_front(count));
    values = values.drop_front(parts.size());
    size_t used = parts.size();
    parts.resize(count, parts.back()); // a word is whole
    Value whole = vector::BitCastOp::create(b, word, b.build(packed, parts));
    whole = b.build(word, shuffle(lanes, b.element(whole, 0), table));
    whole = vector::BitCastOp::create(b, packed, whole);
    for (size_t i = 0; i < used; ++i)
      moved.push_back(b.element(whole, i));
  }
  for (Value value : values)
    moved.push_back(shuffle(lanes, value, table));
  return moved;
}
