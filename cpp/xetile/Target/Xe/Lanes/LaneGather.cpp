//===- LaneGather.cpp - elements that move between registers and lanes -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: where each element of a result comes from. Out: renamed registers where lanes stay, exchanges
// where bits of lanes and registers change places, else selects by lane and shuffles, or stores to
// and loads from shared local memory where these are fewer. Refused: nothing.
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneShuffle.h"

using namespace mlir;
using namespace xetile;

namespace {

/// A register of a source, of all its pieces.
struct Register {
  unsigned source, flat;
  bool operator==(const Register &other) const {
    return source == other.source && flat == other.flat;
  }
};

/// Lanes of `mask` take a register of a source: their own, or that of `senders`.
struct Choice {
  uint64_t mask;
  Register from;
  SmallVector<int64_t> senders;
};

/// The senders of lanes with a place in `table`; those that do not care (-1) are to make it simple.
void completeSenders(MutableArrayRef<int64_t> table, unsigned lane) {
  auto complete = [&](auto guess) {
    for (auto [other, sender] : llvm::enumerate(table))
      if (sender >= 0 && sender != int64_t(guess(other)))
        return false;
    for (auto [other, sender] : llvm::enumerate(table))
      sender = guess(other);
    return true;
  };
  unsigned from = table[lane], distance = from ^ lane;
  if (!complete([&](unsigned) { return from; }) &&
      !complete([&](unsigned other) { return other ^ distance; }))
    for (auto [other, sender] : llvm::enumerate(table))
      sender = sender < 0 ? int64_t(other) : sender;
}

/// From where each lane takes what it holds in a register of the result: one choice for each
/// register of a source that is wanted.
SmallVector<Choice> planRegister(ArrayRef<int64_t> row, ArrayRef<LaneSource> sources,
                                 ElementMap map) {
  unsigned count = row.size();
  struct Place {
    Register from;
    unsigned lane;
  };
  SmallVector<Place, 16> places(count);
  for (unsigned lane = 0; lane < count; ++lane) {
    auto [source, element] = map(row[lane]);
    const LaneTable &table = sources[source].table;
    int flat = table.find(element, lane);
    unsigned at = lane;
    if (flat < 0) {
      at = table.someLane(element);
      flat = table.find(element, at);
    }
    places[lane] = {{source, unsigned(flat)}, at};
  }
  SmallVector<Choice> choices;
  uint64_t done = 0;
  for (unsigned lane = 0; lane < count; ++lane) {
    if (done >> lane & 1)
      continue;
    Choice choice{0, places[lane].from, {}};
    bool moves = false;
    SmallVector<int64_t> table(count);
    for (unsigned other = 0; other < count; ++other) {
      bool alike = places[other].from == choice.from;
      table[other] = alike ? places[other].lane : -1;
      choice.mask |= uint64_t(alike) << other;
      moves |= alike && places[other].lane != other;
    }
    done |= choice.mask;
    completeSenders(table, lane);
    if (moves)
      choice.senders = table;
    choices.push_back(choice);
  }
  return choices;
}

Value valueOf(LaneBuilder &b, ArrayRef<LaneSource> sources, Register at) {
  const LaneSource &from = sources[at.source];
  unsigned registers = from.table.registers;
  return b.element(from.pieces[at.flat / registers], at.flat % registers);
}

/// Registers that are each one register in all lanes: a whole piece, or a slice of one or two. Null
/// where they are of more pieces.
Value sliceOf(LaneBuilder &b, VectorType piece, ArrayRef<LaneSource> sources,
              ArrayRef<Register> wanted) {
  auto pieceOf = [&](Register at) {
    return std::pair(at.source, at.flat / sources[at.source].table.registers);
  };
  SmallVector<std::pair<unsigned, unsigned>, 2> from; // source, piece
  for (Register at : wanted)
    if (!llvm::is_contained(from, pieceOf(at)))
      from.push_back(pieceOf(at));
  if (from.size() > 2)
    return {};
  unsigned first = sources[from[0].first].table.registers;
  SmallVector<int64_t> mask;
  for (Register at : wanted)
    mask.push_back(at.flat % sources[at.source].table.registers +
                   (from[0] == pieceOf(at) ? 0 : first));
  Value left = sources[from[0].first].pieces[from[0].second];
  bool whole = from.size() == 1 && mask.size() == first &&
               llvm::all_of(llvm::enumerate(mask),
                            [](auto entry) { return entry.value() == int64_t(entry.index()); });
  if (whole && left.getType() == piece)
    return left;
  if (mask.size() == 1)
    return b.build(piece, {valueOf(b, sources, wanted[0])});
  Value right = from.size() == 2 ? sources[from[1].first].pieces[from[1].second] : left;
  return vector::ShuffleOp::create(b, left, right, mask);
}

/// A piece whose registers are chosen by `plan`.
Value gatherPiece(LaneContext &lanes, VectorType piece, ArrayRef<LaneSource> sources,
                  ArrayRef<SmallVector<Choice>> plan) {
  auto isRenamed = [](ArrayRef<Choice> choices) {
    return choices.size() == 1 && choices[0].senders.empty();
  };
  if (llvm::all_of(plan, isRenamed)) {
    SmallVector<Register> wanted;
    for (ArrayRef<Choice> choices : plan)
      wanted.push_back(choices[0].from);
    if (Value slice = sliceOf(lanes.b, piece, sources, wanted))
      return slice;
  }
  Values elements(plan.size());
  for (auto [element, choices] : llvm::zip_equal(elements, plan)) {
    if (isRenamed(choices))
      continue;
    SmallVector<std::pair<uint64_t, Value>> values;
    for (const Choice &choice : choices) {
      Value value = valueOf(lanes.b, sources, choice.from);
      values.push_back(
          {choice.mask, choice.senders.empty() ? value : shuffle(lanes, value, choice.senders)});
    }
    element = lanes.numbers.select(values);
  }
  for (auto [element, choices] : llvm::zip_equal(elements, plan))
    if (isRenamed(choices))
      element = valueOf(lanes.b, sources, choices[0].from);
  return lanes.b.build(piece, elements);
}

} // namespace

