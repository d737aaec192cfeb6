//===- LoopSteps.h - what a loop does in another of its steps ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_LOOPSTEPS_H
#define XETILE_SCHEDULE_LOOPSTEPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/IR/XeTileOps.h"
#include "llvm/ADT/SetVector.h"

namespace xetile {

/// Ops of the loop's body that compute a tile, in order, the init_tile last.
using TileSlice = llvm::SetVector<mlir::Operation *>;

/// Collects the slice that computes the offsets of `init` in `loop`. Returns why it cannot be
/// evaluated for another step, or an empty string.
std::string collectTileSlice(InitTileOp init, mlir::scf::ForOp loop, TileSlice &slice);

/// Known number of steps of the loop; nothing if a bound is not constant.
std::optional<int64_t> getKnownSteps(mlir::scf::ForOp loop);

/// The induction variable `steps` steps after it was `base`.
mlir::Value advanceBySteps(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value base,
                           mlir::scf::ForOp loop, int64_t steps);

/// The tile of the step at which the induction variable is `step`, as a tile of `type`.
InitTileOp cloneTileAt(mlir::RewriterBase &rewriter, const TileSlice &slice, mlir::scf::ForOp loop,
                       mlir::Value step, TileType type);

} // namespace xetile

#endif // XETILE_SCHEDULE_LOOPSTEPS_H
