//===- PlainLoads.cpp - tiles in the ring without TMA -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tiles whose rows are no multiples of 16 bytes apart, or not adjacent along k as wgmma wants
// them. Out: copies by the threads of the warpgroup that loads, to where TMA would put the
// elements. Refused: nothing; RingPlan.cpp has.
//
// What is 4 bytes and more goes by cp.async, so that some stages are on their way; what is less by
// registers. Writes of threads are seen by wgmma behind a fence of the writer.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

constexpr int64_t kLeastAsync = 4, kCell = 16; // bytes of cp.async, and that the swizzle moves

static bool isAsync(const TilePlace &place) {
  return place.isPlain && place.unitBytes >= kLeastAsync;
}

/// Each thread says that it has written its part, and TMA's thread once more for what arrives.
int64_t KernelWriter::fullArrivals() const {
  if (!plan.hasPlainLoads())
    return 1;
  return kWarpgroup + (plan.a.isPlain && plan.b.isPlain ? 0 : 1);
}

bool KernelWriter::hasAsyncCopies() const { return isAsync(plan.a) || isAsync(plan.b); }

/// Stages that are loaded before the first of them is waited for. The ring keeps two more: a stage
/// is empty only when the product behind it was begun.
int64_t KernelWriter::loadsInFlight() const {
  return hasAsyncCopies() ? std::clamp<int64_t>(plan.stages() - 2, 0, 3) : 0;
}

/// Where a unit is in a tile of the ring: columns of 128 bytes, whose cells are permuted by the row
/// as TMA's 128-byte swizzle does.
Value KernelWriter::unitInRing(const TilePlace &place, Value row, Value column) {
  if (place.isSwapped)
    std::swap(row, column);
  Value byte = mul(column, place.unitBytes);
  Value chunk = mul(shiftRight(byte, 7), place.outerInRing() * kSwizzleBytes);
  Value cell = bitXor(bitAnd(shiftRight(byte, 4), 7), bitAnd(row, 7));
  Value inside = add(shiftLeft(cell, 4), bitAnd(byte, kCell - 1));
  return add(add(chunk, mul(row, kSwizzleBytes)), inside);
}

/// An offset of a tile where the loop's counter is `k`.
Value KernelWriter::offsetAt(OpFoldResult offset, Value k) {
  auto value = dyn_cast<Value>(offset);
  if (value == plan.loop.getInductionVar())
    return k;
  return fromIndex(value ? OpFoldResult(copies.lookupOrDefault(value)) : offset);
}

/// The threads' parts of a tile. Units beyond the edges read the last one and write zeros.
void KernelWriter::copyTile(const TilePlace &place, Value to, Value k) {
  if (place.window)
    return copyWindows(place, to, k);
  int64_t unit = place.unitBytes, elements = unit / plan.inputBytes();
  int64_t perRow = place.inner / elements, each = place.outer * perRow / kWarpgroup;
  int64_t atOnce = each % 8 ? 4 : 8;
  Value outerOffset = offsetAt(place.outerOffset, k), innerOffset = offsetAt(place.innerOffset, k);
  Value source = copies.lookupOrDefault(place.source);
  auto within = [&](Value at, unsigned dim, int64_t count) -> Value {
    Value last = arith::SubIOp::create(b, sizeOf(source, dim),
                                       arith::ConstantIndexOp::create(b, count).getResult());
    return arith::MinUIOp::create(b, at, last);
  };
  auto loop = scf::ForOp::create(b, number(0), number(each), number(atOnce));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<std::pair<Value, Value>> loaded; // elements, and where they go
  for (int64_t i = 0; i < atOnce; ++i) {
    Value own = add(mul(add(loop.getInductionVar(), i), kWarpgroup), lane);
    Value row = arith::DivUIOp::create(b, own, number(perRow));
    Value column = arith::RemUIOp::create(b, own, number(perRow));
    Value target = at(to, unitInRing(place, row, column));
    Value outer = toIndex(add(outerOffset, row));
    Value inner = toIndex(add(innerOffset, mul(column, elements)));
    Value isThere = isInside(source, outer, inner);
    Value pointer = elementOf(source, within(outer, 0, 1), within(inner, 1, elements));
    if (isAsync(place)) {
      auto kind = unit == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
      NVVM::CpAsyncOp::create(b, target, pointer, uint32_t(unit), kind,
                              select(isThere, number(unit), number(0)));
      continue;
    }
    Type type = b.getIntegerType(unsigned(unit * 8));
    Value value = LLVM::LoadOp::create(b, type, pointer, unsigned(unit));
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(type, 0));
    loaded.push_back({select(isThere, value, zero), target});
  }
  for (auto [value, target] : loaded)
    LLVM::StoreOp::create(b, value, target, unsigned(unit));
}

