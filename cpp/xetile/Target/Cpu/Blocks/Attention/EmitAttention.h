//===- EmitAttention.h - attention as loops over heads and rows --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_BLOCKS_ATTENTION_EMITATTENTION_H
#define XETILE_TARGET_CPU_BLOCKS_ATTENTION_EMITATTENTION_H

#include "mlir/IR/PatternMatch.h"
#include "xetile/Target/Cpu/Blocks/Attention/AttentionPlan.h"

namespace xetile {

/// Replaces the ops of `plan` by a loop over heads and parts of rows, one over blocks of rows in
/// it, and the ops on a block.
void emitAttention(mlir::RewriterBase &rewriter, AttentionPlan &plan);

} // namespace xetile

#endif // XETILE_TARGET_CPU_BLOCKS_ATTENTION_EMITATTENTION_H
