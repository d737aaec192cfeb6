//===- Elementwise.h - what is computed element by element --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_ELEMENTWISE_H
#define XETILE_LINALG_ELEMENTWISE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace xetile {

/// True if each element of the results of `op` is computed from one element of each operand, by ops
/// that vectors take, too. Inputs may be transposed or repeated; results have all loops.
bool isElementwiseOnTensors(mlir::Operation *op);

/// True if `isOne` of the op that makes the tensor, or of one that elementwise ops make it of, all
/// of its shape.
bool comesElementwiseFrom(mlir::Value tensor, llvm::function_ref<bool(mlir::Operation *)> isOne);

/// True if `body` is elementwise and speculatable, as vectors also compute lanes that are not used:
/// it has no integer division, which may trap.
bool isElementwiseBody(mlir::Block &body);

/// The one result of `op` is a tensor whose elements are computed alike from elements of tensors,
/// each by dimensions alone, and `isElementwiseBody`. Fills are none; a linalg op has one init.
bool isMergeable(mlir::Operation *op);

/// Rewrites of given ops alone, which fold nothing besides.
mlir::GreedyRewriteConfig plainRewrites(mlir::RewriterBase::Listener *listener = nullptr);

/// Takes elementwise ops into those that read them, where `mayMerge`, until nothing changes. An op
/// that was taken in is a use of what it reads until it is erased: `findOps` is asked anew in each
/// round.
void mergeElementwise(mlir::MLIRContext *context,
                      llvm::function_ref<llvm::SmallVector<mlir::Operation *>()> findOps,
                      const mlir::linalg::ControlFusionFn &mayMerge,
                      mlir::GreedyRewriteConfig config);

} // namespace xetile

#endif // XETILE_LINALG_ELEMENTWISE_H
