//===- BlockPlan.cpp - the loops of one thread -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction, its configuration, the threads. Out: sizes and order of the loops over blocks,
// and what is known in them. Nothing is refused: the configuration is legal.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/BlockPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// The configuration's block, less what makes all blocks of a thread's part, of some `shareStep`,
/// nearly equal.
static int64_t evenBlock(int64_t block, int64_t step, int64_t extent, int64_t threads,
                         int64_t shareStep) {
  if (ShapedType::isDynamic(extent))
    return block;
  int64_t share = llvm::divideCeil(llvm::divideCeil(extent, shareStep), threads) * shareStep;
  int64_t blocks = std::max<int64_t>(llvm::divideCeil(share, block), 1);
  return llvm::divideCeil(std::max<int64_t>(llvm::divideCeil(share, step), 1), blocks) * step;
}

BlockPlan xetile::planBlocks(const Contraction &matmul, const ConfigChoice &choice,
                             const ThreadPlan &threads) {
  const MatmulConfig &config = choice.config;
  BlockPlan plan;
  plan.innermost = threads.innermost;
  plan.order = config.middleLoops();
  bool outsideK = true;
  for (MatmulDim dim : plan.order) {
    plan.sizes[dim] =
        evenBlock(config.block[dim] / matmul.unit[dim], threads.innermost[dim],
                  matmul.sizes[matmul.tiled(dim)], threads.counts[dim], threads.steps[dim]);
    int64_t part = threads.parts[dim];
    plan.whole[dim] = !ShapedType::isDynamic(part) && part <= plan.sizes[dim];
    outsideK &= dim != kK;
    plan.knownAtK[dim] = outsideK || plan.whole[dim];
  }
  plan.mayLackK = ShapedType::isDynamic(matmul.extent(kK));
  plan.limits = {config.innermost[kM], config.innermost[kN]};
  for (MatmulDim dim : {kM, kN}) {
    int64_t extent = matmul.sizes[matmul.tiled(dim)], step = plan.innermost[dim];
    if (choice.usesTiles && !ShapedType::isDynamic(extent) && extent % step != 0)
      plan.rest[dim] = extent % step;
  }
  return plan;
}
