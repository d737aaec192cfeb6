//===- SplitProducts.cpp - f32 on the matrix unit, as products of tf32 ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: stages of f32 in either order. Out: mma.sync on parts of elements, in registers.
// Refused: nothing; RingPlan.cpp has.
//
// An element is the sum of its high part, the first 11 bits of the significand, and a low one. Of
// the products of parts that of two low ones is left out: it is below the last bit of f32. High
// parts are cut, not rounded, so that none becomes infinite. The low part of an infinity is NaN:
// where the sum of high products is not finite it is all of the sum. What is below 2^-136 of a
// number, the least that tf32 has, is lost: 11 bits of those of 2^-126 are left.
//
// The matrix unit cuts its sums, and the errors of many add up. So it sums up a row of shared
// memory, 32 of k, and these sums are added to those of the tile with rounding.
//
// Which k are whose is free, as long as it is the same in A and B. Thread t of four has t, or t + 4
// where it is odd, and in the second half the other of these two. With the swizzle all threads of a
// warp then read from different banks, whichever side of a tile is adjacent.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

constexpr int64_t kMmaM = 16, kMmaN = 8, kMmaK = 8, kSumsOfMma = 4;
constexpr int64_t kWarp = 32, kRow = kSwizzleBytes / 4;     // threads; elements of shared memory
constexpr int64_t kCell = 16;                               // bytes that the swizzle moves
constexpr int64_t kOtherHalf = 4 * (kSwizzleBytes + kCell); // 4 rows on, whose cells are 4 on
constexpr int64_t kChains = 4;            // groups of 16 x 8 sums that are multiplied in turns
constexpr int64_t kHighBits = -(1 << 13); // all but the last 13

/// Places of this thread's elements of a tile: the others differ by constants. `rows` are a
/// warpgroup's, of A, or 0.
void KernelWriter::beginOperand(SplitOperand &operand, const TilePlace &place, bool kIsInner,
                                int64_t rows) {
  operand.column = place.outer * kSwizzleBytes;
  operand.kIsInner = kIsInner;
  Value inWarp = bitAnd(lane, kWarp - 1), warp = shiftRight(lane, 5);
  Value group = shiftRight(inWarp, 2), own = bitAnd(inWarp, 3);
  Value isOdd = bitAnd(own, 1), k = add(own, shiftLeft(isOdd, 2));
  Value first = number(0), swizzled;
  if (kIsInner) {
    // Rows of other groups are 8 apart, so that the swizzle is that of this one.
    Value row = rows ? add(add(group, mul(warp, kMmaM)), mul(warpgroup, rows)) : group;
    first = add(mul(row, kSwizzleBytes), shiftLeft(own, 2));
    swizzled = shiftLeft(bitXor(isOdd, group), 4);
  } else {
    Value cell = bitXor(shiftRight(group, 2), k);
    if (rows) {
      cell = bitXor(cell, shiftLeft(bitAnd(warp, 1), 2));
      Value chunk = add(shiftRight(warp, 1), mul(warpgroup, rows / kRow));
      first = mul(chunk, operand.column);
    }
    Value inRow = add(shiftLeft(cell, 4), shiftLeft(bitAnd(group, 3), 2));
    swizzled = add(mul(k, kSwizzleBytes), inRow);
  }
  for (int64_t pattern = 0; pattern < SplitOperand::kPatterns; ++pattern) {
    int64_t half = pattern % 2 * (kIsInner ? kCell : kOtherHalf), other = pattern / 2 * 2 * kCell;
    operand.places[pattern] = add(first, bitXor(swizzled, number(half ^ other)));
  }
}

void KernelWriter::beginSplitProducts() {
  beginOperand(splitA, plan.a, !plan.a.isTransposedInRing(), plan.warpgroupRows());
  beginOperand(splitB, plan.b, plan.b.isTransposedInRing(), 0);
}

/// The parts of this thread's element of a group of 8 rows of A, or columns of B, and of the half
/// `half` of product `k`.
KernelWriter::Parts KernelWriter::loadParts(const SplitOperand &operand, int64_t group, int64_t k,
                                            int64_t half) {
  constexpr int64_t kGroups = kRow / kMmaN;
  int64_t pattern = operand.kIsInner ? k % kGroups : group % kGroups;
  int64_t bytes = operand.kIsInner ? group * kMmaN * kSwizzleBytes + k / kGroups * operand.column
                                   : group / kGroups * operand.column + k * kMmaK * kSwizzleBytes;
  Value pointer = at(operand.pointers[2 * pattern + half], number(bytes));
  Value element = LLVM::LoadOp::create(b, b.getF32Type(), pointer, /*alignment=*/4);
  Value bits = LLVM::BitcastOp::create(b, b.getI32Type(), element);
  Value high = bitAnd(bits, kHighBits);
  Value cut = LLVM::BitcastOp::create(b, b.getF32Type(), high);
  Value low = arith::SubFOp::create(b, element, cut);
  return {high, LLVM::BitcastOp::create(b, b.getI32Type(), low)};
}

/// The elements of a product for one instruction, in both halves of k: two groups of rows of A, or
/// one of columns of B.
KernelWriter::Fragment KernelWriter::loadFragment(const SplitOperand &operand, int64_t group,
                                                  int64_t groups, int64_t k) {
  Fragment fragment;
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t i = 0; i < groups; ++i) {
      Parts parts = loadParts(operand, group + i, k, half);
      fragment.high.push_back(parts.high);
      fragment.low.push_back(parts.low);
    }
  return fragment;
}