void KernelWriter::arriveFull(Value stage) {
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
  NVVM::MBarrierArriveOp::create(b, Type(), barrierOf(stage), Value());
}

/// The oldest stage on its way is full, once there are as many as may be.
KernelWriter::Late KernelWriter::arriveLate(Late late) {
  int64_t most = loadsInFlight();
  NVVM::CpAsyncCommitGroupOp::create(b);
  NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(most));
  Value isFirst = isEqual(late.pending, number(most));
  onlyIf(isFirst, [&] { arriveFull(late.stage); });
  Value following = add(late.stage, 1);
  following = select(isEqual(following, number(plan.stages())), number(0), following);
  return {select(isFirst, following, late.stage),
          select(isFirst, late.pending, add(late.pending, 1))};
}

/// All tiles of this workgroup, by all threads of the warpgroup.
void KernelWriter::loadTilesPlainly(Value first, Value tiles, Value step) {
  SmallVector<Operation *> body;
  for (Operation &op : *plan.loop->getBlock())
    body.push_back(&op);
  SmallVector<Value> carried(4, number(0));
  auto walk = scf::ForOp::create(b, first, tiles, step, carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(walk.getBody());
    copyPlaces(body, walk.getInductionVar());
    auto loop =
        scf::ForOp::create(b, number(0), numberOfSteps(), number(1), walk.getRegionIterArgs());
    scf::YieldOp::create(b, loop.getResults());
    b.setInsertionPointToStart(loop.getBody());
    ValueRange now = loop.getRegionIterArgs();
    Turn turn{now[0], now[1]};
    Late late{now[2], now[3]};
    waitFor(emptyOf(turn.stage), bitXor(turn.phase, number(1)));
    if (!plan.a.isPlain || !plan.b.isPlain)
      onlyIf(isEqual(lane, number(0)), [&] { loadStage(turn.stage, loop.getInductionVar()); });
    Value k = mul(loop.getInductionVar(), plan.tiling.kStep);
    Value to = mul(turn.stage, plan.stageBytes());
    if (plan.a.isPlain)
      copyTile(plan.a, at(shared, to), k);
    if (plan.b.isPlain)
      copyTile(plan.b, at(shared, add(to, plan.bytesOfA())), k);
    if (hasAsyncCopies())
      late = arriveLate(late);
    else
      arriveFull(turn.stage);
    Turn after = next(turn);
    scf::YieldOp::create(b, ValueRange{after.stage, after.phase, late.stage, late.pending});
    copies.clear();
  }
  if (!hasAsyncCopies())
    return;
  NVVM::CpAsyncWaitGroupOp::create(b, uint32_t(0));
  Value stage = walk.getResult(2);
  for (int64_t i = 0; i < loadsInFlight(); ++i) {
    onlyIf(isBelow(number(i), walk.getResult(3)), [&] { arriveFull(stage); });
    Value following = add(stage, 1);
    stage = select(isEqual(following, number(plan.stages())), number(0), following);
  }
}
