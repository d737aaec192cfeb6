//===- Specialized.cpp - one warpgroup loads, the others multiply -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a planned kernel that computes one tile. Out: workgroups that walk over tiles: a warpgroup
// fills stages as soon as they are empty, the next tile's while the others store one.
// Refused: nothing; RingPlan.cpp has.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

Value KernelWriter::gridSize(unsigned dimension) {
  Value place = at(grid, number(4 * int64_t(dimension)));
  return LLVM::LoadOp::create(b, b.getI32Type(), place);
}

/// Ids of workgroups become the place of a tile, sizes of the grid the numbers of tiles.
void KernelWriter::mapIds(ArrayRef<Operation *> body, Value tile, IRMapping &mapping) {
  std::array<Value, 3> sizes, ids;
  auto sizeOf = [&](unsigned dimension) {
    if (!sizes[dimension])
      sizes[dimension] = gridSize(dimension);
    return sizes[dimension];
  };
  auto idOf = [&](unsigned dimension) -> Value {
    if (ids[dimension])
      return ids[dimension];
    Value id = tile;
    for (unsigned inner = 0; inner < dimension; ++inner)
      id = arith::DivUIOp::create(b, id, sizeOf(inner));
    if (dimension < 2)
      id = arith::RemUIOp::create(b, id, sizeOf(dimension));
    // Where a mask ends the keys of the first rows early, the last ones go first.
    if (dimension == 1 && plan.online.size() > 1)
      id = arith::SubIOp::create(b, add(sizeOf(1), -1), id);
    return ids[dimension] = id;
  };
  for (Operation *op : body) {
    Value now;
    if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      now = idOf(unsigned(id.getDimension()));
    else if (auto size = dyn_cast<gpu::GridDimOp>(op))
      now = sizeOf(unsigned(size.getDimension()));
    if (now)
      mapping.map(op->getResult(0), arith::IndexCastUIOp::create(b, b.getIndexType(), now));
  }
}

/// Copies what `value` is computed of, as far as `mapping` has no copy.
void KernelWriter::copyFor(OpFoldResult value, IRMapping &mapping) {
  auto known = dyn_cast<Value>(value);
  Operation *op = known ? known.getDefiningOp() : nullptr;
  if (!op || mapping.contains(known))
    return;
  for (Value operand : op->getOperands())
    copyFor(operand, mapping);
  b.clone(*op, mapping);
}

KernelWriter::Turn KernelWriter::next(Turn turn) {
  Value following = add(turn.stage, 1), wraps = isEqual(following, number(plan.stages()));
  return {select(wraps, number(0), following),
          select(wraps, bitXor(turn.phase, number(1)), turn.phase)};
}

/// Of a loop over tiles: the first stage, and of an attention how often there were queries,
/// modulo 2.
SmallVector<Value> KernelWriter::firstTurn() {
  return SmallVector<Value>(plan.isOnline() ? 3 : 2, number(0));
}

void KernelWriter::yieldTurn(Turn turn, ValueRange carried) {
  SmallVector<Value> after = {turn.stage, turn.phase};
  if (plan.isOnline())
    after.push_back(bitXor(carried[2], number(1)));
  scf::YieldOp::create(b, after);
}

/// Copies of all that the places of a tile's operands are computed of, for the warpgroup that
/// loads.
void KernelWriter::copyPlaces(ArrayRef<Operation *> body, Value tile) {
  mapIds(body, tile, copies);
  copyFor(plan.loop.getUpperBound(), copies);
  if (plan.isOnline())
    copyFor(plan.online.front().loop.getLowerBound(), copies);
  SmallVector<const TilePlace *> places = {&plan.a, &plan.b};
  if (plan.isOnline())
    places.push_back(&plan.queries);
  for (const TilePlace *place : places) {
    SmallVector<OpFoldResult> offsets(place->batch);
    offsets.append({place->outerOffset, place->innerOffset});
    if (place->isPlain)
      offsets.push_back(place->source);
    for (OpFoldResult offset : offsets)
      if (dyn_cast<Value>(offset) != plan.loop.getInductionVar())
        copyFor(offset, copies);
  }
}

/// All tiles of this workgroup, by one thread. A stage is empty at first: the phase before is over.
void KernelWriter::loadTiles(Value first, Value tiles, Value step) {
  SmallVector<Operation *> body;
  for (Operation &op : *plan.loop->getBlock())
    body.push_back(&op);
  walkTiles(/*loads=*/true, first, tiles, step, [&](Value tile, Turn turn) {
    copyPlaces(body, tile);
    if (plan.isOnline())
      loadQueries();
    return plan.isOnline() ? loadAttention(turn) : loadSteps(turn);
  });
  copies.clear();
}

/// A loop over the tiles of a workgroup: every so many, or those that it draws.
void KernelWriter::walkTiles(bool loads, Value first, Value tiles, Value step,
                             llvm::function_ref<Turn(Value, Turn)> body) {
  if (plan.drawsTiles)
    return drawTiles(loads, tiles, body);
  auto walk = scf::ForOp::create(b, first, tiles, step, firstTurn());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(walk.getBody());
  ValueRange carried = walk.getRegionIterArgs();
  if (plan.isOnline())
    waitForQueries(loads, carried[2]);
  Turn after = body(walk.getInductionVar(), {carried[0], carried[1]});
  yieldTurn(after, carried);
}

