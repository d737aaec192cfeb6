//===- FetchBlocks.h - lines of the block that is packed next ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_PACKING_FETCHBLOCKS_H
#define XETILE_TARGET_CPU_MATMUL_PACKING_FETCHBLOCKS_H

#include "xetile/IR/DialectAttrs.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadNest.h"

namespace xetile {

/// What the call of the microkernel for `tile`, a piece of `block`, fetches of the block of B that
/// comes next; `markFetching` marks the call. Past the end of B it fetches B's last rows again.
void fetchNextBlock(const ThreadNest &nest, const BlockPiece &block, const Piece &tile);

/// Marks a microkernel that a fetch of the plan stands before.
void markFetching(const FetchPlan &plan, mlir::Operation *kernel);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_PACKING_FETCHBLOCKS_H
