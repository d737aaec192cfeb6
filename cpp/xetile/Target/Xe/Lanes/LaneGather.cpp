//===- LaneGather.cpp - elements that move between registers and lanes -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: operations that move elements of vectors. Out: renamed registers where lanes stay, else
// selects by lane and shuffles. Refused: positions known at run time only, of more than one
// element.
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<VectorType>(value.getType()).getShape();
}

/// Where elements change between lanes and registers, and only bits of their numbers change places:
/// one shuffle for each two registers and bit. Nothing for other moves.
LaneLowering::Values LaneLowering::exchange(VectorType piece, const LaneTable &result,
                                            Source source, ElementMap map) {
  unsigned count = result.flatRegisters(), laneBits = llvm::Log2_32(lanes);
  if (!llvm::isPowerOf2_32(count) || source.table.flatRegisters() != count)
    return {};
  auto from = [&](unsigned place) -> unsigned {
    int64_t element = map(result.row(place / lanes)[place % lanes]).second;
    unsigned lane = source.table.someLane(element);
    return unsigned(source.table.find(element, lane)) * lanes + lane;
  };
  unsigned bits = laneBits + llvm::Log2_32(count);
  SmallVector<unsigned> origin; // of each bit of a place, lanes first
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
  ArrayRef<unsigned> wantedInLanes = ArrayRef(origin).take_front(laneBits);
  if (llvm::all_of(wantedInLanes, [&](unsigned bit) { return bit < laneBits; }))
    return {};

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
        build(piece, ArrayRef(elements).slice(p * result.registers, result.registers)));
  return pieces;
}

