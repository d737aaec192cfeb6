//===- WgToSgPlan.h - how each operation is distributed --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_WGTOSGPLAN_H
#define XETILE_TRANSFORMS_WGTOSGPLAN_H

#include "mlir/Transforms/DialectConversion.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Transforms/Distribution.h"
#include "xetile/Transforms/SharedWork.h"
#include "xetile/Transforms/WgMapInference.h"

namespace xetile {

/// Decisions about the operations of a module, all made, and all errors emitted, before anything is
/// rewritten.
struct WgToSgPlan {
  explicit WgToSgPlan(const WgMapInference &maps) : maps(maps) {}

  /// Decides about everything below `root`. `slmBytes` is the shared local memory of a workgroup.
  llvm::LogicalResult make(mlir::Operation *root, int64_t slmBytes);

  const WgMapInference &maps;
  /// tile_conv_layout and tile_transpose, and what follows a reduction within each subgroup.
  llvm::DenseMap<mlir::Operation *, Move> moves;
  llvm::DenseMap<mlir::Operation *, CrossReduction> reductions;
  /// Atomic updates of which one owner makes each.
  llvm::DenseSet<mlir::Operation *> guarded;
  SubgroupPlace place;
  ScratchMemory scratch{place};

private:
  llvm::LogicalResult decide(mlir::Operation *op, int64_t slmBytes);
  llvm::LogicalResult decideReduction(TileReduceOp op, int64_t slmBytes);
  bool isExchange(mlir::Operation *op) const;
};

/// Rewrites of operations to those on one subgroup's pieces. `plan` must outlive the conversion.
void populateWgToSgPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns,
                            WgToSgPlan &plan);

} // namespace xetile

#endif // XETILE_TRANSFORMS_WGTOSGPLAN_H
