//===- Ring.cpp - tiles of A and B in stages of shared memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the places of the tiles in memory. Out: tensor maps, barriers, loads by TMA.
// Refused: nothing; RingPlan.cpp has.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

constexpr int64_t kWaitTicks = 10'000'000; // nanoseconds, then it asks again

static LLVM::LLVMPointerType pointerTo(OpBuilder &b, unsigned space) {
  return LLVM::LLVMPointerType::get(b.getContext(), space);
}

/// The parameter that has the numbers of tiles, in a global's place until there are parameters.
Value KernelWriter::makeGrid() {
  OpBuilder::InsertionGuard guard(b);
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  std::string name = (kernel.getName() + "_grid").str();
  // Three numbers, and behind them the address of a counter.
  auto type = LLVM::LLVMArrayType::get(b.getI32Type(), plan.drawsTiles ? 6 : 3);
  b.setInsertionPointToStart(module.getBody());
  auto global = LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::External, name,
                                       Attribute());
  global->setAttr(kGridAttr, b.getUnitAttr());
  b.setInsertionPointToStart(&kernel.getBody().front());
  return LLVM::AddressOfOp::create(b, pointerTo(b, 0), name);
}

Value KernelWriter::makeMap(const TilePlace &place, int64_t inner, int64_t outer) {
  OpBuilder::InsertionGuard guard(b);
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  std::string name = (kernel.getName() + "_map" + Twine(numMaps++)).str();
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), 128);
  b.setInsertionPointToStart(module.getBody());
  auto map = LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::External, name,
                                    Attribute());
  NamedAttrList described;
  described.append("argument", b.getI64IntegerAttr(place.matrix.getArgNumber()));
  described.append("box", b.getDenseI64ArrayAttr({inner, outer}));
  if (place.outerDim != 1)
    described.append("outer_dim", b.getI64IntegerAttr(place.outerDim));
  if (plan.isSplit())
    described.append("exact", b.getUnitAttr());
  map->setAttr(kMapAttr, described.getDictionary(b.getContext()));
  b.setInsertionPointToStart(&kernel.getBody().front());
  return LLVM::AddressOfOp::create(b, pointerTo(b, 0), name);
}

void KernelWriter::beginRing() {
  const MatmulTiling &tiling = plan.tiling;
  auto module = kernel->getParentOfType<gpu::GPUModuleOp>();
  std::string name = (kernel.getName() + "_shared").str();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
                           LLVM::Linkage::External, name, Attribute(), kSwizzleAlign, 3);
  }
  if (plan.isSpecialized)
    grid = makeGrid();
  if (!plan.a.isPlain)
    mapA = makeMap(plan.a, plan.rowElements(), plan.a.outer);
  if (!plan.b.isPlain)
    mapB = makeMap(plan.b, plan.rowElements(), plan.b.outer);
  if (plan.isOnline())
    mapQueries = makeMap(plan.queries, plan.rowElements(), plan.queries.outer);
  shared = LLVM::AddressOfOp::create(b, pointerTo(b, 3), name);
  address = LLVM::PtrToIntOp::create(b, b.getI32Type(), shared);
  barriers = at(shared, number(plan.ringBytes() + storeBytes(tiling)));
  thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  // The same in all lanes of a warp, and known to be.
  warpgroup = NVVM::ShflOp::create(b, b.getI32Type(), number(-1), shiftRight(thread, 7), number(0),
                                   number(31), NVVM::ShflKind::idx, UnitAttr());
  lane = bitAnd(thread, kWarpgroup - 1);
  isFirst = isEqual(thread, number(0));
  onlyIf(isFirst, [&] {
    if (plan.isOnline())
      beginOnlineBarriers();
    int64_t count = plan.isOnline() ? 0 : plan.stages();
    for (int64_t stage = 0; stage < count; ++stage)
      NVVM::MBarrierInitOp::create(b, barrierOf(number(stage)), number(fullArrivals()), Value());
    // One thread of each warpgroup that multiplies says that it has read a stage, or of each warp.
    int64_t readers = tiling.subgroupsM * (plan.isSplit() ? kWarpgroup / 32 : 1);
    for (int64_t stage = 0; plan.isSpecialized && stage < count; ++stage)
      NVVM::MBarrierInitOp::create(b, emptyOf(number(stage)), number(readers), Value());
    NVVM::FenceMbarrierInitOp::create(b);
  });
  onlyIf(isEqual(thread, number(32)), [&] {
    for (Value map : {mapA, mapB, mapQueries})
      if (map)
        NVVM::PrefetchOp::create(b, NVVM::PrefetchCacheLevelAttr(),
                                 NVVM::CacheEvictionPriorityAttr(), map, Value(), b.getUnitAttr());
  });
  waitForAll();
}

