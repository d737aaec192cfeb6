//===- PackBlocks.h - copies of a thread's blocks ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_PACKING_PACKBLOCKS_H
#define XETILE_TARGET_CPU_MATMUL_PACKING_PACKBLOCKS_H

#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadNest.h"

namespace xetile {

/// Packs operands that are constants, or frozen: new constants, or copies in front of all loops.
PackedConstants packConstants(mlir::OpBuilder &b, mlir::Location loc, const DeepTilePlan &plan);

/// Memory of one thread for copies of blocks.
Scratch createPackScratch(mlir::OpBuilder &b, mlir::Location loc, const DeepTilePlan &plan);

/// Packs the operands whose block has just become known: outside of the loops that do not change
/// it. Returns the block with them.
BlockPiece packWhereKnown(const ThreadNest &nest, const BlockPiece &block);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_PACKING_PACKBLOCKS_H
