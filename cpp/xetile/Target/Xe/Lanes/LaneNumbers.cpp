//===- LaneNumbers.cpp - numbers that depend on the lane, and shuffles -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a number for each lane. Out: arithmetic on the lane's id at the top of the function, selects
// where there is no formula. Refused: nothing.
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

Value LaneLowering::constant(Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value LaneLowering::add(Value left, Value right) {
  return b.createOrFold<arith::AddIOp>(loc, left, right);
}

Value LaneLowering::mul(Value left, Value right) {
  return b.createOrFold<arith::MulIOp>(loc, left, right);
}

Value LaneLowering::laneId() {
  if (!laneNumber) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(top);
    Value id = gpu::LaneIdOp::create(b, loc, /*upper_bound=*/b.getIndexAttr(lanes));
    laneNumber = arith::IndexCastUIOp::create(b, loc, b.getI32Type(), id);
  }
  return laneNumber;
}

Value LaneLowering::laneTable(ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return constant(b.getI32Type(), values.front());
  Value &known = laneTables[values.vec()];
  if (known)
    return known;
  Value lane = laneId();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(top);
  Type i32 = b.getI32Type();
  unsigned bits = llvm::Log2_32(lanes);
  // The sum of what each bit of the lane adds?
  SmallVector<int64_t> steps;
  for (unsigned bit = 0; bit < bits; ++bit)
    steps.push_back(values[size_t(1) << bit] - values[0]);
  auto isSum = [&] {
    for (unsigned at = 0; at < lanes; ++at) {
      int64_t sum = values[0];
      for (unsigned bit = 0; bit < bits; ++bit)
        sum += at >> bit & 1 ? steps[bit] : 0;
      if (sum != values[at])
        return false;
    }
    return true;
  };
  auto isXor = [&] {
    for (unsigned at = 0; at < lanes; ++at)
      if (values[at] != (values[0] ^ int64_t(at)))
        return false;
    return true;
  };
  if (isSum()) {
    Value sum;
    for (unsigned bit = 0; bit < bits;) {
      // Bits whose steps double go together.
      unsigned end = bit + 1;
      while (end < bits && steps[end] == 2 * steps[end - 1])
        ++end;
      if (int64_t step = steps[bit]) {
        Value part = lane;
        if (bit)
          part = arith::ShRUIOp::create(b, loc, part, constant(i32, bit));
        if (end < bits)
          part = arith::AndIOp::create(b, loc, part, constant(i32, (1 << (end - bit)) - 1));
        if (step != 1)
          part = arith::MulIOp::create(b, loc, part, constant(i32, step));
        sum = sum ? arith::AddIOp::create(b, loc, sum, part) : part;
      }
      bit = end;
    }
    known = values[0] ? arith::AddIOp::create(b, loc, sum, constant(i32, values[0])) : sum;
  } else if (isXor()) {
    known = arith::XOrIOp::create(b, loc, lane, constant(i32, values[0]));
  } else {
    SmallVector<std::pair<uint64_t, Value>> choices;
    for (unsigned at = 0; at < lanes; ++at) {
      uint64_t mask = 0;
      for (unsigned other = 0; other < lanes; ++other)
        mask |= uint64_t(values[other] == values[at]) << other;
      if (mask & ((uint64_t(1) << at) - 1))
        continue;
      choices.push_back({mask, constant(i32, values[at])});
    }
    // Masks may be made here: they are at the top, too.
    known = selectByLane(choices);
  }
  return laneTables[values.vec()] = known;
}

Value LaneLowering::laneIndex(ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return index(values.front());
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), laneTable(values));
}

Value LaneLowering::laneIn(uint64_t mask) {
  Value &known = laneMasks[mask];
  if (known)
    return known;
  Value lane = laneId();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(top);
  Type i32 = b.getI32Type();
  Value bit = arith::ShRUIOp::create(b, loc, constant(i32, int64_t(mask)), lane);
  bit = arith::AndIOp::create(b, loc, bit, constant(i32, 1));
  known = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, constant(i32, 0));
  return laneMasks[mask] = known;
}

