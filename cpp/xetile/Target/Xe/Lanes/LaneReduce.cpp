//===- LaneReduce.cpp - reductions within and across lanes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vector.multi_reduction and vector.reduction. Out: sums of the registers of a lane, then of
// lanes by shuffles; all lanes that took part hold the result. Refused: nothing.
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "xetile/Target/Xe/Lanes/LaneShuffle.h"

using namespace mlir;
using namespace xetile;

/// Combines each value with those of the lanes at the distances; all of these get the result.
// Of two values, lanes on one side of a distance go on with the first, those on the other side with
// the second: one shuffle for two. What is left of all of them is sent to all lanes in the end. The
// sum of each is the same tree as by itself.
static void reduceAcross(LaneContext &lanes, MutableArrayRef<Value> sums,
                         ArrayRef<unsigned> distances, vector::CombiningKind kind) {
  LaneBuilder &b = lanes.b;
  Values halves(sums.begin(), sums.end());
  SmallVector<unsigned> split;
  for (unsigned distance : distances) {
    SmallVector<int64_t> partner;
    uint64_t upper = 0;
    for (unsigned lane = 0; lane < lanes.count; ++lane) {
      partner.push_back(lane ^ distance);
      upper |= uint64_t(lane & distance ? 1 : 0) << lane;
    }
    Values next;
    size_t together = 2 * valuesInWord(halves.front().getType());
    for (ArrayRef<Value> left = halves; !left.empty();) {
      ArrayRef<Value> group = left.take_front(together);
      left = left.drop_front(group.size());
      Values kept, sent;
      for (size_t i = 0; i + 1 < group.size(); i += 2) {
        kept.push_back(lanes.numbers.select({{upper, group[i + 1]}, {0, group[i]}}));
        sent.push_back(lanes.numbers.select({{upper, group[i]}, {0, group[i + 1]}}));
      }
      if (group.size() == 1)
        kept = sent = {group[0]};
      for (auto [own, other] : llvm::zip_equal(kept, shuffleTogether(lanes, sent, partner)))
        next.push_back(vector::makeArithReduction(b, b.getLoc(), kind, own, other));
    }
    if (halves.size() > 1)
      split.push_back(distance);
    halves = next;
  }
  if (split.empty()) {
    sums[0] = halves[0];
    return;
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    unsigned holder = 0;
    for (auto [bit, distance] : llvm::enumerate(split))
      holder |= i >> bit & 1 ? distance : 0;
    sums[i] = shuffle(lanes, halves[0], SmallVector<int64_t>(lanes.count, holder));
  }
}

/// Folds all elements of `source` that `map` sends to one of the result's, over all lanes.
static Values reduce(LaneContext &lanes, LaneSource source, const LaneMap &sourceMap,
                     const LaneTable &result, VectorType piece, vector::CombiningKind kind,
                     function_ref<int64_t(int64_t)> map) {
  LaneBuilder &b = lanes.b;
  // Of each lane's registers those that end in one.
  SmallVector<Value> sums(result.flatRegisters());
  for (unsigned flat = 0; flat < source.table.flatRegisters(); ++flat) {
    int to = result.find(map(source.table.row(flat)[0]), 0);
    Value value =
        b.element(source.pieces[flat / source.table.registers], flat % source.table.registers);
    Value &sum = sums[to];
    sum = sum ? vector::makeArithReduction(b, b.getLoc(), kind, sum, value) : value;
  }
  // Then those of the lanes that hold different elements of it.
  SmallVector<unsigned> distances;
  for (unsigned bit = 0; bit < sourceMap.lanes.size(); ++bit) {
    unsigned distance = 1u << bit;
    if (source.table.row(0)[distance] != source.table.row(0)[0] &&
        map(source.table.row(0)[distance]) == map(source.table.row(0)[0]))
      distances.push_back(distance);
  }
  MutableArrayRef<Value> left = sums;
  while (!left.empty()) {
    // As many at once as halve to one, if all lanes get the same.
    size_t most = (size_t(1) << distances.size()) == lanes.count ? lanes.count : 1;
    size_t count = llvm::bit_floor(std::min(left.size(), most));
    reduceAcross(lanes, left.take_front(count), distances, kind);
    left = left.drop_front(count);
  }
  return b.buildAll(piece, sums);
}

static LogicalResult lower(vector::MultiDimReductionOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  Value source = op.getSource();
  ArrayRef<int64_t> from = shapeOf(source);
  SmallVector<bool> reduced = op.getReductionMask();
  SmallVector<int64_t> kept;
  for (auto [size, isReduced] : llvm::zip_equal(from, reduced))
    if (!isReduced)
      kept.push_back(size);
  LaneMap sourceMap(lanes.held.layoutOf(source));
  LaneLayoutAttr partial = sourceMap.dropped(reduced).attr(op.getContext());
  const LaneTable &table = lanes.held.tableFor(partial, kept);
  auto map = [&](int64_t element) {
    LaneMap::Shape at = unravel(element, from), result;
    for (auto [place, isReduced] : llvm::zip_equal(at, reduced))
      if (!isReduced)
        result.push_back(place);
    return ravel(result, kept);
  };
  Type type = LaneFragments::storedType(op.getSourceVectorType().getElementType());
  auto piece = VectorType::get({int64_t(table.registers)}, type);
  Values sums =
      reduce(lanes, lanes.held.sourceOf(source), sourceMap, table, piece, op.getKind(), map);
  if (auto vector = dyn_cast<VectorType>(op.getDest().getType())) {
    Values moved = gather(lanes, lanes.held.pieceType(op.getDest()),
                          lanes.held.tableOf(op.getDest()), {{sums, table}}, sameElement);
    Values start =
        gather(lanes, lanes.held.pieceType(op.getDest()), lanes.held.tableOf(op.getDest()),
               {lanes.held.sourceOf(op.getAcc())}, sameElement);
    for (auto [value, acc] : llvm::zip_equal(moved, start))
      value = vector::makeArithReduction(b, b.getLoc(), op.getKind(), value, acc);
    lanes.held.define(op.getDest(), moved);
    return success();
  }
  Value sum =
      vector::makeArithReduction(b, b.getLoc(), op.getKind(), b.element(sums[0], 0), op.getAcc());
  op.getDest().replaceAllUsesWith(sum);
  return success();
}

static LogicalResult lower(vector::ReductionOp op, LaneContext &lanes) {
  LaneBuilder &b = lanes.b;
  Value source = op.getVector();
  LaneMap sourceMap(lanes.held.layoutOf(source));
  LaneMap whole = LaneMap::uniform({}, lanes.count);
  LaneTable table(whole, {}, lanes.count);
  auto piece =
      VectorType::get({1}, LaneFragments::storedType(op.getSourceVectorType().getElementType()));
  Values sums = reduce(lanes, lanes.held.sourceOf(source), sourceMap, table, piece, op.getKind(),
                       [](int64_t) { return int64_t(0); });
  Value sum = b.element(sums[0], 0);
  if (op.getAcc())
    sum = vector::makeArithReduction(b, b.getLoc(), op.getKind(), sum, op.getAcc());
  op.getDest().replaceAllUsesWith(sum);
  return success();
}

void xetile::addReductionLowerings(LaneLowerings &table) {
  table.addMove<vector::MultiDimReductionOp>(lower);
  table.addMove<vector::ReductionOp>(lower);
}
