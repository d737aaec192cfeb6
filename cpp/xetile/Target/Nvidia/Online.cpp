//===- Online.cpp - attentions: products of what is in registers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a planned attention. Out: the loops over keys of the warpgroups that multiply: scores, what
// is computed of them in registers, which are the operand of the second product; the loads for
// them. Refused: nothing; OnlinePlan.cpp has.
//
// Two groups of 8 columns of wgmma's sums are what it takes as A for 16 of k: no element leaves its
// thread.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

Value KernelWriter::barrierOfQueries(bool empty) {
  return at(barriers, number(8 * (4 * plan.stages() + (empty ? 1 : 0))));
}

/// A barrier whose first phase is over from the beginning.
Value KernelWriter::barrierThatIsOver() {
  return at(barriers, number(8 * (4 * plan.stages() + 2)));
}

/// A barrier of a stage: keys are there or read, values are there or read.
Value KernelWriter::barrierOfStage(StageBarrier which, Value stage) {
  return at(barriers, add(mul(stage, 8), 8 * int64_t(which) * plan.stages()));
}

/// One thread says that its warpgroup has read a part of a stage, behind a product of all.
void KernelWriter::releasePart(StageBarrier which, Value stage) {
  onlyIf(isEqual(lane, number(0)),
         [&] { NVVM::MBarrierArriveOp::create(b, Type(), barrierOfStage(which, stage), Value()); });
}

void KernelWriter::releaseQueries() {
  onlyIf(isEqual(lane, number(0)),
         [&] { NVVM::MBarrierArriveOp::create(b, Type(), barrierOfQueries(true), Value()); });
}

