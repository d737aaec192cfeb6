//===- HasElements.h - whether a linalg op's loops have rounds ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_HASELEMENTS_H
#define XETILE_LINALG_HASELEMENTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLExtras.h"

namespace xetile {

/// True if no loop of `op` has a static trip count of zero. Such ops cannot be tiled: upstream's
/// tiling reads a step of a loop that it folds away (docs/upstream.md).
inline bool hasElements(mlir::linalg::LinalgOp op) {
  return !llvm::is_contained(op.getStaticLoopRanges(), 0);
}

} // namespace xetile

#endif // XETILE_LINALG_HASELEMENTS_H
