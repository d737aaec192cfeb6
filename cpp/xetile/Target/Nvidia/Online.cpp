//===- Online.cpp - attentions: products of what is in registers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a planned attention. Out: the loop over keys of the warpgroups that multiply: scores, what is
// computed of them in registers, which are the operand of the second product.
// Refused: nothing; OnlinePlan.cpp has.
//
// Two groups of 8 columns of wgmma's sums are what it takes as A for 16 of k: no element leaves its
// thread. Maxima and sums of rows are of the four threads that have one.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

Value KernelWriter::barrierOfQueries(bool empty) {
  return at(barriers, number(8 * (4 * plan.stages() + (empty ? 1 : 0))));
}

/// The queries of a tile, when those of the tile before are read.
void KernelWriter::loadQueries(Value parity) {
  waitFor(barrierOfQueries(true), bitXor(parity, number(1)));
  Value full = barrierOfQueries(false);
  NVVM::MBarrierArriveExpectTxOp::create(b, Type(), full, number(plan.queryBytes()),
                                         NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
  loadTile(plan.queries, mapQueries, at(shared, number(plan.stages() * plan.stageBytes())), full,
           Value());
}

/// Groups of 8 columns of a value that a thread has pairs of; one of what is the same in all.
int64_t KernelWriter::columnsOf(Value value) const {
  int64_t columns = cast<VectorType>(value.getType()).getDimSize(1);
  return columns == 1 || columns == plan.sameColumns() ? 1 : columns / 8;
}

/// Remembers the pairs of a value: two elements each, or one that stands for both.
void KernelWriter::hold(Value value, ValueRange elements) {
  bool isSame = columnsOf(value) == 1;
  SmallVector<Value> pairsOfValue;
  for (size_t at = 0; at < elements.size(); at += isSame ? 1 : 2)
    pairsOfValue.push_back(makePair(elements[at], elements[isSame ? at : at + 1]));
  held[value.getAsOpaquePointer()] = pairsOfValue;
}

/// The elements that `hold` takes.
SmallVector<Value> KernelWriter::elementsOf(Value value) {
  SmallVector<Value> elements;
  int64_t columns = columnsOf(value);
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t half = 0; half < 2; ++half) {
      Value pair = pairOf(value, {0, column, half});
      elements.push_back(LLVM::ExtractElementOp::create(b, pair, number(0)));
      if (columns > 1)
        elements.push_back(LLVM::ExtractElementOp::create(b, pair, number(1)));
    }
  return elements;
}

Value KernelWriter::exp2Pair(Value pair) {
  auto power = [&](int64_t at) -> Value {
    Value element = LLVM::ExtractElementOp::create(b, pair, number(at));
    return LLVM::CallIntrinsicOp::create(b, b.getF32Type(),
                                         b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"),
                                         ValueRange{element})
        .getResult(0);
  };
  return makePair(power(0), power(1));
}

/// Of a row's elements, which four threads have.
Value KernelWriter::reducePairs(TileReduceOp reduce, Place place) {
  Value from = reduce.getVector();
  auto combine = [&](Value l, Value r) {
    return vector::makeArithReduction(b, b.getLoc(), reduce.getKind(), l, r);
  };
  Value all = pairOf(from, {place.block, 0, place.half});
  if (columnsOf(from) == 1)
    return all;
  for (int64_t column = 1; column < columnsOf(from); ++column)
    all = combine(all, pairOf(from, {place.block, column, place.half}));
  Value row = combine(LLVM::ExtractElementOp::create(b, all, number(0)),
                      LLVM::ExtractElementOp::create(b, all, number(1)));
  for (int64_t distance : {1, 2}) {
    Value other = NVVM::ShflOp::create(b, row.getType(), number(-1), row, number(distance),
                                       number(31), NVVM::ShflKind::bfly, UnitAttr());
    row = combine(row, other);
  }
  return makePair(row, row);
}

