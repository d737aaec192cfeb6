//===- Products.cpp - wgmma on the stages of the ring -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a ring, tiles in either order. Out: the loop over k, sums in registers.
// Refused: nothing; RingPlan.cpp has.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

constexpr int64_t kGroup = 8 * kSwizzleBytes; // of the swizzle: 8 rows

/// The half of a descriptor that differs between matrices in shared memory: the address, and the
/// distance of columns of chunks. Arithmetic of 32 bits on what is the same in a warp stays with
/// the uniform registers that wgmma reads descriptors from; that of 64 bits goes through each
/// thread's.
Value KernelWriter::descriptor(Value address, int64_t leading) {
  Value low = shiftRight(bitAnd(address, 0x3FFFF), 4);
  return b.createOrFold<arith::OrIOp>(low, number((leading >> 4) << 16));
}

/// The descriptor of what is `bytes` behind: with the distance of groups of 8 rows, and the swizzle
/// of 128 bytes.
Value KernelWriter::descriptorAt(Value base, int64_t bytes) {
  constexpr int64_t kUpper = (kGroup >> 4) << 32 | int64_t(1) << 62;
  Value low = arith::ExtUIOp::create(b, b.getI64Type(), add(base, bytes >> 4));
  return arith::OrIOp::create(b, low, wide(kUpper));
}

void KernelWriter::beginProducts() {
  if (plan.isOnline())
    return;
  const MatmulTiling &tiling = plan.tiling;
  SmallVector<Type> types(tiling.workgroupN / 2, plan.sum());
  sumsType = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  if (plan.isSplit())
    return beginSplitProducts();
  int64_t rows = plan.warpgroupRows();
  // Rows of A: behind one another, or a chunk of 64 for each warpgroup's block.
  bool aIsTransposed = plan.a.isTransposedInRing(), bIsTransposed = plan.b.isTransposedInRing();
  int64_t columnA = plan.a.outerInRing() * kSwizzleBytes;
  int64_t share = aIsTransposed ? rows / kWgmmaM * columnA : rows * kSwizzleBytes;
  int64_t leadingA = aIsTransposed ? columnA : 16;
  int64_t leadingB = bIsTransposed ? 16 : plan.b.outerInRing() * kSwizzleBytes;
  descriptorA = descriptor(add(address, mul(warpgroup, share)), leadingA);
  descriptorB = descriptor(add(address, plan.bytesOfA()), leadingB);
}

SmallVector<Value> KernelWriter::firstSums() {
  Value first = plan.loop.getInitArgs()[0];
  SmallVector<Value> structs;
  for (int64_t block = 0; block < plan.warpgroupRows() / kWgmmaM; ++block) {
    Value all = LLVM::UndefOp::create(b, sumsType);
    for (int64_t at = 0; at < plan.tiling.workgroupN / 4; ++at) {
      Value pair = pairOf(first, {block, at / 2, at % 2});
      for (int64_t i = 0; i < 2; ++i) {
        Value element = LLVM::ExtractElementOp::create(b, pair, number(i));
        all = LLVM::InsertValueOp::create(b, all, element, ArrayRef<int64_t>{2 * at + i});
      }
    }
    structs.push_back(all);
  }
  return structs;
}

static NVVM::WGMMATypes kindOf(Type type, bool isUnsigned) {
  if (type.isInteger(8))
    return isUnsigned ? NVVM::WGMMATypes::u8 : NVVM::WGMMATypes::s8;
  if (type.isF32())
    return NVVM::WGMMATypes::tf32;
  return type.isF16() ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::bf16;
}

