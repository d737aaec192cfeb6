//===- LaneExchange.cpp - bits of lanes and registers that change places -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a result each of whose elements is at the source's place with its bits permuted. Out:
// shuffles of half of the registers for each bit that goes to lanes. Refused: nothing.
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneShuffle.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

SmallVector<unsigned> xetile::findExchange(unsigned lanes, const LaneTable &result,
                                           const LaneTable &source, ElementMap map) {
  unsigned count = result.flatRegisters(), laneBits = llvm::Log2_32(lanes);
  if (!llvm::isPowerOf2_32(count) || source.flatRegisters() != count)
    return {};
  auto from = [&](unsigned place) -> unsigned {
    int64_t element = map(result.row(place / lanes)[place % lanes]).second;
    unsigned lane = source.someLane(element);
    return unsigned(source.find(element, lane)) * lanes + lane;
  };
  unsigned bits = laneBits + llvm::Log2_32(count);
  SmallVector<unsigned> origin;
  if (from(0) != 0)
    return {};
  for (unsigned bit = 0; bit < bits; ++bit) {
    unsigned place = from(1u << bit);
    if (!llvm::isPowerOf2_32(place) || llvm::is_contained(origin, llvm::Log2_32(place)))
      return {};
    origin.push_back(llvm::Log2_32(place));
  }
  for (unsigned place = 0; place < count * lanes; ++place) {
    unsigned sum = 0;
    for (unsigned bit = 0; bit < bits; ++bit)
      sum ^= (place >> bit & 1) << origin[bit];
    if (sum != from(place))
      return {};
  }
  if (llvm::all_of(ArrayRef(origin).take_front(laneBits),
                   [&](unsigned bit) { return bit < laneBits; }))
    return {};
  return origin;
}

unsigned xetile::exchangeCost(unsigned lanes, const LaneTable &result, ArrayRef<unsigned> origin) {
  unsigned cost = 0, laneBits = llvm::Log2_32(lanes), half = result.flatRegisters() / 2;
  for (unsigned bit : origin.take_front(laneBits))
    cost += bit < laneBits ? 0 : half * (shuffleCost + 3 * selectCost);
  return cost;
}

/// A bit of the lane and one of the register change places: lanes with the bit take the second of
/// two registers, the others the first.
static void swapBits(LaneContext &lanes, MutableArrayRef<Value> values, unsigned lane,
                     unsigned step) {
  LaneBuilder &b = lanes.b;
  uint64_t upper = 0;
  SmallVector<int64_t> partner;
  for (unsigned number = 0; number < lanes.count; ++number) {
    upper |= uint64_t(number >> lane & 1) << number;
    partner.push_back(number ^ (1u << lane));
  }
  Value isUpper = lanes.numbers.isIn(upper);
  for (unsigned flat = 0; flat < values.size(); ++flat) {
    if (flat & step)
      continue;
    Value &low = values[flat], &high = values[flat | step];
    Value sent = arith::SelectOp::create(b, isUpper, low, high);
    Value got = shuffle(lanes, sent, partner);
    low = arith::SelectOp::create(b, isUpper, got, low);
    high = arith::SelectOp::create(b, isUpper, high, got);
    b.moves.selects += 3;
  }
}

Values xetile::exchange(LaneContext &lanes, VectorType piece, const LaneTable &result,
                        LaneSource source, ArrayRef<unsigned> origin) {
  LaneBuilder &b = lanes.b;
  unsigned count = result.flatRegisters(), laneBits = llvm::Log2_32(lanes.count),
           bits = origin.size();
  ArrayRef<unsigned> wantedInLanes = origin.take_front(laneBits);
  Values values;
  for (unsigned flat = 0; flat < count; ++flat)
    values.push_back(
        b.element(source.pieces[flat / source.table.registers], flat % source.table.registers));
  // The bit of the source that is at each bit now.
  auto at = llvm::to_vector(llvm::seq(bits));
  auto placeOf = [&](unsigned bit) { return unsigned(llvm::find(at, bit) - at.begin()); };
  for (unsigned bit = 0; bit < laneBits; ++bit) {
    unsigned place = placeOf(wantedInLanes[bit]);
    if (place < laneBits)
      continue;
    // A bit of the lane that is not to stay, its own if possible.
    unsigned lane = bit;
    for (unsigned other = 0; llvm::is_contained(wantedInLanes, at[lane]); ++other)
      lane = other;
    swapBits(lanes, values, lane, 1u << (place - laneBits));
    std::swap(at[lane], at[place]);
  }
  SmallVector<int64_t> table;
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    int64_t sender = 0;
    for (unsigned bit = 0; bit < laneBits; ++bit)
      sender |= int64_t(lane >> bit & 1) << placeOf(wantedInLanes[bit]);
    table.push_back(sender);
  }
  bool moves = llvm::any_of(llvm::enumerate(table),
                            [](auto entry) { return entry.value() != int64_t(entry.index()); });
  Values elements;
  for (unsigned flat = 0; flat < count; ++flat) {
    unsigned sender = 0;
    for (unsigned bit = laneBits; bit < bits; ++bit)
      sender |= (flat >> (bit - laneBits) & 1) << (placeOf(origin[bit]) - laneBits);
    elements.push_back(moves ? shuffle(lanes, values[sender], table) : values[sender]);
  }
  return b.buildAll(piece, elements);
}
