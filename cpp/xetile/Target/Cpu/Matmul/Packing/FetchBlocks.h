//===- FetchBlocks.h - lines of B before they are needed ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_PACKING_FETCHBLOCKS_H
#define XETILE_TARGET_CPU_MATMUL_PACKING_FETCHBLOCKS_H

#include "xetile/IR/DialectAttrs.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadNest.h"

namespace xetile {

/// Prefetches, in the microkernel call for `tile` of `block`, its share of the next block of B, or
/// its own rows of B; `markFetching` marks the call. Past the end of B its last rows are prefetched
/// again.
void fetchLines(const ThreadNest &nest, const BlockPiece &block, const Piece &tile);

/// Marks a microkernel that a fetch of the plan stands before.
void markFetching(const FetchPlan &plan, mlir::Operation *kernel);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_PACKING_FETCHBLOCKS_H
