//===- Epilogue.h - what follows a complete sum ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_EPILOGUE_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_EPILOGUE_H

#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadNest.h"

namespace xetile {

/// Memory of one thread, whose part is `extents`, for sums that are kept elsewhere than the result;
/// null if they are kept there.
mlir::Value createSumScratch(mlir::OpBuilder &b, mlir::Location loc, const DeepTilePlan &plan,
                             const IterationSpace &space, const std::array<Index, 3> &extents);

/// Finishes the sums of `tile`, a piece of `block`, if this is the last step of k: `result` is the
/// block of the result and comes back with them.
mlir::Value finishInLastStep(const ThreadNest &nest, const BlockPiece &block, const Piece &tile,
                             mlir::Value sum, mlir::Value result);

/// True if the epilogue is applied to blocks, by finishBlock, instead of to the microkernel's
/// tiles.
bool finishesBlocks(const DeepTilePlan &plan);
/// Applies the epilogue to the complete sums of the block `result`.
mlir::Value finishBlock(const ThreadNest &nest, const BlockPiece &block, mlir::Value result);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_EPILOGUE_H