/// Sums that are there when no more than so many products are on their way: the wait carries them,
/// so that no use of them moves before it.
SmallVector<Value> KernelWriter::landed(ValueRange sums, int64_t onTheirWay) {
  std::string constraints;
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += i ? ",=f" : "=f";
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += "," + std::to_string(i);
  SmallVector<Type> types(sums.size(), b.getF32Type());
  auto all = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  auto wait = LLVM::InlineAsmOp::create(
      b, all, sums, "wgmma.wait_group.sync.aligned " + std::to_string(onTheirWay) + ";",
      constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  SmallVector<Value> there;
  for (size_t i = 0; i < sums.size(); ++i)
    there.push_back(
        LLVM::ExtractValueOp::create(b, wait.getResult(0), ArrayRef<int64_t>{int64_t(i)}));
  return there;
}

static NVVM::WGMMATypes kindOf(Type type) {
  return type.isF16() ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::bf16;
}

/// Queries * keys, both in shared memory; on their way.
SmallVector<Value> KernelWriter::multiplyScores(Value stage) {
  int64_t rows = plan.queries.outer, keys = plan.tiling.kStep, count = keys / 2;
  bool isTransposed = plan.a.isTransposed;
  Value q = descriptor(
      add(add(address, plan.stages() * plan.stageBytes()), mul(warpgroup, kWgmmaM * kSwizzleBytes)),
      16);
  Value k = descriptor(add(address, mul(stage, plan.stageBytes())),
                       isTransposed ? 16 : plan.a.outer * kSwizzleBytes);
  SmallVector<Type> types(size_t(count), b.getF32Type());
  auto all = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  auto shape = NVVM::MMAShapeAttr::get(b.getContext(), kWgmmaM, int(keys), int(plan.wgmmaK()));
  NVVM::WGMMATypes kind = kindOf(plan.input());
  auto along = [&](Value base, bool isInner, int64_t outer, int64_t step) -> Value {
    int64_t bytes = isInner ? step / 4 * outer * kSwizzleBytes + step % 4 * kWgmmaKBytes
                            : step * plan.wgmmaK() * kSwizzleBytes;
    return arith::AddIOp::create(b, base, wide(bytes >> 4));
  };
  Value sums = LLVM::UndefOp::create(b, all);
  NVVM::WgmmaFenceAlignedOp::create(b);
  for (int64_t step = 0; step < plan.queries.inner / plan.wgmmaK(); ++step)
    sums = NVVM::WgmmaMmaAsyncOp::create(
        b, all, sums, along(q, true, rows, step), along(k, isTransposed, plan.a.outer, step), shape,
        kind, kind, NVVM::WGMMATypes::f32,
        step ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero, NVVM::WGMMAScaleIn::one,
        NVVM::WGMMAScaleIn::one, NVVM::MMALayout::row,
        isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, NVVM::MMAIntOverflowAttr());
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
  SmallVector<Value> scores;
  for (int64_t i = 0; i < count; ++i)
    scores.push_back(LLVM::ExtractValueOp::create(b, sums, ArrayRef<int64_t>{i}));
  return scores;
}

/// Sums + powers * values, on their way; powers in registers: upstream's operation takes a
/// descriptor only.
SmallVector<Value> KernelWriter::multiplyPowers(ValueRange powers, ValueRange sums, Value stage) {
  int64_t steps = plan.tiling.kStep / plan.wgmmaK(), columns = plan.tiling.workgroupN;
  bool isTransposed = plan.b.isTransposed;
  Value v = descriptor(add(add(address, mul(stage, plan.stageBytes())), plan.bytesOfA()),
                       isTransposed ? 16 : plan.b.outer * kSwizzleBytes);
  SmallVector<Value> operands(sums);
  operands.append(powers.begin(), powers.end());
  for (int64_t step = 0; step < steps; ++step) {
    int64_t bytes = isTransposed ? step / 4 * plan.b.outer * kSwizzleBytes + step % 4 * kWgmmaKBytes
                                 : step * plan.wgmmaK() * kSwizzleBytes;
    operands.push_back(arith::AddIOp::create(b, v, wide(bytes >> 4)));
  }
  size_t count = sums.size();
  auto list = [](size_t first, size_t number) {
    std::string text = "{";
    for (size_t i = 0; i < number; ++i)
      text += (i ? ", $" : "$") + std::to_string(first + i);
    return text + "}";
  };
  // Operands are numbered behind the results, to which the first ones are tied.
  std::string text = "wgmma.fence.sync.aligned;\n", constraints;
  std::string type = plan.input().isF16() ? "f16.f16" : "bf16.bf16";
  for (int64_t step = 0; step < steps; ++step)
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + "k16.f32." + type +
            " " + list(0, count) + ", " + list(2 * count + size_t(4 * step), 4) + ", $" +
            std::to_string(2 * count + powers.size() + size_t(step)) + ", 1, 1, 1, " +
            (isTransposed ? "0" : "1") + ";\n";
  text += "wgmma.commit_group.sync.aligned;";
  for (size_t i = 0; i < count; ++i)
    constraints += i ? ",=f" : "=f";
  for (size_t i = 0; i < count; ++i)
    constraints += "," + std::to_string(i);
  for (size_t i = 0; i < powers.size(); ++i)
    constraints += ",r";
  for (int64_t i = 0; i < steps; ++i)
    constraints += ",l";
  SmallVector<Type> types(count, b.getF32Type());
  auto all = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  auto product = LLVM::InlineAsmOp::create(
      b, all, operands, text, constraints, /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
  SmallVector<Value> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(
        LLVM::ExtractValueOp::create(b, product.getResult(0), ArrayRef<int64_t>{int64_t(i)}));
  return out;
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

/// Keys and values of a step, each as soon as there is room.
void KernelWriter::loadKeysAndValues(Turn turn, Value step) {
  Value k = mul(step, plan.tiling.kStep), to = mul(turn.stage, plan.stageBytes());
  Value before = bitXor(turn.phase, number(1));
  auto load = [&](const TilePlace &place, Value map, int64_t first, int64_t bytes,
                  StageBarrier full, StageBarrier empty) {
    waitFor(barrierOfStage(empty, turn.stage), before);
    Value barrier = barrierOfStage(full, turn.stage);
    NVVM::MBarrierArriveExpectTxOp::create(b, Type(), barrier, number(bytes),
                                           NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
    loadTile(place, map, at(shared, add(to, first)), barrier, k);
  };
  int64_t ofKeys = plan.bytesOfA();
  load(plan.a, mapA, 0, ofKeys, StageBarrier::KeysFull, StageBarrier::KeysEmpty);
  load(plan.b, mapB, ofKeys, plan.stageBytes() - ofKeys, StageBarrier::ValuesFull,
       StageBarrier::ValuesEmpty);
}

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

/// Powers of scores as operands of the second product.
SmallVector<Value> KernelWriter::powersOfScores() {
  SmallVector<Value> powers;
  Value value = plan.values.getA();
  for (int64_t column = 0; column < columnsOf(value); ++column)
    for (int64_t half = 0; half < 2; ++half)
      powers.push_back(
          LLVM::BitcastOp::create(b, b.getI32Type(), pairOf(value, {0, column, half})));
  return powers;
}

/// Remembers values by the first ones of `elements`; the rest.
ValueRange KernelWriter::holdAll(ValueRange values, ValueRange elements) {
  for (Value value : values) {
    size_t count = size_t(2 * columnsOf(value) * (columnsOf(value) > 1 ? 2 : 1));
    hold(value, elements.take_front(count));
    elements = elements.drop_front(count);
  }
  return elements;
}

/// The loop over keys of a tile of queries.
KernelWriter::Turn KernelWriter::attendTile(Turn turn, Value parity) {
  steps = numberOfSteps();
  waitFor(barrierOfQueries(false), parity);
  auto before = pairs;
  Turn after = plan.overlaps ? attendOverlapped(turn) : attendInOrder(turn);
  pairs = before;
  onlyIf(isEqual(lane, number(0)),
         [&] { NVVM::MBarrierArriveOp::create(b, Type(), barrierOfQueries(true), Value()); });
  return after;
}

/// One product after the other.
KernelWriter::Turn KernelWriter::attendInOrder(Turn turn) {
  SmallVector<Value> carried;
  for (Value first : plan.loop.getInitArgs())
    carried.append(elementsOf(first));
  carried.append({turn.stage, turn.phase});
  auto loop = scf::ForOp::create(b, number(0), steps, number(1), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange rest = holdAll(plan.loop.getRegionIterArgs(), loop.getRegionIterArgs());
    Turn now{rest[0], rest[1]};
    waitFor(barrierOfStage(StageBarrier::KeysFull, now.stage), now.phase);
    hold(plan.mma.getResult(), landed(multiplyScores(now.stage), 0));
    releasePart(StageBarrier::KeysEmpty, now.stage);
    SmallVector<Value> powers = powersOfScores();
    SmallVector<Value> sums = elementsOf(plan.values.getC());
    waitFor(barrierOfStage(StageBarrier::ValuesFull, now.stage), now.phase);
    SmallVector<Value> onTheirWay = multiplyPowers(powers, sums, now.stage);
    if (plan.rowSums)
      hold(plan.rowSums.getResult(), sumRows());
    hold(plan.values.getResult(), landed(onTheirWay, 0));
    releasePart(StageBarrier::ValuesEmpty, now.stage);
    SmallVector<Value> yielded;
    for (Value value : plan.loop.getYieldedValues())
      yielded.append(elementsOf(value));
    Turn after = next(now);
    yielded.append({after.stage, after.phase});
    scf::YieldOp::create(b, yielded);
  }
  ValueRange rest = holdAll(plan.loop.getResults(), loop.getResults());
  return {rest[0], rest[1]};
}

// Long: one order of products, waits and turns, which is read as a whole.
/// Scores of a step are multiplied before the powers of the step before, which run while those of
/// this step are computed. Between steps there are the powers, and the sums that they are added to.
KernelWriter::Turn KernelWriter::attendOverlapped(Turn turn) {
  unsigned output = outputOf(plan);
  SmallVector<Value> arguments, results, yields; // of all that is carried but the output
  for (unsigned i = 0; i < plan.loop.getNumRegionIterArgs(); ++i)
    if (i != output) {
      arguments.push_back(plan.loop.getRegionIterArg(i));
      results.push_back(plan.loop.getResult(i));
      yields.push_back(plan.loop.getYieldedValues()[i]);
    }
  // Of the scores that are held: powers, then what is carried.
  auto followScores = [&](SmallVector<Value> &powers, SmallVector<Value> &others) {
    powers = powersOfScores();
    if (plan.rowSums)
      hold(plan.rowSums.getResult(), sumRows());
    for (Value value : yields)
      others.append(elementsOf(value));
  };
  SmallVector<Value> powers, others, firstOnes;
  for (Value first : plan.loop.getInitArgs())
    firstOnes.append(elementsOf(first));
  holdAll(plan.loop.getRegionIterArgs(), firstOnes);
  waitFor(barrierOfStage(StageBarrier::KeysFull, turn.stage), turn.phase);
  waitForTurn();
  SmallVector<Value> scores = multiplyScores(turn.stage);
  passTurn();
  hold(plan.mma.getResult(), landed(scores, 0));
  releasePart(StageBarrier::KeysEmpty, turn.stage);
  followScores(powers, others);
  SmallVector<Value> sums = elementsOf(plan.values.getC());
  pairs.clear();

  SmallVector<Value> carried(sums);
  carried.append(powers);
  carried.append(others);
  carried.append({turn.stage, turn.phase});
  auto loop = scf::ForOp::create(b, number(1), steps, number(1), carried);
  auto split = [&](ValueRange all, ValueRange &ofSums, ValueRange &ofPowers, ValueRange &rest) {
    ofSums = all.take_front(sums.size());
    ofPowers = all.drop_front(sums.size()).take_front(powers.size());
    rest = all.drop_front(sums.size() + powers.size());
  };
  ValueRange sumsNow, powersNow, rest;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    split(loop.getRegionIterArgs(), sumsNow, powersNow, rest);
    rest = holdAll(arguments, rest);
    Turn previous{rest[0], rest[1]}, now = next(previous);
    waitFor(barrierOfStage(StageBarrier::KeysFull, now.stage), now.phase);
    waitForTurn();
    SmallVector<Value> scoresNow = multiplyScores(now.stage);
    waitFor(barrierOfStage(StageBarrier::ValuesFull, previous.stage), previous.phase);
    SmallVector<Value> onTheirWay = multiplyPowers(powersNow, sumsNow, previous.stage);
    passTurn();
    hold(plan.mma.getResult(), landed(scoresNow, 1));
    releasePart(StageBarrier::KeysEmpty, now.stage);
    SmallVector<Value> powersAfter, othersAfter;
    followScores(powersAfter, othersAfter);
    hold(plan.loop.getRegionIterArg(output), landed(onTheirWay, 0));
    releasePart(StageBarrier::ValuesEmpty, previous.stage);
    SmallVector<Value> yielded = elementsOf(plan.values.getC());
    yielded.append(powersAfter);
    yielded.append(othersAfter);
    yielded.append({now.stage, now.phase});
    scf::YieldOp::create(b, yielded);
  }
  split(loop.getResults(), sumsNow, powersNow, rest);
  rest = holdAll(results, rest);
  Turn last{rest[0], rest[1]};
  waitFor(barrierOfStage(StageBarrier::ValuesFull, last.stage), last.phase);
  hold(plan.loop.getResult(output), landed(multiplyPowers(powersNow, sumsNow, last.stage), 0));
  releasePart(StageBarrier::ValuesEmpty, last.stage);
  return next(last);
}

/// The result of a product with a constant: its C and rows of powers, as they were rounded, times
/// it.
SmallVector<Value> KernelWriter::sumRows() {
  DenseElementsAttr constant;
  matchPattern(plan.rowSums.getB(), m_Constant(&constant));
  double factor = constant.getSplatValue<APFloat>().convertToDouble();
  Value powers = plan.rowSums.getA();
  auto wideType = VectorType::get({2}, b.getF32Type());
  SmallVector<Value> sums = elementsOf(plan.rowSums.getC());
  for (int64_t half = 0; half < 2; ++half) {
    Value all;
    for (int64_t column = 0; column < columnsOf(powers); ++column) {
      Value pair = arith::ExtFOp::create(b, wideType, pairOf(powers, {0, column, half}));
      all = all ? arith::AddFOp::create(b, all, pair).getResult() : pair;
    }
    Value row = arith::AddFOp::create(b, LLVM::ExtractElementOp::create(b, all, number(0)),
                                      LLVM::ExtractElementOp::create(b, all, number(1)));
    for (int64_t distance : {1, 2}) {
      Value other = NVVM::ShflOp::create(b, row.getType(), number(-1), row, number(distance),
                                         number(31), NVVM::ShflKind::bfly, UnitAttr());
      row = arith::AddFOp::create(b, row, other);
    }
    Value times = arith::ConstantOp::create(b, b.getFloatAttr(b.getF32Type(), factor));
    row = arith::MulFOp::create(b, row, times);
    sums[size_t(half)] = arith::AddFOp::create(b, sums[size_t(half)], row);
  }
  return sums;
}
