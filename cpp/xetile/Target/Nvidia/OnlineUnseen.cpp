//===- OnlineUnseen.cpp - steps that no query of a warpgroup sees ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a planned attention, whose loops over keys are those of all warpgroups of a workgroup. Out:
// which of their steps change nothing for a warpgroup, as a mask ends before them or as its queries
// are beyond the last one; loops that leave them out. The keys and values of such steps are there
// for the other warpgroups: this one says that it has read them, and passes on its turns.
// Refused: nothing; loops of other forms are for all warpgroups.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

namespace {

/// A sum of the number of a row, of a column, and of the loop's counter, each times a factor, and
/// of what is the same in all steps.
struct Factors {
  int64_t row = 0, column = 0, counter = 0;
};

std::optional<Factors> factorsOf(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar())
    return Factors{0, 0, 1};
  Operation *op = value.getDefiningOp();
  if (auto shaped = dyn_cast_or_null<vector::ShapeCastOp>(op);
      shaped && shaped.getSource().getDefiningOp<vector::StepOp>()) {
    bool isRow = shaped.getResultVectorType().getRank() == 2 &&
                 shaped.getResultVectorType().getDimSize(1) == 1;
    return Factors{isRow, !isRow, 0};
  }
  if (isa_and_present<TileBroadcastOp, vector::BroadcastOp, arith::IndexCastOp,
                      arith::IndexCastUIOp>(op))
    return factorsOf(op->getOperand(0), loop);
  if (isa_and_present<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<Factors> l = factorsOf(op->getOperand(0), loop),
                           r = factorsOf(op->getOperand(1), loop);
    if (!l || !r)
      return std::nullopt;
    int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
    return Factors{l->row + sign * r->row, l->column + sign * r->column,
                   l->counter + sign * r->counter};
  }
  bool isConstant = matchPattern(value, m_Constant());
  bool isScalar = !isa<VectorType>(value.getType()) && loop.isDefinedOutsideOfLoop(value);
  return isConstant || isScalar ? std::optional(Factors()) : std::nullopt;
}

/// True for: the number of a key is at most, or below, one that grows with that of the query. What
/// the last query of several does not pass with the first key of a step, none passes, nor with
/// later keys.
bool endsKeys(arith::CmpIOp compare, scf::ForOp loop) {
  using Is = arith::CmpIPredicate;
  std::optional<Factors> l = factorsOf(compare.getLhs(), loop),
                         r = factorsOf(compare.getRhs(), loop);
  if (!l || !r)
    return false;
  int64_t sign =
      llvm::is_contained({Is::slt, Is::sle, Is::ult, Is::ule}, compare.getPredicate())   ? 1
      : llvm::is_contained({Is::sgt, Is::sge, Is::ugt, Is::uge}, compare.getPredicate()) ? -1
                                                                                         : 0;
  return sign && sign * (l->row - r->row) == -1 && sign * (l->column - r->column) == 1 &&
         sign * (l->counter - r->counter) == 1;
}

bool isMinusInfinity(Value value) {
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat() ||
      !isa<FloatType>(constant.getElementType()))
    return false;
  APFloat number = constant.getSplatValue<APFloat>();
  return number.isInfinity() && number.isNegative();
}

/// The one selection between scores, or what is computed of them, and minus infinity; null where
/// something else uses them.
arith::SelectOp maskOf(Value score) {
  if (!score.hasOneUse())
    return {};
  Operation *user = *score.user_begin();
  if (auto select = dyn_cast<arith::SelectOp>(user))
    return select.getTrueValue() == score && isMinusInfinity(select.getFalseValue())
               ? select
               : arith::SelectOp();
  bool isElementwise = OpTrait::hasElementwiseMappableTraits(user) && user->getNumResults() == 1;
  return isElementwise ? maskOf(user->getResult(0)) : arith::SelectOp();
}

/// True if minus infinity in a whole row leaves its maximum, and gives powers of zero: the masked
/// score is used for the maximum, and less the new one as an exponent.
bool vanishes(const RingPlan &plan, const OnlineLoop &online, Value masked) {
  Value maximum = online.loop.getYieldedValues()[*plan.maxima];
  return llvm::all_of(masked.getUsers(), [&](Operation *user) {
    if (auto reduce = dyn_cast<TileReduceOp>(user))
      return reduce.getResult().hasOneUse() &&
             *reduce.getResult().user_begin() == maximum.getDefiningOp();
    auto exponent = dyn_cast<arith::SubFOp>(user);
    auto less = exponent ? exponent.getRhs().getDefiningOp<TileBroadcastOp>() : TileBroadcastOp();
    return less && exponent.getLhs() == masked && less.getVector() == maximum &&
           exponent->hasOneUse() && isa<math::Exp2Op, math::ExpOp>(*exponent->user_begin()) &&
           llvm::all_of((*exponent->user_begin())->getUsers(),
                        [](Operation *use) { return isa<arith::TruncFOp, TileMmaOp>(use); });
  });
}

/// Those of which all hold where `condition` does.
void collectComparisons(Value condition, SmallVectorImpl<arith::CmpIOp> &found) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collectComparisons(both.getLhs(), found);
    collectComparisons(both.getRhs(), found);
  } else if (auto compare = condition.getDefiningOp<arith::CmpIOp>()) {
    found.push_back(compare);
  }
}

/// Rows of the array that a tile is in, where they are known.
std::optional<int64_t> rowsOf(const TilePlace &place) {
  auto type = cast<MemRefType>(place.matrix.getType());
  unsigned dim = unsigned(type.getRank() - 1 - place.outerDim);
  if (place.isTransposed || type.isDynamicDim(dim))
    return std::nullopt;
  return type.getDimSize(dim);
}

} // namespace

