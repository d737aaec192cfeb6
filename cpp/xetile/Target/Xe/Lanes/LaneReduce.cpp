//===- LaneReduce.cpp - reductions within and across lanes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vector.multi_reduction and vector.reduction. Out: sums of the registers of a lane, then of
// lanes by shuffles; all lanes that took part hold the result. Refused: nothing.
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<VectorType>(value.getType()).getShape();
}

// Of two values, lanes on one side of a distance go on with the first, those on the other side with
// the second: one shuffle for two. What is left of all of them is sent to all lanes in the end. The
// sum of each is the same tree as by itself.
void LaneLowering::reduceAcross(MutableArrayRef<Value> sums, ArrayRef<unsigned> distances,
                                vector::CombiningKind kind) {
  Values halves(sums.begin(), sums.end());
  SmallVector<unsigned> split;
  for (unsigned distance : distances) {
    SmallVector<int64_t> partner;
    uint64_t upper = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
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
        kept.push_back(selectByLane({{upper, group[i + 1]}, {0, group[i]}}));
        sent.push_back(selectByLane({{upper, group[i]}, {0, group[i + 1]}}));
      }
      if (group.size() == 1)
        kept = sent = {group[0]};
      for (auto [own, other] : llvm::zip_equal(kept, shuffleTogether(sent, partner)))
        next.push_back(vector::makeArithReduction(b, loc, kind, own, other));
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
    sums[i] = shuffle(halves[0], SmallVector<int64_t>(lanes, holder));
  }
}

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
    size_t most = (size_t(1) << distances.size()) == lanes ? lanes : 1;
    size_t count = llvm::bit_floor(std::min(left.size(), most));
    reduceAcross(left.take_front(count), distances, kind);
    left = left.drop_front(count);
  }
  Values pieces;
  for (unsigned p = 0; p < result.pieces; ++p)
    pieces.push_back(
        build(piece, ArrayRef(sums).slice(size_t(p) * result.registers, result.registers)));
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
