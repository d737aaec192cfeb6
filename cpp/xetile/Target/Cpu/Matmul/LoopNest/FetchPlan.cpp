//===- FetchPlan.cpp - what is fetched while a block is multiplied -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction, its configuration, blocks, what is packed. Out: which rows of B each call of
// the microkernel fetches. Nothing is refused: what does not come from memory is not fetched.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/FetchPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// From one of `lines` to the next, in `steps`. All stretches are equally long, unless that fetches
/// twice as often.
static int64_t stepsBetween(int64_t steps, int64_t lines) {
  int64_t most = std::max<int64_t>(steps / lines, 1);
  for (int64_t between = most; 2 * between > most; --between)
    if (steps % between == 0)
      return between;
  return most;
}

FetchPlan xetile::planFetches(const Contraction &matmul, const ConfigChoice &choice,
                              const Fusion &fusion, const BlockPlan &blocks,
                              const PackingPlan &packing) {
  const PackingPlan::Operand &right = packing.operands[1];
  FetchPlan plan;
  int64_t bytes = std::max<int64_t>(matmul.elementType(1).getIntOrFloatBitWidth() / 8, 1);
  if (choice.fetchAhead && right.form == BlockForm::InPlace) {
    // Measured on an Emerald Rapids: 4 to 32 steps; 8 of them with tiles of 6 x 64 to 8 x 48 are
    // some 100 cycles.
    constexpr int64_t kAhead = 8;
    plan.rows = blocks.sizes[kK];
    plan.columns = blocks.innermost[kN];
    plan.lines = llvm::divideCeil(plan.columns * bytes, kCacheLineBytes);
    plan.ahead = kAhead;
    return plan;
  }
  if (!choice.fetchB || !packing.hasPanels() || !right.isCopied() || fusion.producers[1])
    return plan;
  int64_t lines = llvm::divideCeil(blocks.sizes[right.dims[1]] * bytes, kCacheLineBytes);
  int64_t calls = 1;
  for (MatmulDim dim : {kM, kN})
    calls *= llvm::divideCeil(blocks.sizes[dim], blocks.innermost[dim]);
  int64_t all = blocks.sizes[right.dims[0]], fetching = std::min(calls, all);
  // More than a line in a step of k would have to wait for one another.
  int64_t steps = std::max<int64_t>(blocks.sizes[kK] / packing.group, 1);
  int64_t most = std::max<int64_t>(steps / lines, 1);
  plan.rows = std::min<int64_t>(llvm::divideCeil(all, fetching), most);
  plan.steps = stepsBetween(steps, plan.rows * lines);
  plan.columns = blocks.sizes[right.dims[1]];
  plan.firstCall = calls - fetching;
  return plan;
}