void KernelWriter::multiply(SmallVectorImpl<Value> &sums, Value stage) {
  if (plan.isSplit())
    return multiplySplit(sums, stage);
  const MatmulTiling &tiling = plan.tiling;
  Value offset = mul(stage, plan.stageBytes() >> 4);
  // One wgmma's part of k: 32 bytes of a row of 128, or rows.
  auto alongK = [&](const TilePlace &place, bool kIsInner, int64_t number) {
    if (!kIsInner)
      return number * plan.wgmmaK() * kSwizzleBytes;
    int64_t perRow = kSwizzleBytes / kWgmmaKBytes;
    return number / perRow * place.outerInRing() * kSwizzleBytes + number % perRow * kWgmmaKBytes;
  };
  Value a = add(descriptorA, offset), c = add(descriptorB, offset);
  NVVM::WGMMATypes kindA = kindOf(plan.input(), plan.mma.getUnsignedA());
  NVVM::WGMMATypes kindB = kindOf(plan.input(), plan.mma.getUnsignedB());
  NVVM::WGMMATypes kindOfSums = plan.sum().isF32() ? NVVM::WGMMATypes::f32 : NVVM::WGMMATypes::s32;
  auto layout = [](bool isColumns) {
    return isColumns ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  };
  auto shape =
      NVVM::MMAShapeAttr::get(b.getContext(), kWgmmaM, int(tiling.workgroupN), int(plan.wgmmaK()));
  bool aIsTransposed = plan.a.isTransposedInRing(), bIsTransposed = plan.b.isTransposedInRing();
  int64_t blockBytes = (aIsTransposed ? plan.a.outerInRing() : kWgmmaM) * kSwizzleBytes;
  NVVM::WgmmaFenceAlignedOp::create(b);
  for (int64_t k = 0; k < tiling.kStep / plan.wgmmaK(); ++k) {
    Value fromB = descriptorAt(c, alongK(plan.b, bIsTransposed, k));
    for (auto [block, sum] : llvm::enumerate(sums)) {
      Value fromA =
          descriptorAt(a, alongK(plan.a, !aIsTransposed, k) + int64_t(block) * blockBytes);
      sum = NVVM::WgmmaMmaAsyncOp::create(
          b, sumsType, sum, fromA, fromB, shape, kindA, kindB, kindOfSums, NVVM::WGMMAScaleOut::one,
          NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one, layout(aIsTransposed),
          layout(bIsTransposed), NVVM::MMAIntOverflowAttr());
    }
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
}

/// Until no more than `most` products of this warpgroup are on their way.
void KernelWriter::waitForProducts(int64_t most) {
  if (!plan.isSplit())
    NVVM::WgmmaWaitGroupSyncOp::create(b, uint64_t(most));
}

SmallVector<Value> KernelWriter::writeLoop() {
  int64_t stages = plan.stages(), ahead = stages - 1;
  steps = numberOfSteps();
  onlyIf(isFirst, [&] {
    for (int64_t stage = 0; stage < ahead; ++stage)
      onlyIf(isBelow(number(stage), steps), [&] { loadStage(number(stage), number(stage)); });
  });
  beginProducts();
  SmallVector<Value> first = firstSums();
  for (size_t chunk = 0; chunk < kChunksAhead; ++chunk)
    loadAhead(chunk);
  SmallVector<Value> carried(first);
  carried.append({number(0), number(0), number(ahead)}); // stage, phase, the stage before
  auto loop = scf::ForOp::create(b, number(0), steps, number(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> now(loop.getRegionIterArgs().take_front(first.size()));
  ValueRange rest = loop.getRegionIterArgs().drop_front(first.size());
  Value stage = rest[0], phase = rest[1], before = rest[2];
  waitFor(barrierOf(stage), phase);
  multiply(now, stage);
  // The product before this one is done, and so is everybody's after the barrier.
  waitForProducts(1);
  waitForAll();
  Value next = add(loop.getInductionVar(), ahead);
  Value refills = arith::AndIOp::create(b, isFirst, isBelow(next, steps));
  onlyIf(refills, [&] { loadStage(before, next); });
  Value following = add(stage, 1), wraps = isEqual(following, number(stages));
  SmallVector<Value> yielded(now);
  yielded.append(
      {select(wraps, number(0), following), select(wraps, bitXor(phase, number(1)), phase), stage});
  scf::YieldOp::create(b, yielded);
  return SmallVector<Value>(loop.getResults().take_front(first.size()));
}
