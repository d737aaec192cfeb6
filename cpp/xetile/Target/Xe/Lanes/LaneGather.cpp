//===- LaneGather.cpp - elements that move between registers and lanes -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: where each element of a result comes from. Out: renamed registers where lanes stay, exchanges
// where bits of lanes and registers change places, else selects by lane and shuffles, or stores to
// and loads from shared local memory where these are fewer. Refused: nothing.
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// For each bit of a place in the result, lanes first, the bit of the source's that it comes from,
/// if elements change between lanes and registers, and only bits of their numbers change places.
SmallVector<unsigned> LaneLowering::findExchange(const LaneTable &result, const LaneTable &source,
                                                 ElementMap map) const {
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

/// One shuffle for each two registers and bit that goes to lanes.
LaneLowering::Values LaneLowering::exchange(VectorType piece, const LaneTable &result,
                                            Source source, ArrayRef<unsigned> origin) {
  unsigned count = result.flatRegisters(), laneBits = llvm::Log2_32(lanes), bits = origin.size();
  ArrayRef<unsigned> wantedInLanes = origin.take_front(laneBits);
  Values values;
  for (unsigned flat = 0; flat < count; ++flat)
    values.push_back(
        element(source.pieces[flat / source.table.registers], flat % source.table.registers));
  SmallVector<unsigned> at; // the bit of the source that is at each bit now
  for (unsigned bit = 0; bit < bits; ++bit)
    at.push_back(bit);
  for (unsigned bit = 0; bit < laneBits; ++bit) {
    unsigned place = llvm::find(at, wantedInLanes[bit]) - at.begin();
    if (place < laneBits)
      continue;
    // A bit of the lane that is not to stay, its own if possible.
    unsigned lane = bit;
    for (unsigned other = 0; llvm::is_contained(wantedInLanes, at[lane]); ++other)
      lane = other;
    uint64_t upper = 0;
    SmallVector<int64_t> partner;
    for (unsigned number = 0; number < lanes; ++number) {
      upper |= uint64_t(number >> lane & 1) << number;
      partner.push_back(number ^ (1u << lane));
    }
    Value isUpper = laneIn(upper);
    unsigned step = 1u << (place - laneBits);
    for (unsigned flat = 0; flat < count; ++flat) {
      if (flat & step)
        continue;
      Value &low = values[flat], &high = values[flat | step];
      Value sent = arith::SelectOp::create(b, loc, isUpper, low, high);
      Value got = shuffle(sent, partner);
      low = arith::SelectOp::create(b, loc, isUpper, got, low);
      high = arith::SelectOp::create(b, loc, isUpper, high, got);
      numSelects += 3;
    }
    std::swap(at[lane], at[place]);
  }
  SmallVector<int64_t> table;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    int64_t sender = 0;
    for (unsigned bit = 0; bit < laneBits; ++bit)
      sender |= int64_t(lane >> bit & 1) << (llvm::find(at, wantedInLanes[bit]) - at.begin());
    table.push_back(sender);
  }
  bool moves = llvm::any_of(llvm::enumerate(table),
                            [](auto entry) { return entry.value() != int64_t(entry.index()); });
  Values elements;
  for (unsigned flat = 0; flat < count; ++flat) {
    unsigned sender = 0;
    for (unsigned bit = laneBits; bit < bits; ++bit)
      sender |= (flat >> (bit - laneBits) & 1)
                << (llvm::find(at, origin[bit]) - at.begin() - laneBits);
    elements.push_back(moves ? shuffle(values[sender], table) : values[sender]);
  }
  Values pieces;
  for (unsigned p = 0; p < result.pieces; ++p)
    pieces.push_back(
        build(piece, ArrayRef(elements).slice(size_t(p) * result.registers, result.registers)));
  return pieces;
}

/// From where each lane takes what it holds in a register of the result: one choice for each
/// register of a source that is wanted.
SmallVector<LaneLowering::Choice>
LaneLowering::planRegister(ArrayRef<int64_t> row, ArrayRef<Source> sources, ElementMap map) const {
  SmallVector<Place, 16> places(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    auto [source, from] = map(row[lane]);
    const LaneTable &table = sources[source].table;
    int flat = table.find(from, lane);
    unsigned at = lane;
    if (flat < 0) {
      at = table.someLane(from);
      flat = table.find(from, at);
    }
    places[lane] = {source, unsigned(flat), at};
  }
  SmallVector<Choice> choices;
  uint64_t done = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (done >> lane & 1)
      continue;
    Choice choice{0, places[lane].source, places[lane].flat, {}};
    bool moves = false;
    SmallVector<int64_t> table(lanes);
    for (unsigned other = 0; other < lanes; ++other) {
      bool alike = places[other].source == choice.source && places[other].flat == choice.flat;
      table[other] = alike ? places[other].lane : -1;
      choice.mask |= uint64_t(alike) << other;
      moves |= alike && places[other].lane != other;
    }
    done |= choice.mask;
    // Lanes that do not care are to make the table simple.
    auto complete = [&](auto guess) {
      for (unsigned other = 0; other < lanes; ++other)
        if (table[other] >= 0 && table[other] != int64_t(guess(other)))
          return false;
      for (unsigned other = 0; other < lanes; ++other)
        table[other] = guess(other);
      return true;
    };
    unsigned from = places[lane].lane, distance = from ^ lane;
    if (!complete([&](unsigned) { return from; }) &&
        !complete([&](unsigned other) { return other ^ distance; }))
      for (unsigned other = 0; other < lanes; ++other)
        table[other] = table[other] < 0 ? int64_t(other) : table[other];
    if (moves)
      choice.senders = table;
    choices.push_back(choice);
  }
  return choices;
}