/// The steps of a tile.
KernelWriter::Turn KernelWriter::loadSteps(Turn turn) {
  auto loop = scf::ForOp::create(b, number(0), numberOfSteps(), number(1),
                                 ValueRange{turn.stage, turn.phase});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Turn now{loop.getRegionIterArgs()[0], loop.getRegionIterArgs()[1]};
  waitFor(emptyOf(now.stage), bitXor(now.phase, number(1)));
  loadStage(now.stage, loop.getInductionVar());
  Turn after = next(now);
  scf::YieldOp::create(b, ValueRange{after.stage, after.phase});
  return {loop.getResult(0), loop.getResult(1)};
}

/// One thread says it for its warpgroup. That is safe behind a product of the whole warpgroup that
/// came after each thread's wait for the stage: none may wait for it when it is filled again.
void KernelWriter::release(Value stage, Value isSafe) {
  Value says = arith::AndIOp::create(b, isEqual(lane, number(0)), isSafe);
  onlyIf(says, [&] { NVVM::MBarrierArriveOp::create(b, Type(), emptyOf(stage), Value()); });
}

/// The loop over k of a tile.
KernelWriter::Turn KernelWriter::multiplyTile(Turn turn) {
  steps = numberOfSteps();
  SmallVector<Value> first = firstSums();
  for (size_t chunk = 0; chunk < kChunksAhead; ++chunk)
    loadAhead(chunk);
  SmallVector<Value> carried(first);
  carried.append({turn.stage, turn.phase, turn.stage}); // the last one is the stage before
  auto loop = scf::ForOp::create(b, number(0), steps, number(1), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> now(loop.getRegionIterArgs().take_front(first.size()));
    ValueRange rest = loop.getRegionIterArgs().drop_front(first.size());
    Turn inside{rest[0], rest[1]};
    waitFor(barrierOf(inside.stage), inside.phase);
    multiply(now, inside.stage);
    waitForProducts(1);
    Value isLater =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, loop.getInductionVar(), number(0));
    if (plan.isSplit())
      releaseByWarp(inside.stage);
    else
      release(rest[2], isLater);
    Turn after = next(inside);
    SmallVector<Value> yielded(now);
    yielded.append({after.stage, after.phase, inside.stage});
    scf::YieldOp::create(b, yielded);
  }
  sums.assign(loop.result_begin(), loop.result_begin() + int64_t(first.size()));
  ValueRange rest = loop.getResults().drop_front(first.size());
  waitForProducts(0);
  if (!plan.isSplit())
    release(rest[2], isBelow(number(0), steps));
  return {rest[0], rest[1]};
}

/// The kernel's own code becomes the body of a loop over tiles.
void KernelWriter::multiplyTiles(ArrayRef<Operation *> body, Value first, Value tiles, Value step) {
  beginProducts();
  giveFirstTurn();
  walkTiles(/*loads=*/false, first, tiles, step, [&](Value tile, Turn turn) {
    Block *block = b.getInsertionBlock();
    IRMapping ids;
    mapIds(body, tile, ids);
    for (Operation *op : body)
      op->moveBefore(block, block->end());
    for (auto [before, now] : ids.getValueMap())
      Value(before).replaceAllUsesWith(now);
    hoistAddresses();
    b.setInsertionPoint(plan.loop);
    Turn after = plan.isOnline() ? attendTile(turn) : multiplyTile(turn);
    b.setInsertionPointToEnd(block);
    return after;
  });
  {
    OpBuilder::InsertionGuard guard(b);
    writeStores();
  }
  finishStores();
}

void KernelWriter::writeSpecialized() {
  Block &entry = kernel.getBody().front();
  SmallVector<Operation *> body;
  for (Operation &op : entry.without_terminator())
    body.push_back(&op);
  b.setInsertionPointToStart(&entry);
  beginRing();
  Value tiles = gridSize(0);
  for (unsigned dimension : {1, 2})
    tiles = arith::MulIOp::create(b, tiles, gridSize(dimension));
  Value first = NVVM::BlockIdXOp::create(b, b.getI32Type());
  Value step = NVVM::GridDimXOp::create(b, b.getI32Type());
  int64_t loader = plan.tiling.subgroupsM;
  RegisterSplit split = splitRegisters(loader, plan.hasPlainLoads());
  auto keep = [&](int64_t registers, NVVM::SetMaxRegisterAction action) {
    if (registers)
      NVVM::SetMaxRegisterOp::create(b, uint32_t(registers), action);
  };
  auto roles = scf::IfOp::create(b, isEqual(warpgroup, number(loader)), /*withElseRegion=*/true);
  b.setInsertionPointToStart(roles.thenBlock());
  keep(split.loading, NVVM::SetMaxRegisterAction::decrease);
  if (plan.hasPlainLoads())
    loadTilesPlainly(first, tiles, step);
  else
    onlyIf(isEqual(thread, number(loader * kWarpgroup)), [&] { loadTiles(first, tiles, step); });
  b.setInsertionPointToStart(roles.elseBlock());
  keep(split.multiplying, NVVM::SetMaxRegisterAction::increase);
  multiplyTiles(body, first, tiles, step);
}