Value KernelWriter::barrierOf(Value stage) { return at(barriers, mul(stage, 8)); }

Value KernelWriter::emptyOf(Value stage) {
  return at(barriers, add(mul(stage, 8), 8 * plan.stages()));
}

void KernelWriter::waitFor(Value barrier, Value phase) {
  NVVM::MBarrierTryWaitParityOp::create(b, barrier, phase, number(kWaitTicks));
}

Value KernelWriter::numberOfSteps() {
  int64_t step = plan.tiling.kStep;
  Value end = fromIndex(copies.lookupOrDefault(plan.loop.getUpperBound()));
  if (plan.isOnline()) {
    // Of a mask that leaves nothing to see: none, or the one that always goes first.
    Value keys = b.createOrFold<arith::SubIOp>(end, firstKey());
    end = b.createOrFold<arith::MaxSIOp>(keys, number(plan.overlaps ? step : 0));
  }
  return arith::DivUIOp::create(b, add(end, step - 1), number(step));
}

void KernelWriter::waitForAll(Value barrier, int64_t threads) {
  NVVM::BarrierOp::create(b, Type(), barrier, threads ? number(threads) : Value(),
                          NVVM::BarrierReductionAttr(), Value());
}

/// Where a box begins, the adjacent dimension first.
SmallVector<Value> KernelWriter::boxOf(const TilePlace &place, Value inner, Value outer) {
  SmallVector<Value> at = {inner};
  for (OpFoldResult index : llvm::reverse(place.batch)) {
    auto value = dyn_cast<Value>(index);
    at.push_back(fromIndex(value ? OpFoldResult(copies.lookupOrDefault(value)) : index));
  }
  at.insert(at.begin() + place.outerDim, outer);
  return at;
}

void KernelWriter::loadTile(const TilePlace &place, Value map, Value to, Value barrier, Value k) {
  Value inner = offsetAt(place.innerOffset, k), outer = offsetAt(place.outerOffset, k);
  int64_t columns = plan.rowElements();
  for (int64_t at = 0; at < place.inner; at += columns) {
    Value target = ThreadCode::at(to, number(at / columns * place.outer * kSwizzleBytes));
    Value cluster = LLVM::AddrSpaceCastOp::create(b, pointerTo(b, 7), target);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        b, cluster, map, boxOf(place, add(inner, at), outer), barrier, ValueRange(), Value(),
        Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(), Value());
  }
}

/// TMA's part of a stage, by one thread.
void KernelWriter::loadStage(Value stage, Value step) {
  const MatmulTiling &tiling = plan.tiling;
  Value barrier = barrierOf(stage), k = mul(step, tiling.kStep);
  int64_t bytes = plan.stageBytes(), ofA = plan.bytesOfA();
  int64_t expected = (plan.a.isPlain ? 0 : ofA) + (plan.b.isPlain ? 0 : bytes - ofA);
  NVVM::MBarrierArriveExpectTxOp::create(b, Type(), barrier, number(expected),
                                         NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
  Value to = mul(stage, bytes);
  if (!plan.a.isPlain)
    loadTile(plan.a, mapA, at(shared, to), barrier, k);
  if (!plan.b.isPlain)
    loadTile(plan.b, mapB, at(shared, add(to, ofA)), barrier, k);
}