/// Where a register of the result comes from, for each lane.
LaneLowering::Values LaneLowering::gather(VectorType piece, const LaneTable &result,
                                          ArrayRef<Source> sources, ElementMap map) {
  Values pieces;
  if (sources.size() == 1)
    if (pieces = exchange(piece, result, sources[0], map); !pieces.empty())
      return pieces;
  SmallVector<Place> places(lanes);
  auto valueOf = [&](unsigned source, unsigned flat) {
    const Source &from = sources[source];
    unsigned registers = from.table.registers;
    return element(from.pieces[flat / registers], flat % registers);
  };
  for (unsigned p = 0; p < result.pieces; ++p) {
    // Registers of the piece that are one register in all lanes.
    SmallVector<std::optional<std::pair<unsigned, unsigned>>> renamed;
    Values elements(result.registers);
    bool allRenamed = true;
    for (unsigned r = 0; r < result.registers; ++r) {
      bool own = true, same = true;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        auto [source, from] = map(result.at(p, r, lane));
        const LaneTable &table = sources[source].table;
        int flat = table.find(from, lane);
        unsigned at = lane;
        if (flat < 0) {
          own = false;
          at = table.someLane(from);
          flat = table.find(from, at);
        }
        places[lane] = {source, unsigned(flat), at};
        same &= places[lane].source == places[0].source && places[lane].flat == places[0].flat;
      }
      if (own && same) {
        renamed.push_back(std::pair(places[0].source, places[0].flat));
        continue;
      }
      allRenamed = false;
      renamed.push_back(std::nullopt);
      // One shuffle for each register that is wanted, then selects.
      SmallVector<std::pair<uint64_t, Value>> choices;
      uint64_t done = 0;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        if (done >> lane & 1)
          continue;
        uint64_t mask = 0;
        bool moves = false;
        SmallVector<int64_t> table(lanes);
        for (unsigned other = 0; other < lanes; ++other) {
          bool alike = places[other].source == places[lane].source &&
                       places[other].flat == places[lane].flat;
          table[other] = alike ? places[other].lane : -1;
          mask |= uint64_t(alike) << other;
          moves |= alike && places[other].lane != other;
        }
        done |= mask;
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
        Value value = valueOf(places[lane].source, places[lane].flat);
        choices.push_back({mask, moves ? shuffle(value, table) : value});
      }
      elements[r] = choices.size() == 1 ? choices[0].second : selectByLane(choices);
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

LogicalResult LaneLowering::lowerStructural(Operation *op) {
  // One result from one or two operands, by position.
  auto moveElements = [&](Value result, ArrayRef<Value> operands, ElementMap map) {
    SmallVector<Source> sources;
    for (Value operand : operands)
      sources.push_back(sourceOf(operand));
    define(result, gather(pieceType(result), tableOf(result), sources, map));
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<ConvertLanesOp, xegpu::ConvertLayoutOp>([&](auto convert) {
        return moveElements(convert.getResult(), {convert.getSource()},
                            [](int64_t element) { return std::pair(0u, element); });
      })
      .Case([&](vector::ShapeCastOp cast) {
        return moveElements(cast.getResult(), {cast.getSource()},
                            [](int64_t element) { return std::pair(0u, element); });
      })
      .Case([&](vector::TransposeOp transpose) {
        ArrayRef<int64_t> to = shapeOf(transpose.getResult()),
                          from = shapeOf(transpose.getVector());
        return moveElements(transpose.getResult(), {transpose.getVector()}, [&](int64_t element) {
          LaneMap::Shape at = unravel(element, to), source(from.size());
          for (auto [dim, permuted] : llvm::enumerate(transpose.getPermutation()))
            source[permuted] = at[dim];
          return std::pair(0u, ravel(source, from));
        });
      })
      .Case([&](vector::BroadcastOp broadcast) {
        ArrayRef<int64_t> to = shapeOf(broadcast.getVector()),
                          from = shapeOf(broadcast.getSource());
        return moveElements(broadcast.getVector(), {broadcast.getSource()}, [&](int64_t element) {
          LaneMap::Shape at = unravel(element, to), source;
          for (auto [place, size] : llvm::zip_equal(ArrayRef(at).take_back(from.size()), from))
            source.push_back(size == 1 ? 0 : place);
          return std::pair(0u, ravel(source, from));
        });
      })
      .Case([&](vector::ExtractStridedSliceOp slice) {
        ArrayRef<int64_t> to = shapeOf(slice.getResult()), from = shapeOf(slice.getSource());
        SmallVector<int64_t> offsets;
        slice.getOffsets(offsets);
        offsets.resize(from.size(), 0);
        return moveElements(slice.getResult(), {slice.getSource()}, [&](int64_t element) {
          LaneMap::Shape at = unravel(element, to);
          for (auto [place, offset] : llvm::zip_equal(at, offsets))
            place += offset;
          return std::pair(0u, ravel(at, from));
        });
      })
      .Case([&](vector::InsertStridedSliceOp insert) {
        ArrayRef<int64_t> to = shapeOf(insert.getResult()),
                          from = shapeOf(insert.getValueToStore());
        SmallVector<int64_t> offsets;
        for (Attribute offset : insert.getOffsets())
          offsets.push_back(cast<IntegerAttr>(offset).getInt());
        SmallVector<int64_t> sizes(to.size() - from.size(), 1);
        llvm::append_range(sizes, from);
        return moveElements(
            insert.getResult(), {insert.getValueToStore(), insert.getDest()}, [&](int64_t element) {
              LaneMap::Shape at = unravel(element, to);
              for (auto [place, offset, size] : llvm::zip_equal(at, offsets, sizes)) {
                place -= offset;
                if (place < 0 || place >= size)
                  return std::pair(1u, element);
              }
              return std::pair(0u, ravel(at, sizes));
            });
      })
      .Case([&](vector::InterleaveOp interleave) {
        return moveElements(
            interleave.getResult(), {interleave.getLhs(), interleave.getRhs()},
            [](int64_t element) { return std::pair(unsigned(element % 2), element / 2); });
      })
      .Case([&](vector::DeinterleaveOp deinterleave) {
        for (auto [number, result] : llvm::enumerate(deinterleave.getResults()))
          if (failed(moveElements(result, {deinterleave.getSource()},
                                  [&, number = number](int64_t element) {
                                    return std::pair(0u, element * 2 + int64_t(number));
                                  })))
            return failure();
        return success();
      })
      .Case([&](vector::ShuffleOp shuffle) {
        ArrayRef<int64_t> to = shapeOf(shuffle.getResult());
        int64_t rows = shapeOf(shuffle.getV1()).empty() ? 1 : shapeOf(shuffle.getV1())[0];
        int64_t row = llvm::product_of(to.drop_front());
        return moveElements(
            shuffle.getResult(), {shuffle.getV1(), shuffle.getV2()}, [&](int64_t element) {
              int64_t from = std::max<int64_t>(shuffle.getMask()[element / row], 0);
              unsigned source = from >= rows;
              return std::pair(source, (from - (source ? rows : 0)) * row + element % row);
            });
      })
      .Case([&](vector::ExtractOp extract) { return lowerExtract(extract); })
      .Case([&](vector::InsertOp insert) { return lowerInsert(insert); })
      .Case([&](vector::BitCastOp cast) { return lowerBitcast(cast); })
      .Case([&](vector::MultiDimReductionOp reduction) { return lowerMultiReduction(reduction); })
      .Case([&](vector::ReductionOp reduction) { return lowerReduction(reduction); })
      .Case([&](vector::ToElementsOp elements) {
        for (auto [number, result] : llvm::enumerate(elements.getResults()))
          result.replaceAllUsesWith(scalarOf(elements.getSource(), number));
        return success();
      })
      .Default([](Operation *unknown) {
        return LogicalResult(unknown->emitOpError("has no lowering to lanes"));
      });
}

LogicalResult LaneLowering::lowerExtract(vector::ExtractOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getSource());
  unsigned count = op.getNumIndices();
  auto dynamic = op.getDynamicPosition();
  if (!dynamic.empty()) {
    // Every position, then the one that is asked for.
    if (isa<VectorType>(op.getResult().getType()))
      return op.emitOpError("has a position that is known at run time only, of more than one "
                            "element; expected a constant one");
    Value number = index(0);
    unsigned at = 0;
    for (auto [position, size] : llvm::zip_equal(op.getStaticPosition(), from)) {
      Value place = ShapedType::isDynamic(position) ? Value(dynamic[at++]) : index(position);
      number = add(mul(number, index(size)), place);
    }
    Value result;
    for (int64_t element = 0, end = llvm::product_of(from); element < end; ++element) {
      Value value = scalarOf(op.getSource(), element);
      Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number, index(element));
      result = result ? arith::SelectOp::create(b, loc, here, value, result).getResult() : value;
    }
    op.getResult().replaceAllUsesWith(result);
    return success();
  }
  LaneMap::Shape corner(from.size(), 0);
  llvm::copy(op.getStaticPosition(), corner.begin());
  int64_t first = ravel(corner, from);
  if (!isa<VectorType>(op.getResult().getType())) {
    op.getResult().replaceAllUsesWith(scalarOf(op.getSource(), first));
    return success();
  }
  (void)count;
  SmallVector<Source> sources{sourceOf(op.getSource())};
  define(op.getResult(), gather(pieceType(op.getResult()), tableOf(op.getResult()), sources,
                                [&](int64_t element) { return std::pair(0u, first + element); }));
  return success();
}