Values xetile::gather(LaneContext &lanes, VectorType piece, const LaneTable &result,
                      ArrayRef<LaneSource> sources, ElementMap map) {
  SmallVector<unsigned> origin;
  if (sources.size() == 1)
    origin = findExchange(lanes.count, result, sources[0].table, map);
  SmallVector<SmallVector<Choice>> plan;
  unsigned cost = 0;
  if (!origin.empty()) {
    cost = exchangeCost(lanes.count, result, origin);
  } else {
    for (unsigned flat = 0; flat < result.flatRegisters(); ++flat) {
      plan.push_back(planRegister(result.row(flat), sources, map));
      cost += (plan.back().size() - 1) * selectCost;
      for (const Choice &choice : plan.back())
        cost += choice.senders.empty() ? 0 : shuffleCost;
    }
  }
  if (sources.size() == 1 && isCheaperInMemory(lanes, cost, piece, result, sources[0], map))
    return moveThroughMemory(lanes, piece, result, sources[0], map);
  if (!origin.empty())
    return exchange(lanes, piece, result, sources[0], origin);
  Values pieces;
  for (unsigned p = 0; p < result.pieces; ++p)
    pieces.push_back(
        gatherPiece(lanes, piece, sources,
                    ArrayRef(plan).slice(size_t(p) * result.registers, result.registers)));
  return pieces;
}

void xetile::defineByElements(LaneContext &lanes, Value result, ArrayRef<Value> operands,
                              ElementMap map) {
  SmallVector<LaneSource> sources;
  for (Value operand : operands)
    sources.push_back(lanes.held.sourceOf(operand));
  lanes.held.define(result, gather(lanes, lanes.held.pieceType(result), lanes.held.tableOf(result),
                                   sources, map));
}

Value xetile::scalarOf(LaneContext &lanes, Value vector, int64_t number) {
  auto type = cast<VectorType>(vector.getType());
  LaneTable one(LaneMap::uniform({}, lanes.count), {}, lanes.count);
  Type element = LaneFragments::storedType(type.getElementType());
  Values result = gather(lanes, VectorType::get({1}, element), one, {lanes.held.sourceOf(vector)},
                         [&](int64_t) { return std::pair(0u, number); });
  return lanes.b.element(result[0], 0);
}
