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

/// Of a matrix in shared memory: its address, the distance of its columns of chunks, and of groups
/// of 8 rows; 128-byte swizzle.
Value KernelWriter::descriptor(Value address, int64_t leading) {
  int64_t known = (leading >> 4) << 16 | (kGroup >> 4) << 32 | int64_t(1) << 62;
  Value low = arith::ExtUIOp::create(b, b.getI64Type(), shiftRight(bitAnd(address, 0x3FFFF), 4));
  return arith::OrIOp::create(b, low, wide(known));
}

void KernelWriter::beginProducts() {
  const MatmulTiling &tiling = plan.tiling;
  int64_t rows = plan.warpgroupRows();
  // Rows of A: behind one another, or a chunk of 64 for each warpgroup's block.
  int64_t share =
      plan.a.isTransposed ? rows / kWgmmaM * plan.a.outer * kSwizzleBytes : rows * kSwizzleBytes;
  int64_t leadingA = plan.a.isTransposed ? plan.a.outer * kSwizzleBytes : 16;
  int64_t leadingB = plan.b.isTransposed ? 16 : plan.b.outer * kSwizzleBytes;
  descriptorA = descriptor(add(address, mul(warpgroup, share)), leadingA);
  descriptorB = descriptor(add(address, plan.a.inner * plan.a.outer * 2), leadingB);
  SmallVector<Type> types(tiling.workgroupN / 2, b.getF32Type());
  sumsType = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
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

void KernelWriter::multiply(SmallVectorImpl<Value> &sums, Value stage) {
  const MatmulTiling &tiling = plan.tiling;
  Value offset = arith::ExtUIOp::create(b, b.getI64Type(), mul(stage, stageBytes(tiling) >> 4));
  auto moved = [&](Value base, int64_t bytes) {
    Value by = bytes ? arith::AddIOp::create(b, base, wide(bytes >> 4)) : base;
    return by;
  };
  // 16 of k: 32 bytes of a row of 128, or 16 rows.
  auto alongK = [&](const TilePlace &place, bool kIsInner, int64_t number) {
    if (!kIsInner)
      return number * kWgmmaK * kSwizzleBytes;
    int64_t perRow = kSwizzleBytes / (2 * kWgmmaK);
    return number / perRow * place.outer * kSwizzleBytes + number % perRow * 2 * kWgmmaK;
  };
  Value a = arith::AddIOp::create(b, descriptorA, offset);
  Value c = arith::AddIOp::create(b, descriptorB, offset);
  auto input = cast<VectorType>(plan.mma.getA().getType()).getElementType();
  NVVM::WGMMATypes kind = input.isF16() ? NVVM::WGMMATypes::f16 : NVVM::WGMMATypes::bf16;
  auto layout = [](bool isColumns) {
    return isColumns ? NVVM::MMALayout::col : NVVM::MMALayout::row;
  };
  auto shape = NVVM::MMAShapeAttr::get(b.getContext(), kWgmmaM, int(tiling.workgroupN), kWgmmaK);
  int64_t blockBytes = kWgmmaM / (plan.a.isTransposed ? kWgmmaM : 1) *
                       (plan.a.isTransposed ? plan.a.outer : 1) * kSwizzleBytes;
  NVVM::WgmmaFenceAlignedOp::create(b);
  for (int64_t k = 0; k < tiling.kStep / kWgmmaK; ++k) {
    Value fromB = moved(c, alongK(plan.b, plan.b.isTransposed, k));
    for (auto [block, sum] : llvm::enumerate(sums)) {
      Value fromA = moved(a, alongK(plan.a, !plan.a.isTransposed, k) + int64_t(block) * blockBytes);
      sum = NVVM::WgmmaMmaAsyncOp::create(
          b, sumsType, sum, fromA, fromB, shape, kind, kind, NVVM::WGMMATypes::f32,
          NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one,
          layout(plan.a.isTransposed), layout(plan.b.isTransposed), NVVM::MMAIntOverflowAttr());
    }
  }
  NVVM::WgmmaGroupSyncAlignedOp::create(b);
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
  NVVM::WgmmaWaitGroupSyncOp::create(b, uint64_t(1));
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