LogicalResult LaneLowering::lowerInsert(vector::InsertOp op) {
  ArrayRef<int64_t> to = shapeOf(op.getResult());
  bool scalar = !isa<VectorType>(op.getValueToStoreType());
  const LaneTable &table = tableOf(op.getResult());
  // A scalar is the same in all lanes.
  LaneTable one(LaneMap::uniform({}, lanes), {}, lanes);
  Values splat;
  SmallVector<Source> sources;
  if (scalar) {
    splat.push_back(build(VectorType::get({1}, op.getValueToStoreType()), {op.getValueToStore()}));
    sources.push_back({splat, one});
  } else {
    sources.push_back(sourceOf(op.getValueToStore()));
  }
  sources.push_back(sourceOf(op.getDest()));
  auto dynamic = op.getDynamicPosition();
  if (!dynamic.empty()) {
    if (!scalar)
      return op.emitOpError("has a position that is known at run time only, of more than one "
                            "element; expected a constant one");
    Value number = index(0);
    unsigned at = 0;
    for (auto [position, size] : llvm::zip_equal(op.getStaticPosition(), to)) {
      Value place = ShapedType::isDynamic(position) ? Value(dynamic[at++]) : index(position);
      number = add(mul(number, index(size)), place);
    }
    Values old = gather(pieceType(op.getResult()), table, ArrayRef(sources).drop_front(),
                        [](int64_t element) { return std::pair(0u, element); });
    Values pieces;
    for (unsigned p = 0; p < table.pieces; ++p) {
      Values elements;
      for (unsigned r = 0; r < table.registers; ++r) {
        SmallVector<int64_t> mine;
        for (unsigned lane = 0; lane < lanes; ++lane)
          mine.push_back(table.at(p, r, lane));
        Value here =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number, laneIndex(mine));
        elements.push_back(
            arith::SelectOp::create(b, loc, here, op.getValueToStore(), element(old[p], r)));
      }
      pieces.push_back(build(pieceType(op.getResult()), elements));
    }
    define(op.getResult(), pieces);
    return success();
  }
  LaneMap::Shape corner(to.size(), 0);
  llvm::copy(op.getStaticPosition(), corner.begin());
  int64_t first = ravel(corner, to),
          count = llvm::product_of(to.drop_front(op.getStaticPosition().size()));
  define(op.getResult(), gather(pieceType(op.getResult()), table, sources, [&](int64_t element) {
           return element >= first && element < first + count ? std::pair(0u, element - first)
                                                              : std::pair(1u, element);
         }));
  return success();
}

