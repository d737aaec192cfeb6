//===- Simplify.h - rewrites of linalg ops outside of loops ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_SIMPLIFY_H
#define XETILE_LINALG_SIMPLIFY_H

#include "mlir/IR/Operation.h"

namespace xetile {

/// Runs the pass xetile-drop-unit-dims on the functions in `root`, which may be one.
llvm::LogicalResult dropUnitDims(mlir::Operation *root);
/// Runs the pass xetile-fuse-elementwise on ops that it `mayTake`; with `repeatCheapOps` a cheap
/// producer is recomputed in each of its users. A fused op has at most `mostInputs` tensor operands
/// then, any number if 0.
void fuseElementwise(
    mlir::Operation *root, bool repeatCheapOps,
    llvm::function_ref<bool(mlir::Operation *)> mayTake = [](mlir::Operation *) { return true; },
    unsigned mostInputs = 0);

} // namespace xetile

#endif // XETILE_LINALG_SIMPLIFY_H
