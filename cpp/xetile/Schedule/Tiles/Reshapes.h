//===- Reshapes.h - reshapes of what a kernel returns --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_RESHAPES_H
#define XETILE_SCHEDULE_TILES_RESHAPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace xetile::transform_ops {

/// The tensors that `func` computes and returns. If it reduces, those before reshapes of them where
/// they have one shape: rows of its tiles are then those that are reduced, and memory is reshaped
/// at no cost.
llvm::SetVector<mlir::Value> computedBefore(mlir::func::FuncOp func);

/// `returned` with `by` in the place of `result`, the tensor before its reshapes; null if it is of
/// another one.
mlir::Value reshapeAs(mlir::RewriterBase &rewriter, mlir::Value returned, mlir::Value result,
                      mlir::Value by);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_RESHAPES_H