LogicalResult LaneLowering::lowerBitcast(vector::BitCastOp op) {
  int64_t from = op.getSourceVectorType().getElementTypeBitWidth(),
          to = op.getResultVectorType().getElementTypeBitWidth();
  bool narrows = to < from;
  int64_t ratio = narrows ? from / to : to / from;
  LaneMap result(layoutOf(op.getResult()));
  // The side with wide elements says which lane has what; neighbours must be together.
  std::optional<LaneMap> source =
      narrows ? result.joined(ratio) : std::optional(result.split(ratio));
  if (!source) {
    // The result in the source's lanes, moved behind.
    LaneMap given(layoutOf(op.getSource()));
    std::optional<LaneMap> follows =
        narrows ? std::optional(given.split(ratio)) : given.joined(ratio);
    source = follows ? given : LaneMap::natural(shapeOf(op.getSource()), lanes);
    result = narrows ? source->split(ratio) : LaneMap();
  }
  const LaneTable &sourceTable = tableFor(source->attr(op.getContext()), shapeOf(op.getSource()));
  Type fromType = storedType(op.getSourceVectorType().getElementType()),
       toType = storedType(op.getResultVectorType().getElementType());
  auto piece = VectorType::get({int64_t(source->numRegisters())}, fromType);
  Values pieces = gather(piece, sourceTable, {sourceOf(op.getSource())},
                         [](int64_t element) { return std::pair(0u, element); });
  auto cast = VectorType::get(
      {narrows ? source->numRegisters() * ratio : source->numRegisters() / ratio}, toType);
  for (Value &value : pieces)
    value = b.createOrFold<vector::BitCastOp>(loc, cast, value);
  LaneLayoutAttr made = result.attr(op.getContext());
  if (made == layoutOf(op.getResult())) {
    define(op.getResult(), pieces);
    return success();
  }
  const LaneTable &table = tableFor(made, shapeOf(op.getResult()));
  define(op.getResult(),
         gather(pieceType(op.getResult()), tableOf(op.getResult()), {{pieces, table}},
                [](int64_t element) { return std::pair(0u, element); }));
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LaneLowering::Values LaneLowering::reduce(Source source, const LaneMap &sourceMap,
                                          const LaneTable &result, VectorType piece,
                                          vector::CombiningKind kind,
                                          function_ref<int64_t(int64_t)> map) {
  // Of each lane's registers those that end in one.
  SmallVector<Value> sums(result.flatRegisters());
  for (unsigned flat = 0; flat < source.table.flatRegisters(); ++flat) {
    int to = result.find(map(source.table.row(flat)[0]), 0);
    Value value =
        element(source.pieces[flat / source.table.registers], flat % source.table.registers);
    Value &sum = sums[to];
    sum = sum ? vector::makeArithReduction(b, loc, kind, sum, value) : value;
  }
  // Then those of the lanes that hold different elements of it.
  for (unsigned bit = 0; bit < sourceMap.lanes.size(); ++bit) {
    unsigned distance = 1u << bit;
    if (source.table.row(0)[distance] == source.table.row(0)[0])
      continue;
    if (map(source.table.row(0)[distance]) != map(source.table.row(0)[0]))
      continue;
    SmallVector<int64_t> table;
    for (unsigned lane = 0; lane < lanes; ++lane)
      table.push_back(lane ^ distance);
    for (Value &sum : sums)
      sum = vector::makeArithReduction(b, loc, kind, sum, shuffle(sum, table));
  }
  Values pieces;
  for (unsigned p = 0; p < result.pieces; ++p)
    pieces.push_back(build(piece, ArrayRef(sums).slice(p * result.registers, result.registers)));
  return pieces;
}

LogicalResult LaneLowering::lowerMultiReduction(vector::MultiDimReductionOp op) {
  Value source = op.getSource();
  ArrayRef<int64_t> from = shapeOf(source);
  SmallVector<bool> reduced = op.getReductionMask();
  SmallVector<int64_t> kept;
  for (auto [size, isReduced] : llvm::zip_equal(from, reduced))
    if (!isReduced)
      kept.push_back(size);
  LaneMap sourceMap(layoutOf(source));
  LaneLayoutAttr partial = sourceMap.dropped(reduced).attr(op.getContext());
  const LaneTable &table = tableFor(partial, kept);
  auto map = [&](int64_t element) {
    LaneMap::Shape at = unravel(element, from), result;
    for (auto [place, isReduced] : llvm::zip_equal(at, reduced))
      if (!isReduced)
        result.push_back(place);
    return ravel(result, kept);
  };
  Type type = storedType(op.getSourceVectorType().getElementType());
  auto piece = VectorType::get({int64_t(table.registers)}, type);
  Values sums = reduce(sourceOf(source), sourceMap, table, piece, op.getKind(), map);
  if (auto vector = dyn_cast<VectorType>(op.getDest().getType())) {
    Values moved = gather(pieceType(op.getDest()), tableOf(op.getDest()), {{sums, table}},
                          [](int64_t element) { return std::pair(0u, element); });
    Values start = gather(pieceType(op.getDest()), tableOf(op.getDest()), {sourceOf(op.getAcc())},
                          [](int64_t element) { return std::pair(0u, element); });
    for (auto [value, acc] : llvm::zip_equal(moved, start))
      value = vector::makeArithReduction(b, loc, op.getKind(), value, acc);
    define(op.getDest(), moved);
    return success();
  }
  Value sum = vector::makeArithReduction(b, loc, op.getKind(), element(sums[0], 0), op.getAcc());
  op.getDest().replaceAllUsesWith(sum);
  return success();
}

LogicalResult LaneLowering::lowerReduction(vector::ReductionOp op) {
  Value source = op.getVector();
  LaneMap sourceMap(layoutOf(source));
  LaneMap whole = LaneMap::uniform({}, lanes);
  LaneTable table(whole, {}, lanes);
  auto piece = VectorType::get({1}, storedType(op.getSourceVectorType().getElementType()));
  Values sums = reduce(sourceOf(source), sourceMap, table, piece, op.getKind(),
                       [](int64_t) { return int64_t(0); });
  Value sum = element(sums[0], 0);
  if (op.getAcc())
    sum = vector::makeArithReduction(b, loc, op.getKind(), sum, op.getAcc());
  op.getDest().replaceAllUsesWith(sum);
  return success();
}
