//===- AttentionOps.h - the ops of an attention ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_ATTENTION_ATTENTIONOPS_H
#define XETILE_LINALG_ATTENTION_ATTENTIONOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Linalg/Contraction.h"
#include "llvm/ADT/SetVector.h"

namespace xetile {

/// Two contractions and what lies between them: scores of queries and keys, at least one reduction
/// of them, and the contraction of what it all leads to with values.
struct AttentionOps {
  mlir::linalg::LinalgOp scores, output;
  /// All of them in the order of their block, with the work on inputs that nothing else uses.
  llvm::SetVector<mlir::Operation *> ops;
  /// The result of the last op.
  mlir::Value result;
};

/// The attention that ends in the contraction `output`. Without one the error is empty, or tells
/// what is wrong with one that is nearly there.
Result<AttentionOps> findAttention(mlir::linalg::LinalgOp output);

/// A function of the ops alone, in no module; `arguments` are what they read of others.
mlir::OwningOpRef<mlir::func::FuncOp>
outlineAttention(const AttentionOps &attention, llvm::SmallVectorImpl<mlir::Value> &arguments);

/// Brings such a function to few ops that are all indexed by dimensions: no reshapes between them,
/// no dimensions of size one, elementwise chains merged, and no copies before contractions.
mlir::LogicalResult simplifyAttention(mlir::func::FuncOp function);

/// Lets contractions of a simplified function multiply f16 and bf16 that were extended, and
/// multiplied with constants, before; powers are rounded to the type of values.
void narrowAttention(mlir::func::FuncOp function);

} // namespace xetile

#endif // XETILE_LINALG_ATTENTION_ATTENTIONOPS_H
