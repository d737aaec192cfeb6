//===- DeepTilePlan.h - all that is decided before any code is written -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_DEEPTILEPLAN_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_DEEPTILEPLAN_H

#include "xetile/Target/Cpu/Matmul/LoopNest/EpiloguePlan.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/FetchPlan.h"

namespace xetile {

/// The plans of one matmul. Each is made from those above it; the emitters read them.
struct DeepTilePlan {
  const Contraction &matmul;
  const Fusion &fusion;
  const ThreadPlan threads;
  const BlockPlan blocks;
  const PackingPlan packing;
  const FetchPlan fetches;
  const EpiloguePlan epilogue;

  DeepTilePlan(const Contraction &matmul, const ConfigChoice &choice, const Fusion &fusion)
      : matmul(matmul), fusion(fusion), threads(planThreads(matmul, choice.config)),
        blocks(planBlocks(matmul, choice, threads)),
        packing(planPacking(matmul, choice, fusion, threads, blocks)),
        fetches(planFetches(matmul, choice, fusion, blocks, packing)),
        epilogue(planEpilogue(matmul, fusion, threads, blocks)) {}
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_DEEPTILEPLAN_H
