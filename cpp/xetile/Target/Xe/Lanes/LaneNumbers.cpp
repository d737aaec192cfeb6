//===- LaneNumbers.cpp - numbers that depend on the lane ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a number for each lane. Out: arithmetic on the lane's id at the top of the function, selects
// where there is no formula. Refused: nothing.
#include "xetile/Target/Xe/Lanes/LaneNumbers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

Value LaneNumbers::laneId() {
  if (!id) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(b.top);
    Value number = gpu::LaneIdOp::create(b, /*upper_bound=*/b.getIndexAttr(lanes));
    id = arith::IndexCastUIOp::create(b, b.getI32Type(), number);
  }
  return id;
}

/// The sum of what each bit of the lane adds, or null if it is none.
Value LaneNumbers::sumOfBits(ArrayRef<int64_t> values) {
  unsigned bits = llvm::Log2_32(lanes);
  SmallVector<int64_t> steps;
  for (unsigned bit = 0; bit < bits; ++bit)
    steps.push_back(values[size_t(1) << bit] - values[0]);
  for (unsigned at = 0; at < lanes; ++at) {
    int64_t sum = values[0];
    for (unsigned bit = 0; bit < bits; ++bit)
      sum += at >> bit & 1 ? steps[bit] : 0;
    if (sum != values[at])
      return {};
  }
  Type i32 = b.getI32Type();
  Value sum;
  for (unsigned bit = 0; bit < bits;) {
    // Bits whose steps double go together.
    unsigned end = bit + 1;
    while (end < bits && steps[end] == 2 * steps[end - 1])
      ++end;
    if (int64_t step = steps[bit]) {
      Value part = id;
      if (bit)
        part = arith::ShRUIOp::create(b, part, b.constant(i32, bit));
      if (end < bits)
        part = arith::AndIOp::create(b, part, b.constant(i32, (1 << (end - bit)) - 1));
      if (step != 1)
        part = arith::MulIOp::create(b, part, b.constant(i32, step));
      sum = sum ? arith::AddIOp::create(b, sum, part) : part;
    }
    bit = end;
  }
  return values[0] ? arith::AddIOp::create(b, sum, b.constant(i32, values[0])) : sum;
}

Value LaneNumbers::table(ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return b.constant(b.getI32Type(), values.front());
  if (Value known = tables[values.vec()])
    return known;
  Value lane = laneId();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(b.top);
  Type i32 = b.getI32Type();
  Value made = sumOfBits(values);
  bool isXor = llvm::all_of(llvm::enumerate(values), [&](auto entry) {
    return entry.value() == (values[0] ^ int64_t(entry.index()));
  });
  if (!made && isXor)
    made = arith::XOrIOp::create(b, lane, b.constant(i32, values[0]));
  if (!made) {
    SmallVector<std::pair<uint64_t, Value>> choices;
    for (unsigned at = 0; at < lanes; ++at) {
      uint64_t mask = 0;
      for (unsigned other = 0; other < lanes; ++other)
        mask |= uint64_t(values[other] == values[at]) << other;
      if (mask & ((uint64_t(1) << at) - 1))
        continue;
      choices.push_back({mask, b.constant(i32, values[at])});
    }
    // Masks may be made here: they are at the top, too.
    made = select(choices);
  }
  return tables[values.vec()] = made;
}

Value LaneNumbers::index(ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return b.index(values.front());
  return arith::IndexCastOp::create(b, b.getIndexType(), table(values));
}

Value LaneNumbers::isIn(uint64_t mask) {
  if (Value known = masks[mask])
    return known;
  Value lane = laneId();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(b.top);
  Type i32 = b.getI32Type();
  Value bit = arith::ShRUIOp::create(b, b.constant(i32, int64_t(mask)), lane);
  bit = arith::AndIOp::create(b, bit, b.constant(i32, 1));
  return masks[mask] = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, b.constant(i32, 0));
}

Value LaneNumbers::select(ArrayRef<std::pair<uint64_t, Value>> choices) {
  b.moves.selects += choices.size() - 1;
  Value result = choices.back().second;
  for (auto [mask, value] : llvm::reverse(choices.drop_back()))
    result = arith::SelectOp::create(b, isIn(mask), value, result);
  return result;
}

void LaneNumbers::clear() {
  tables.clear();
  masks.clear();
  id = {};
}
