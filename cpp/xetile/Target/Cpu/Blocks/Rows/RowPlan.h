//===- RowPlan.h - ops that share the rows of a tensor -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_BLOCKS_ROWS_ROWPLAN_H
#define XETILE_TARGET_CPU_BLOCKS_ROWS_ROWPLAN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Facts/Result.h"
#include "xetile/IR/DialectAttrs.h"
#include "llvm/ADT/SetVector.h"

namespace xetile {

/// Ops that are computed block by block, each block of all of them before the next.
struct RowPlan {
  /// The last one: its loops are tiled.
  mlir::linalg::LinalgOp root;
  /// Producers that are fused into its loops. They have no other users.
  llvm::SmallSetVector<mlir::Operation *, 8> producers;
  /// Sizes of a block along the loops of `root`; 0 for all of a dimension.
  llvm::SmallVector<int64_t> tiles;
  /// How many blocks there are, if that is known.
  int64_t blocks = mlir::ShapedType::kDynamic;
  /// Footprints of a block and of all blocks; kDynamic if they are not known.
  int64_t blockBytes = mlir::ShapedType::kDynamic, allBytes = mlir::ShapedType::kDynamic;
};

/// Constraints of a plan.
struct RowOptions {
  int64_t cacheBytes = 0;
  /// Of the first level: blocks are smaller where some rows fit it, as what streams in and out
  /// then overlaps with what is computed.
  int64_t nearBytes = 0;
  /// Rows of a block at most, whatever they touch; 0 for as many as `cacheBytes` hold.
  int64_t rows = 0;
  /// Threads that are to have equal shares of the blocks.
  int64_t threads = 1;
  bool alone = false;
  /// Those whose marks ops may have (ScheduleMark.h).
  llvm::ArrayRef<std::string> schedules;
};

/// A plan for the ops that end in `root`; an error if they have no rows in common, or if all that
/// they touch takes no more than `options.cacheBytes` and is too little for several threads.
/// - rows: the loops of `root` along which each producer computes a part of its own for a block;
/// - a producer that other ops read, too, or that blocks would compute again is none.
/// `options.alone`: whether an op without producers is worth a plan.
Result<RowPlan> planRows(mlir::linalg::LinalgOp root, const RowOptions &options);

} // namespace xetile

#endif // XETILE_TARGET_CPU_BLOCKS_ROWS_ROWPLAN_H
