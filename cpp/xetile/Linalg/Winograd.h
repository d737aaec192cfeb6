//===- Winograd.h - Winograd's transforms as sums of products -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_WINOGRAD_H
#define XETILE_LINALG_WINOGRAD_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace xetile {

/// True if `op` is one of Winograd's transforms.
bool isWinogradTransform(mlir::Operation *op);

/// Replaces a transform of static sizes by linalg.generic ops at the rewriter's insertion point; an
/// error for others.
mlir::LogicalResult decomposeWinograd(mlir::RewriterBase &rewriter, mlir::Operation *op);

} // namespace xetile

#endif // XETILE_LINALG_WINOGRAD_H
