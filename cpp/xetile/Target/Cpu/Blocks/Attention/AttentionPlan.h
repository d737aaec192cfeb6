//===- AttentionPlan.h - an attention's dimensions and blocks ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_BLOCKS_ATTENTION_ATTENTIONPLAN_H
#define XETILE_TARGET_CPU_BLOCKS_ATTENTION_ATTENTIONPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Facts/Result.h"
#include "xetile/Target/Cpu/Machine/Machine.h"

namespace xetile {

/// The iteration dimension of a loop of one of the ops: heads and batches, each a dimension of its
/// own; rows of queries; keys; elements of a query and a key, or of a value.
enum class AttentionDim : uint8_t { Head, Row, Key, Inner, Value };

struct AttentionPlan {
  /// In the order of their block. Fills are not among them.
  llvm::SmallVector<mlir::linalg::GenericOp> ops;
  /// The contractions, and what computes the result: the second one, or an elementwise op on it.
  mlir::linalg::GenericOp scores, output, last;
  /// The iteration dimension of each loop of an op, and for heads their number.
  struct Loop {
    AttentionDim dim;
    unsigned head = 0;
  };
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Loop>> loops;
  llvm::SmallVector<int64_t> heads;
  int64_t rows = 0, keys = 0, inner = 0, values = 0;

  /// Rows of a block. The last one begins so that it has as many: it may compute some again.
  int64_t blockRows = 0;
  /// Parts of the rows that threads share, each of `partRows`, the last of what is left.
  int64_t parts = 1, partRows = 0;
  /// Of the scores of a block, and of all.
  int64_t blockBytes = 0, allBytes = 0;

  /// True if an op is computed for each block of rows, not once per head.
  bool hasRows(mlir::Operation *op) const {
    return llvm::any_of(loops.lookup(op), [](Loop loop) { return loop.dim == AttentionDim::Row; });
  }
};

/// The plan for a function as simplifyAttention leaves it, or why there is none.
/// - a block's scores take half of the second-level cache, or as many bytes as the fewest rows do
///   that pay for reading keys and values again;
/// - `threads` share heads, and where these cannot be shared evenly parts of the rows.
Result<AttentionPlan> planAttention(mlir::func::FuncOp function, const Machine &machine,
                                    int64_t threads);

} // namespace xetile

#endif // XETILE_TARGET_CPU_BLOCKS_ATTENTION_ATTENTIONPLAN_H
