//===- ThreadPlan.cpp - how threads share a matmul ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction and its configuration. Out: counts of threads, sizes and indexing of their
// parts. Nothing is refused: the configuration is legal.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadPlan.h"
#include "xetile/Target/Cpu/Matmul/Config/CostModel.h"

using namespace mlir;
using namespace xetile;

ThreadPlan xetile::planThreads(const Contraction &matmul, const MatmulConfig &config) {
  ThreadPlan plan;
  for (MatmulDim dim : {kM, kN, kK}) {
    int64_t extent = matmul.sizes[matmul.tiled(dim)], count = config.threads[dim];
    int64_t step = threadStep(matmul, config, dim, count) / matmul.unit[dim];
    bool isEven = !ShapedType::isDynamic(extent) && extent % (count * step) == 0;
    plan.counts[dim] = count;
    plan.innermost[dim] = config.innermost[dim] / matmul.unit[dim];
    plan.steps[dim] = step;
    plan.parts[dim] = count == 1 ? extent : isEven ? extent / count : ShapedType::kDynamic;
  }
  for (unsigned operand : {0, 1, 2})
    plan.maps[operand] = matmul.dropBatch(matmul.map(operand));
  return plan;
}
