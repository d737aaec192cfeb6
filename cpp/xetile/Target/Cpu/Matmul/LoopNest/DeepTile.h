//===- DeepTile.h - the nine-loop rewrite of a matmul ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_DEEPTILE_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_DEEPTILE_H

#include "mlir/IR/PatternMatch.h"
#include "xetile/Target/Cpu/Matmul/Config/Request.h"

namespace xetile {

struct Fusion;
/// Replaces `matmul`, on tensors, and what `fusion` has by loops around batch-reduce matmuls;
/// returns the value that took the last result's place. `choice` must be legal.
mlir::Value deepTile(mlir::RewriterBase &rewriter, const Contraction &matmul,
                     const ConfigChoice &choice, const Fusion &fusion);

/// Replaces `matmul` by loops, configured as `request` asks for; emits an error and fails where
/// that is not legal.
mlir::FailureOr<mlir::Value> deepTile(mlir::RewriterBase &rewriter, const Contraction &matmul,
                                      const DeepTileRequest &request);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_DEEPTILE_H
