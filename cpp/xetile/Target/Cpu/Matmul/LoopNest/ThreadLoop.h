//===- ThreadLoop.h - the parallel loop of a deep-tiled matmul ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_THREADLOOP_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_THREADLOOP_H

#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadNest.h"

namespace xetile {

/// One parallel loop over batches and threads, which write their results to `into`; returns what it
/// is then. Where there is one thread, its loops alone.
mlir::Value emitThreadLoop(mlir::RewriterBase &b, const DeepTilePlan &plan,
                           const IterationSpace &space, const PackedConstants &constants,
                           mlir::Value into);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_THREADLOOP_H
