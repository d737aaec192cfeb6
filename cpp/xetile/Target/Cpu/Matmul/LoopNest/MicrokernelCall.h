//===- MicrokernelCall.h - the body of a deep-tiled matmul -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_MICROKERNELCALL_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_MICROKERNELCALL_H

#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadNest.h"

namespace xetile {

/// Adds to `sums`, of `tile`, a piece of `block`, the products of what it has of the block's
/// operands `a` and `bBlock`. The first step of k starts the sums, where the plan has a start.
mlir::Value multiplyTile(const ThreadNest &nest, const BlockPiece &block, const Piece &tile,
                         mlir::Value a, mlir::Value bBlock, mlir::Value sums);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_MICROKERNELCALL_H
