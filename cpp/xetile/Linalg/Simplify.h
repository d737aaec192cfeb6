//===- Simplify.h - rewrites of linalg ops outside of loops ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_SIMPLIFY_H
#define XETILE_LINALG_SIMPLIFY_H

#include "mlir/IR/Operation.h"

namespace xetile {

/// What the pass xetile-drop-unit-dims does to the functions in `root`, which may be one.
llvm::LogicalResult dropUnitDims(mlir::Operation *root);
/// What the pass xetile-fuse-elementwise does to ops that it `mayTake`; `repeatCheapOps` lets each
/// user of a cheap op compute it again. Ops read at most `mostInputs` tensors then, any number if
/// 0.
void fuseElementwise(
    mlir::Operation *root, bool repeatCheapOps,
    llvm::function_ref<bool(mlir::Operation *)> mayTake = [](mlir::Operation *) { return true; },
    unsigned mostInputs = 0);

} // namespace xetile

#endif // XETILE_LINALG_SIMPLIFY_H