void KernelWriter::beginOnlineBarriers() {
  int64_t warpgroups = plan.tiling.subgroupsM;
  for (int64_t barrier = 0; barrier < 4 * plan.stages(); ++barrier) {
    bool isEmpty = barrier / plan.stages() % 2 == 1;
    NVVM::MBarrierInitOp::create(b, barrierOf(number(barrier)), number(isEmpty ? warpgroups : 1),
                                 Value());
  }
  NVVM::MBarrierInitOp::create(b, barrierOfQueries(false), number(1), Value());
  NVVM::MBarrierInitOp::create(b, barrierOfQueries(true), number(warpgroups), Value());
  NVVM::MBarrierInitOp::create(b, barrierThatIsOver(), number(1), Value());
  NVVM::MBarrierArriveOp::create(b, Type(), barrierThatIsOver(), Value());
  LLVM::StoreOp::create(b, number(0), placeOfTileNumber());
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Until the queries of a tile are there, or those of the tile before are read.
void KernelWriter::waitForQueries(bool loads, Value parity) {
  waitFor(barrierOfQueries(loads), loads ? bitXor(parity, number(1)) : parity);
}

void KernelWriter::loadQueries() {
  Value full = barrierOfQueries(false);
  NVVM::MBarrierArriveExpectTxOp::create(b, Type(), full, number(plan.queryBytes()),
                                         NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
  loadTile(plan.queries, mapQueries, at(shared, number(plan.stages() * plan.stageBytes())), full,
           Value());
}

/// Keys of a step, or its values, as soon as there is room.
void KernelWriter::loadPart(bool isValues, Turn turn, Value step) {
  const TilePlace &place = isValues ? plan.b : plan.a;
  int64_t ofKeys = plan.bytesOfA(), first = isValues ? ofKeys : 0;
  int64_t bytes = isValues ? plan.stageBytes() - ofKeys : ofKeys;
  waitFor(
      barrierOfStage(isValues ? StageBarrier::ValuesEmpty : StageBarrier::KeysEmpty, turn.stage),
      bitXor(turn.phase, number(1)));
  Value full =
      barrierOfStage(isValues ? StageBarrier::ValuesFull : StageBarrier::KeysFull, turn.stage);
  NVVM::MBarrierArriveExpectTxOp::create(b, Type(), full, number(bytes), NVVM::MemScopeKind::CTA,
                                         /*relaxed=*/false, Value());
  Value to = add(mul(turn.stage, plan.stageBytes()), first);
  Value key = add(firstKey(), mul(step, plan.tiling.kStep));
  loadTile(place, isValues ? mapB : mapA, at(shared, to), full, key);
}

/// Keys and values of all steps: in the order in which they are waited for.
KernelWriter::Turn KernelWriter::loadAttention(Turn turn) {
  Value steps = numberOfSteps();
  auto loopFrom = [&](int64_t first, Turn from,
                      llvm::function_ref<void(Turn, Value)> body) -> Turn {
    auto loop =
        scf::ForOp::create(b, number(first), steps, number(1), ValueRange{from.stage, from.phase});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Turn now{loop.getRegionIterArgs()[0], loop.getRegionIterArgs()[1]};
    body(now, loop.getInductionVar());
    Turn after = next(now);
    scf::YieldOp::create(b, ValueRange{after.stage, after.phase});
    return {loop.getResult(0), loop.getResult(1)};
  };
  if (!plan.overlaps)
    return loopFrom(0, turn, [&](Turn now, Value step) {
      loadPart(false, now, step);
      loadPart(true, now, step);
    });
  loadPart(false, turn, number(0));
  Turn last = loopFrom(1, turn, [&](Turn before, Value step) {
    loadPart(false, next(before), step);
    loadPart(true, before, arith::SubIOp::create(b, step, number(1)));
  });
  loadPart(true, last, arith::SubIOp::create(b, steps, number(1)));
  return next(last);
}

/// The first key of a tile's queries.
Value KernelWriter::firstKey() {
  return fromIndex(copies.lookupOrDefault(plan.online.front().loop.getLowerBound()));
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

/// The warpgroups' products take turns, so that one computes powers while another multiplies.
/// Barriers behind those of the stores are of two warpgroups: one waits, the one before it arrives.
void KernelWriter::waitForTurn() {
  if (plan.tiling.subgroupsM > 1)
    waitForAll(add(warpgroup, plan.tiling.subgroupsM + 1), 2 * kWarpgroup);
}

void KernelWriter::passTurn() {
  int64_t count = plan.tiling.subgroupsM;
  if (count < 2)
    return;
  Value following = add(warpgroup, 1);
  following = select(isEqual(following, number(count)), number(0), following);
  NVVM::BarrierArriveOp::create(b, add(following, count + 1), number(2 * kWarpgroup));
}

void KernelWriter::giveFirstTurn() {
  int64_t count = plan.tiling.subgroupsM;
  if (plan.overlaps && count > 1)
    onlyIf(isEqual(warpgroup, number(count - 1)), [&] { passTurn(); });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The keys of a tile of queries.
KernelWriter::Turn KernelWriter::attendTile(Turn turn) {
  auto before = pairs;
  Turn after = plan.overlaps ? attendOverlapped(turn) : attendInOrder(turn);
  pairs = before;
  finishSums();
  return after;
}

/// Begins to write a step of a loop over keys, whose counter is `key`.
void KernelWriter::beginStep(const OnlineLoop &online, Value key) {
  pairs.clear();
  inStep.clear();
  inStep.map(online.loop.getInductionVar(), toIndex(key));
}

/// A number, or a matrix, that a step's operations take: of the step that is written.
Value KernelWriter::scalarOf(Value value) {
  if (Value known = inStep.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  bool isInside = op && llvm::any_of(plan.online, [&](const OnlineLoop &online) {
                    return op->getBlock() == online.loop.getBody();
                  });
  if (!isInside)
    return value;
  for (Value operand : op->getOperands())
    inStep.map(operand, scalarOf(operand));
  b.clone(*op, inStep);
  return inStep.lookup(value);
}

/// One product after the other.
KernelWriter::Turn KernelWriter::attendInOrder(Turn turn) {
  SmallVector<Value> carried;
  for (Value first : plan.online.front().loop.getInitArgs())
    carried.append(elementsOf(first));
  carried.append({turn.stage, turn.phase});
  for (const OnlineLoop &online : plan.online) {
    auto loop = scf::ForOp::create(b, fromIndex(online.loop.getLowerBound()),
                                   fromIndex(online.loop.getUpperBound()),
                                   number(plan.tiling.kStep), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    beginStep(online, loop.getInductionVar());
    ValueRange rest = holdAll(online.loop.getRegionIterArgs(), loop.getRegionIterArgs());
    Turn now{rest[0], rest[1]};
    waitFor(barrierOfStage(StageBarrier::KeysFull, now.stage), now.phase);
    hold(online.scores.getResult(), landed(multiplyScores(now.stage), 0));
    releasePart(StageBarrier::KeysEmpty, now.stage);
    Value grown = plan.isLazy ? keepMaxima(online) : Value();
    SmallVector<Value> powers = powersOfScores(online), sums = rescale(online, grown);
    waitFor(barrierOfStage(StageBarrier::ValuesFull, now.stage), now.phase);
    SmallVector<Value> onTheirWay = multiplyPowers(powers, sums, now.stage);
    sumRows(online);
    hold(online.values.getResult(), landed(onTheirWay, 0));
    releasePart(StageBarrier::ValuesEmpty, now.stage);
    SmallVector<Value> yielded;
    for (Value value : online.loop.getYieldedValues())
      yielded.append(elementsOf(value));
    Turn after = next(now);
    yielded.append({after.stage, after.phase});
    scf::YieldOp::create(b, yielded);
    carried.assign(loop.result_begin(), loop.result_end());
  }
  releaseQueries();
  ValueRange rest = holdAll(plan.loop.getResults(), carried);
  return {rest[0], rest[1]};
}

/// Of the scores that are held: powers, and what is carried but the output. Whether its maxima have
/// grown, where that matters.
KernelWriter::Followed KernelWriter::followScores(const OnlineLoop &online, bool isFirst) {
  Followed made;
  made.grown = plan.isLazy && !isFirst ? keepMaxima(online) : Value();
  made.powers = powersOfScores(online);
  sumRows(online);
  for (auto [number, value] : llvm::enumerate(online.loop.getYieldedValues()))
    if (number != plan.output)
      made.others.append(elementsOf(value));
  return made;
}

/// Values that the steps of an overlapped loop carry: the output, powers that are not multiplied
/// yet, the rest but the output, the stage.
struct KernelWriter::Overlap {
  size_t numSums, numPowers;
  ValueRange sums(ValueRange all) const { return all.take_front(numSums); }
  ValueRange powers(ValueRange all) const { return all.slice(numSums, numPowers); }
  ValueRange others(ValueRange all) const { return all.drop_front(numSums + numPowers); }
};

/// `all` but the output.
SmallVector<Value> KernelWriter::withoutOutput(ValueRange all) const {
  SmallVector<Value> rest(all);
  rest.erase(rest.begin() + plan.output);
  return rest;
}

/// Scores of the first step and powers of them: what the loops begin with. The step is one of the
/// last loop, which is right for any.
SmallVector<Value> KernelWriter::beginOverlap(Turn turn, Overlap &overlap) {
  const OnlineLoop &last = plan.online.back();
  beginStep(last, firstKey());
  SmallVector<Value> firstOnes;
  for (Value init : plan.online.front().loop.getInitArgs())
    firstOnes.append(elementsOf(init));
  holdAll(last.loop.getRegionIterArgs(), firstOnes);
  waitFor(barrierOfStage(StageBarrier::KeysFull, turn.stage), turn.phase);
  waitForTurn();
  SmallVector<Value> scores = multiplyScores(turn.stage);
  passTurn();
  hold(last.scores.getResult(), landed(scores, 0));
  releasePart(StageBarrier::KeysEmpty, turn.stage);
  Followed followed = followScores(last, /*isFirst=*/true);
  SmallVector<Value> carried =
      elementsOf(plan.isLazy ? last.loop.getRegionIterArg(plan.output) : Value(last.values.getC()));
  overlap = {carried.size(), followed.powers.size()};
  carried.append(followed.powers);
  carried.append(followed.others);
  carried.append({turn.stage, turn.phase});
  return carried;
}

/// Scores of a step are multiplied before the powers of the step before, which run while those of
/// this step are computed. Between steps there are the powers, and the sums that they are added to.
SmallVector<Value> KernelWriter::overlapStep(const OnlineLoop &online, Value key, ValueRange all,
                                             const Overlap &overlap) {
  beginStep(online, key);
  ValueRange rest =
      holdAll(withoutOutput(ValueRange(online.loop.getRegionIterArgs())), overlap.others(all));
  Turn previous{rest[0], rest[1]}, now = next(previous);
  waitFor(barrierOfStage(StageBarrier::KeysFull, now.stage), now.phase);
  waitForTurn();
  SmallVector<Value> scores = multiplyScores(now.stage);
  waitFor(barrierOfStage(StageBarrier::ValuesFull, previous.stage), previous.phase);
  SmallVector<Value> onTheirWay =
      multiplyPowers(overlap.powers(all), overlap.sums(all), previous.stage);
  passTurn();
  hold(online.scores.getResult(), landed(scores, 1));
  releasePart(StageBarrier::KeysEmpty, now.stage);
  Followed after = followScores(online, /*isFirst=*/false);
  // Compilers move the wait for the powers above what is computed here, but not above a branch.
  waitFor(barrierThatIsOver(), number(0));
  // All that is carried goes through the wait, so that sums of rows are made before it, too.
  onTheirWay.append(after.others);
  SmallVector<Value> there = landed(onTheirWay, 0);
  after.others.assign(there.begin() + int64_t(overlap.numSums), there.end());
  hold(online.loop.getRegionIterArg(plan.output), ArrayRef(there).take_front(overlap.numSums));
  releasePart(StageBarrier::ValuesEmpty, previous.stage);
  SmallVector<Value> yielded = rescale(online, after.grown);
  yielded.append(after.powers);
  yielded.append(after.others);
  yielded.append({now.stage, now.phase});
  return yielded;
}

/// All steps that a query of this warpgroup sees, then those that others wait for.
KernelWriter::Turn KernelWriter::attendOverlapped(Turn turn) {
  Overlap overlap{};
  SmallVector<Value> carried = beginOverlap(turn, overlap);
  Value second = add(firstKey(), plan.tiling.kStep), done = number(0), end;
  for (const OnlineLoop &online : plan.online) {
    Value from = fromIndex(online.loop.getLowerBound());
    from = &online == &plan.online.front() ? second : b.createOrFold<arith::MaxSIOp>(from, second);
    end = fromIndex(online.loop.getUpperBound());
    Value own = endOfLoop(online, from, end);
    done = b.createOrFold<arith::AddIOp>(done, stepsOf(from, own));
    auto loop = scf::ForOp::create(b, from, own, number(plan.tiling.kStep), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(
        b, overlapStep(online, loop.getInductionVar(), loop.getRegionIterArgs(), overlap));
    carried.assign(loop.result_begin(), loop.result_end());
  }
  ValueRange all(carried);
  ValueRange rest = holdAll(withoutOutput(plan.loop.getResults()), overlap.others(all));
  Turn last{rest[0], rest[1]};
  waitFor(barrierOfStage(StageBarrier::ValuesFull, last.stage), last.phase);
  SmallVector<Value> onTheirWay =
      multiplyPowers(overlap.powers(all), overlap.sums(all), last.stage);
  // Not before the product: descriptors would leave the uniform registers.
  Value left = stepsLeft(second, end, done);
  releaseQueries();
  hold(plan.loop.getResult(plan.output), landed(onTheirWay, 0));
  releasePart(StageBarrier::ValuesEmpty, last.stage);
  return passUnseen(next(last), left);
}
