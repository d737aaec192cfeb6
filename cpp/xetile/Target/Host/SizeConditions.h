//===- SizeConditions.h - what ops want of the sizes of their tensors --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_SIZECONDITIONS_H
#define XETILE_TARGET_HOST_SIZECONDITIONS_H

#include "xetile/Target/Host/SizeTerms.h"

namespace xetile {

/// `left` == or <= `right`, or one of `unless` is 0.
struct SizeCondition {
  enum class Relation { Equal, AtMost };
  SizeExpr left;
  Relation relation;
  SizeExpr right;
  llvm::SmallVector<SizeLeaf> unless = {};
};

using ConditionSink = llvm::function_ref<llvm::LogicalResult(const SizeCondition &)>;

/// Hands all conditions of `op`, without those of ops in its regions, to `sink`. Fails with an
/// error where `sink` does, and for ops of which it is not known what sizes they take.
llvm::LogicalResult forEachSizeCondition(mlir::Operation *op, ConditionSink sink);

} // namespace xetile

#endif // XETILE_TARGET_HOST_SIZECONDITIONS_H