LaneLowering::Values LaneLowering::gather(VectorType piece, const LaneTable &result,
                                          ArrayRef<Source> sources, ElementMap map) {
  SmallVector<unsigned> origin;
  if (sources.size() == 1)
    origin = findExchange(result, sources[0].table, map);
  SmallVector<SmallVector<Choice>> plan;
  unsigned cost = 0;
  if (!origin.empty()) {
    unsigned laneBits = llvm::Log2_32(lanes), half = result.flatRegisters() / 2;
    for (unsigned bit : ArrayRef(origin).take_front(laneBits))
      cost += bit < laneBits ? 0 : half * (shuffleCost + 3 * selectCost);
  } else {
    for (unsigned flat = 0; flat < result.flatRegisters(); ++flat) {
      plan.push_back(planRegister(result.row(flat), sources, map));
      cost += (plan.back().size() - 1) * selectCost;
      for (const Choice &choice : plan.back())
        cost += choice.senders.empty() ? 0 : shuffleCost;
    }
  }
  if (sources.size() == 1 && isCheaperInMemory(cost, piece, result, sources[0], map))
    return moveThroughMemory(piece, result, sources[0], map);
  if (!origin.empty())
    return exchange(piece, result, sources[0], origin);

  auto valueOf = [&](unsigned source, unsigned flat) {
    const Source &from = sources[source];
    unsigned registers = from.table.registers;
    return element(from.pieces[flat / registers], flat % registers);
  };
  Values pieces;
  for (unsigned p = 0; p < result.pieces; ++p) {
    // Registers of the piece that are one register in all lanes.
    SmallVector<std::optional<std::pair<unsigned, unsigned>>> renamed;
    Values elements(result.registers);
    bool allRenamed = true;
    for (unsigned r = 0; r < result.registers; ++r) {
      ArrayRef<Choice> choices = plan[p * result.registers + r];
      if (choices.size() == 1 && choices[0].senders.empty()) {
        renamed.push_back(std::pair(choices[0].source, choices[0].flat));
        continue;
      }
      allRenamed = false;
      renamed.push_back(std::nullopt);
      SmallVector<std::pair<uint64_t, Value>> values;
      for (const Choice &choice : choices) {
        Value value = valueOf(choice.source, choice.flat);
        values.push_back(
            {choice.mask, choice.senders.empty() ? value : shuffle(value, choice.senders)});
      }
      elements[r] = selectByLane(values);
    }
    if (allRenamed) {
      // Whole pieces and slices of one or two.
      SmallVector<std::pair<unsigned, unsigned>, 2> from; // source, piece
      SmallVector<int64_t> mask;
      for (auto &place : renamed) {
        unsigned registers = sources[place->first].table.registers;
        std::pair<unsigned, unsigned> key(place->first, place->second / registers);
        if (!llvm::is_contained(from, key))
          from.push_back(key);
      }
      auto pieceOf = [&](std::pair<unsigned, unsigned> key) {
        return sources[key.first].pieces[key.second];
      };
      if (from.size() <= 2) {
        unsigned first = sources[from[0].first].table.registers;
        for (auto &place : renamed) {
          unsigned registers = sources[place->first].table.registers;
          bool isFirst = from[0] == std::pair(place->first, unsigned(place->second / registers));
          mask.push_back(place->second % registers + (isFirst ? 0 : first));
        }
        Value left = pieceOf(from[0]);
        bool whole = from.size() == 1 && mask.size() == first &&
                     llvm::all_of(llvm::enumerate(mask), [](auto entry) {
                       return entry.value() == int64_t(entry.index());
                     });
        if (whole && left.getType() == piece) {
          pieces.push_back(left);
        } else if (mask.size() == 1) {
          pieces.push_back(build(piece, {valueOf(renamed[0]->first, renamed[0]->second)}));
        } else {
          Value right = from.size() == 2 ? pieceOf(from[1]) : left;
          pieces.push_back(vector::ShuffleOp::create(b, loc, left, right, mask));
        }
        continue;
      }
    }
    for (auto [value, place] : llvm::zip_equal(elements, renamed))
      if (place)
        value = valueOf(place->first, place->second);
    pieces.push_back(build(piece, elements));
  }
  return pieces;
}

Value LaneLowering::scalarOf(Value vector, int64_t number) {
  auto type = cast<VectorType>(vector.getType());
  LaneMap map = LaneMap::uniform({}, lanes);
  LaneTable one(map, {}, lanes);
  Values result = gather(VectorType::get({1}, storedType(type.getElementType())), one,
                         {sourceOf(vector)}, [&](int64_t) { return std::pair(0u, number); });
  return element(result[0], 0);
}