Value LaneLowering::selectByLane(ArrayRef<std::pair<uint64_t, Value>> choices) {
  Value result = choices.back().second;
  numSelects += choices.size() - 1;
  for (auto [mask, value] : llvm::reverse(choices.drop_back()))
    result = arith::SelectOp::create(b, loc, laneIn(mask), value, result);
  return result;
}

Value LaneLowering::callBuiltin(StringRef name, Type result, ValueRange arguments,
                                bool convergent) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type =
        LLVM::LLVMFunctionType::get(result ? result : Type(LLVM::LLVMVoidType::get(b.getContext())),
                                    llvm::to_vector(arguments.getTypes()));
    function = LLVM::LLVMFuncOp::create(b, module.getLoc(), name, type);
    function.setCConv(LLVM::cconv::CConv::SPIR_FUNC);
    function.setConvergent(convergent);
    function.setNoUnwind(true);
    function.setWillReturn(true);
  }
  auto call = LLVM::CallOp::create(b, loc, function, arguments);
  call.setCConv(function.getCConv());
  call.setConvergent(convergent);
  call.setNoUnwind(true);
  call.setWillReturn(true);
  return result ? call.getResult() : Value();
}

Value LaneLowering::shuffle(Value value, ArrayRef<int64_t> table) {
  ++numShuffles;
  Type type = value.getType();
  if (type.isIndex() || type.isF64() || type.isInteger(64)) {
    Type i64 = b.getI64Type();
    Value bits = type.isIndex() ? arith::IndexCastOp::create(b, loc, i64, value).getResult()
                 : type.isF64() ? arith::BitcastOp::create(b, loc, i64, value).getResult()
                                : value;
    Value moved = callBuiltin("_Z17sub_group_shufflelj", i64, {bits, laneTable(table)});
    if (type.isIndex())
      return arith::IndexCastOp::create(b, loc, type, moved);
    return type.isF64() ? arith::BitcastOp::create(b, loc, type, moved).getResult() : moved;
  }
  unsigned width = type.getIntOrFloatBitWidth();
  Type narrow = b.getIntegerType(width), i32 = b.getI32Type();
  Value bits =
      isa<FloatType>(type) ? arith::BitcastOp::create(b, loc, narrow, value).getResult() : value;
  if (width < 32)
    bits = arith::ExtUIOp::create(b, loc, i32, bits);
  Value moved;
  int64_t distance = table[0];
  bool isXor = llvm::all_of(llvm::enumerate(table), [&](auto entry) {
    return entry.value() == (int64_t(entry.index()) ^ distance);
  });
  if (isXor)
    moved = callBuiltin("_Z21sub_group_shuffle_xorij", i32, {bits, constant(i32, distance)});
  else
    moved = callBuiltin("_Z17sub_group_shuffleij", i32, {bits, laneTable(table)});
  if (width < 32)
    moved = arith::TruncIOp::create(b, loc, narrow, moved);
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, loc, type, moved).getResult() : moved;
}

// Not f16: Intel's compiler shuffles its halves of registers where they are, and packing them costs
// more than it saves.
size_t LaneLowering::valuesInWord(Type type) {
  return type.isBF16() || type.isInteger(16) ? 2 : type.isInteger(8) ? 4 : 1;
}

LaneLowering::Values LaneLowering::shuffleTogether(ArrayRef<Value> values,
                                                   ArrayRef<int64_t> table) {
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
    Value whole = vector::BitCastOp::create(b, loc, word, build(packed, parts));
    whole = build(word, shuffle(element(whole, 0), table));
    whole = vector::BitCastOp::create(b, loc, packed, whole);
    for (size_t i = 0; i < used; ++i)
      moved.push_back(element(whole, i));
  }
  for (Value value : values)
    moved.push_back(shuffle(value, table));
  return moved;
}

Value LaneLowering::element(Value piece, unsigned reg) {
  return b.createOrFold<vector::ExtractOp>(loc, piece, int64_t(reg));
}

Value LaneLowering::build(VectorType type, ArrayRef<Value> elements) {
  return vector::FromElementsOp::create(b, loc, type, elements);
}
