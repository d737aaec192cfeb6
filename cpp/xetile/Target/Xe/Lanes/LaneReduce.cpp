//===- LaneReduce.cpp - reductions within and across lanes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vector.multi_reduction and vector.reduction. Out: sums of the registers of a lane, then of
// lanes by shuffles; all lanes that took part hold the result. Refused: nothing.
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Lanes/LaneGather.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"
#include "xetile/Target/Xe/Lanes/LaneShuffle.h"
#include <limits>

using namespace mlir;
using namespace xetile;

/// OpenCL's reduction of a whole subgroup, or "". Intel's compiler halves registers for it, where a
/// shuffle takes two to four moves. There is none for maxima that keep NaN.
static StringRef subgroupReduction(Type type, vector::CombiningKind kind) {
  using Kind = vector::CombiningKind;
  if (kind == Kind::ADD && type.isInteger(32))
    return "_Z20sub_group_reduce_addi";
  if (!type.isF32())
    return "";
  return kind == Kind::ADD       ? "_Z20sub_group_reduce_addf"
         : kind == Kind::MAXNUMF ? "_Z20sub_group_reduce_maxf"
         : kind == Kind::MINNUMF ? "_Z20sub_group_reduce_minf"
                                 : "";
}

/// True for constants of which none is NaN.
static bool isNumber(Value value) {
  Attribute attr;
  if (!value || !matchPattern(value, m_Constant(&attr)))
    return false;
  if (auto number = dyn_cast<FloatAttr>(attr))
    return !number.getValue().isNaN();
  auto all = dyn_cast<DenseFPElementsAttr>(attr);
  return all && llvm::none_of(all.getValues<APFloat>(),
                              [](const APFloat &number) { return number.isNaN(); });
}

/// True if a maximum (minimum) that drops NaN is of a constant number, too, before (`start`) or
/// behind (`result`) all else: then it is the same if infinity stands in place of each NaN.
static bool isOfNumber(Value start, Value result) {
  if (isNumber(start))
    return true;
  return !result.use_empty() && llvm::all_of(result.getUsers(), [](Operation *user) {
    if (auto cast = dyn_cast<vector::ShapeCastOp>(user))
      return isOfNumber({}, cast.getResult());
    return isa<arith::MaxNumFOp, arith::MinNumFOp>(user) &&
           llvm::any_of(user->getOperands(), isNumber);
  });
}

/// The reduction of a value over all lanes by OpenCL's function; null where it has none. What it
/// makes of NaN is the driver's choice, so that maxima that drop NaN get infinity in its place,
/// where that is the same (`dropsNaN`).
static Value reduceSubgroup(LaneContext &lanes, Value value, vector::CombiningKind kind,
                            bool dropsNaN) {
  using Kind = vector::CombiningKind;
  LaneBuilder &b = lanes.b;
  Type type = value.getType();
  StringRef name = subgroupReduction(type, kind);
  bool isExtreme = kind == Kind::MAXNUMF || kind == Kind::MINNUMF;
  if (name.empty() || (isExtreme && !dropsNaN))
    return {};
  if (isExtreme) {
    Value infinity = arith::ConstantOp::create(
        b, b.getF32FloatAttr(kind == Kind::MAXNUMF ? -std::numeric_limits<float>::infinity()
                                                   : std::numeric_limits<float>::infinity()));
    Value isNumber = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, value, value);
    value = arith::SelectOp::create(b, isNumber, value, infinity);
  }
  ++b.moves.shuffles;
  return callBuiltin(lanes, name, type, value);
}

/// Combines each value with those of the lanes at the distances; all of these get the result.
// Of two values, lanes on one side of a distance go on with the first, those on the other side with
// the second: one shuffle for two. What is left of all of them is sent to all lanes in the end. The
// sum of each is the same tree as by itself.
static void reduceAcross(LaneContext &lanes, MutableArrayRef<Value> sums,
                         ArrayRef<unsigned> distances, vector::CombiningKind kind, bool dropsNaN) {
  LaneBuilder &b = lanes.b;
  bool isWhole = sums.size() == 1 && (size_t(1) << distances.size()) == lanes.count;
  if (Value sum = isWhole ? reduceSubgroup(lanes, sums[0], kind, dropsNaN) : Value()) {
    sums[0] = sum;
    return;
  }
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
                     bool dropsNaN, function_ref<int64_t(int64_t)> map) {
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
    reduceAcross(lanes, left.take_front(count), distances, kind, dropsNaN);
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
  Values sums = reduce(lanes, lanes.held.sourceOf(source), sourceMap, table, piece, op.getKind(),
                       isOfNumber(op.getAcc(), op.getDest()), map);
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
                       isOfNumber(op.getAcc(), op.getDest()), [](int64_t) { return int64_t(0); });
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