void hopper::findUnseen(RingPlan &plan) {
  // A workgroup's loops are those of its only warpgroup; maxima and sums tell nothing but the
  // quotient.
  if (plan.tiling.subgroupsM < 2 || !canBeLazy(plan))
    return;
  OnlineLoop &last = plan.online.back();
  if (auto mask = maskOf(last.scores.getResult()); mask && vanishes(plan, last, mask.getResult())) {
    collectComparisons(mask.getCondition(), last.ends);
    llvm::erase_if(last.ends, [&](arith::CmpIOp compare) { return !endsKeys(compare, last.loop); });
  }
  std::optional<int64_t> rows = rowsOf(plan.queries);
  bool isElsewhere = rows && llvm::any_of(plan.stores, [&](StoreTileOp store) {
                       FailureOr<TilePlace> place = placeOfTile(store, store.getTile());
                       return failed(place) || rowsOf(*place) != rows ||
                              place->outerOffset != plan.queries.outerOffset;
                     });
  int64_t left = rows ? *rows % plan.rows() : 0;
  if (!isElsewhere && left && left <= plan.rows() - plan.warpgroupRows())
    plan.lastQueries = rows;
}

/// True where a warpgroup has queries that are there; null where all have.
Value KernelWriter::isThere() {
  if (!plan.lastQueries)
    return {};
  auto offset = dyn_cast<Value>(plan.queries.outerOffset);
  Value first = offset ? fromIndex(offset) : number(*getConstantIntValue(plan.queries.outerOffset));
  return isBelow(add(first, mul(warpgroup, plan.warpgroupRows())), number(*plan.lastQueries));
}

/// The first key behind all that the warpgroup's queries see, by one of the comparisons of a step
/// that begins with `key`; null where it is of another form.
Value KernelWriter::endOfSeen(arith::CmpIOp compare, Value key) {
  using Is = arith::CmpIPredicate;
  Is is = compare.getPredicate();
  isFarthest = true;
  std::optional<Linear> l = linearOf(compare.getLhs(), Place{0, 0, 0}),
                        r = linearOf(compare.getRhs(), Place{0, 0, 0});
  isFarthest = false;
  bool isUnsigned = llvm::is_contained({Is::ult, Is::ule, Is::ugt, Is::uge}, is);
  if (!l || !r || (isUnsigned && (l->maySign || r->maySign)))
    return {};
  if (llvm::is_contained({Is::sgt, Is::sge, Is::ugt, Is::uge}, is))
    std::swap(l, r);
  Value end = add(key, b.createOrFold<arith::SubIOp>(r->row, l->row));
  return llvm::is_contained({Is::sle, Is::ule, Is::sge, Is::uge}, is) ? add(end, 1) : end;
}

/// Where a loop over keys ends for this warpgroup: before `end` where its queries see no more.
Value KernelWriter::endOfLoop(const OnlineLoop &online, Value from, Value end) {
  if (!plan.lastQueries && online.ends.empty())
    return end;
  beginStep(online, from);
  for (arith::CmpIOp compare : online.ends)
    if (Value seen = endOfSeen(compare, from))
      end = arith::MinSIOp::create(b, end, seen);
  if (Value there = isThere())
    end = select(there, end, from);
  return end;
}

/// Steps that a loop over keys makes.
Value KernelWriter::stepsOf(Value from, Value end) {
  Value keys = arith::MaxSIOp::create(b, arith::SubIOp::create(b, end, from), number(0));
  return arith::DivUIOp::create(b, add(keys, plan.tiling.kStep - 1), number(plan.tiling.kStep));
}

/// Steps that this warpgroup leaves out: all but the first one, of which it has done some; null
/// where all warpgroups do all. Called before the tile's number may be another's: by a number that
/// is read from shared memory, and does not change the result, compilers know that a whole warp
/// takes the branches behind it. Else descriptors of all products leave the uniform registers.
Value KernelWriter::stepsLeft(Value second, Value end, Value done) {
  if (!plan.lastQueries && plan.online.back().ends.empty())
    return {};
  Value left = arith::SubIOp::create(b, stepsOf(second, end), done);
  Value tile = LLVM::LoadOp::create(b, b.getI32Type(), placeOfTileNumber(), /*alignment=*/0,
                                    /*isVolatile=*/true);
  constexpr int64_t kMore = int64_t(1) << 30;
  return arith::MinSIOp::create(b, left, add(tile, kMore));
}

/// Steps that others need. A barrier of all threads of the warpgroup stands between their wait for
/// a part and the word of one that it is read, as products do elsewhere: who comes later would find
/// the stage filled anew.
KernelWriter::Turn KernelWriter::passUnseen(Turn turn, Value left) {
  if (!left)
    return turn;
  auto loop = scf::ForOp::create(b, number(0), left, number(1), ValueRange{turn.stage, turn.phase});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Turn now{loop.getRegionIterArgs()[0], loop.getRegionIterArgs()[1]};
  waitFor(barrierOfStage(StageBarrier::KeysFull, now.stage), now.phase);
  waitForTurn();
  passTurn();
  releasePart(StageBarrier::KeysEmpty, now.stage);
  waitFor(barrierOfStage(StageBarrier::ValuesFull, now.stage), now.phase);
  waitForAll(add(warpgroup, 1), kWarpgroup);
  releasePart(StageBarrier::ValuesEmpty, now.stage);
  Turn after = next(now);
  scf::YieldOp::create(b, ValueRange{after.stage, after.phase});
  return {loop.getResult(0), loop.getResult(1)};
}
