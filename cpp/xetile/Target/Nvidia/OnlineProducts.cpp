//===- OnlineProducts.cpp - wgmma of an attention ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: queries, keys and values in shared memory, powers in registers. Out: the two products of a
// step, on their way, and waits for them. Refused: nothing; OnlinePlan.cpp has.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

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
  Value k = descriptor(address, isTransposed ? 16 : plan.a.outer * kSwizzleBytes);
  k = add(k, mul(stage, plan.stageBytes() >> 4));
  SmallVector<Type> types(size_t(count), b.getF32Type());
  auto all = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  auto shape = NVVM::MMAShapeAttr::get(b.getContext(), kWgmmaM, int(keys), int(plan.wgmmaK()));
  NVVM::WGMMATypes kind = kindOf(plan.input());
  auto along = [&](Value base, bool isInner, int64_t outer, int64_t step) -> Value {
    return descriptorAt(base, isInner ? step / 4 * outer * kSwizzleBytes + step % 4 * kWgmmaKBytes
                                      : step * plan.wgmmaK() * kSwizzleBytes);
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
  Value v =
      descriptor(add(address, plan.bytesOfA()), isTransposed ? 16 : plan.b.outer * kSwizzleBytes);
  v = add(v, mul(stage, plan.stageBytes() >> 4));
  SmallVector<Value> operands(sums);
  operands.append(powers.begin(), powers.end());
  for (int64_t step = 0; step < steps; ++step) {
    int64_t bytes = isTransposed ? step / 4 * plan.b.outer * kSwizzleBytes + step % 4 * kWgmmaKBytes
                                 : step * plan.wgmmaK() * kSwizzleBytes;
    operands.push_back(descriptorAt(v, bytes));
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