Value KernelWriter::multiplyParts(ValueRange a, ValueRange columns, Value sums) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < kSumsOfMma; ++i)
    elements.push_back(LLVM::ExtractValueOp::create(b, sums, ArrayRef<int64_t>{i}));
  std::array<NVVM::MMATypes, 2> types = {NVVM::MMATypes::tf32, NVVM::MMATypes::tf32};
  std::array<NVVM::MMALayout, 2> layouts = {NVVM::MMALayout::row, NVVM::MMALayout::col};
  return NVVM::MmaOp::create(b, sums.getType(), a, columns, elements,
                             ArrayRef<int64_t>{kMmaM, kMmaN, kMmaK}, std::nullopt, std::nullopt,
                             types, layouts);
}

/// `sum` and sums of high products and of those with a low part.
Value KernelWriter::addParts(Value sum, Value high, Value low) {
  Value infinity = arith::ConstantOp::create(
      b, b.getFloatAttr(b.getF32Type(), APFloat::getInf(APFloat::IEEEsingle())));
  Value size = LLVM::CallIntrinsicOp::create(b, b.getF32Type(), b.getStringAttr("llvm.fabs"), high)
                   .getResult(0);
  Value isFinite = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, infinity);
  Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  Value all = arith::AddFOp::create(b, high, select(isFinite, low, zero));
  return arith::AddFOp::create(b, sum, all);
}

/// Adds the products of a row of k to `count` groups of 8 columns.
void KernelWriter::addColumns(SmallVectorImpl<Value> &sums,
                              ArrayRef<SmallVector<Fragment>> fragments, int64_t firstK,
                              int64_t column, int64_t count) {
  SmallVector<Type> types(kSumsOfMma, b.getF32Type());
  Value none = LLVM::ZeroOp::create(b, LLVM::LLVMStructType::getLiteral(b.getContext(), types));
  SmallVector<Value> high(size_t(count) * sums.size(), none), low = high;
  for (size_t k = 0; k < fragments.front().size(); ++k) {
    SmallVector<Fragment> columns;
    for (int64_t i = 0; i < count; ++i)
      columns.push_back(loadFragment(splitB, column + i, 1, firstK + int64_t(k)));
    // Products that wait for one another are apart.
    auto each = [&](auto multiply) {
      for (size_t i = 0; i < columns.size(); ++i)
        for (size_t block = 0; block < sums.size(); ++block)
          multiply(i * sums.size() + block, fragments[block][k], columns[i]);
    };
    each([&](size_t at, const Fragment &a, const Fragment &c) {
      low[at] = multiplyParts(a.low, c.high, low[at]);
    });
    each([&](size_t at, const Fragment &a, const Fragment &c) {
      low[at] = multiplyParts(a.high, c.low, low[at]);
    });
    each([&](size_t at, const Fragment &a, const Fragment &c) {
      high[at] = multiplyParts(a.high, c.high, high[at]);
    });
  }
  for (size_t at = 0; at < high.size(); ++at) {
    Value &sum = sums[at % sums.size()];
    for (int64_t i = 0; i < kSumsOfMma; ++i) {
      auto element = [&](Value of, int64_t number) -> Value {
        return LLVM::ExtractValueOp::create(b, of, ArrayRef<int64_t>{number});
      };
      int64_t place = kSumsOfMma * (column + int64_t(at / sums.size())) + i;
      Value next = addParts(element(sum, place), element(high[at], i), element(low[at], i));
      sum = LLVM::InsertValueOp::create(b, sum, next, ArrayRef<int64_t>{place});
    }
  }
}

/// Adds the products of a stage to the sums, which are laid out as wgmma's.
void KernelWriter::multiplySplit(SmallVectorImpl<Value> &sums, Value stage) {
  Value from = mul(stage, plan.stageBytes());
  auto enter = [&](SplitOperand &operand, Value start) {
    for (auto [pointer, place] : llvm::zip_equal(operand.pointers, operand.places))
      pointer = at(shared, add(start, place));
  };
  enter(splitA, from);
  enter(splitB, add(from, plan.bytesOfA()));
  int64_t perRow = kRow / kMmaK, columns = plan.tiling.workgroupN / kMmaN;
  int64_t together = std::max<int64_t>(kChains / int64_t(sums.size()), 1);
  for (int64_t firstK = 0; firstK < plan.tiling.kStep / kMmaK; firstK += perRow) {
    SmallVector<SmallVector<Fragment>> fragments(sums.size());
    for (auto [block, own] : llvm::enumerate(fragments))
      for (int64_t k = firstK; k < firstK + perRow; ++k)
        own.push_back(loadFragment(splitA, int64_t(block) * kWgmmaM / kMmaN, 2, k));
    for (int64_t column = 0; column < columns; column += together)
      addColumns(sums, fragments, firstK, column, std::min(together, columns - column));
  }
}

/// Each warp says that it has read a stage: no product is a whole warpgroup's.
void KernelWriter::releaseByWarp(Value stage) {
  NVVM::SyncWarpOp::create(b, number(-1));
  onlyIf(isEqual(bitAnd(lane, kWarp - 1), number(0)),
         [&] { NVVM::MBarrierArriveOp::create(b, Type(), emptyOf(stage), Value()); });
}
