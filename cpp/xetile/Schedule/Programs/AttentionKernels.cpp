//===- AttentionKernels.cpp - which ops of a program are an attention ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a block of a program. Out: for each attention the ops from scores to output that the steps
// of attention.mlir make one kernel of: tried on a copy. Refused: nothing; others are several
// kernels.
#include "xetile/Schedule/Programs/AttentionKernels.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "xetile/Linalg/Attention/AttentionOps.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Linalg/Online/Online.h"
#include "xetile/Schedule/DescribeAttention.h"
#include "xetile/Schedule/Programs/KernelOps.h"
#include "xetile/Schedule/Tiles/TilePlan.h"
#include "xetile/Schedule/Tiles/TileSizes.h"
#include "xetile/Target/Target.h"

using namespace mlir;

namespace xetile::transform_ops {

/// True if the matrix unit multiplies the element type of both operands of a product.
static bool isNarrow(Operation *op) {
  auto type = [&](unsigned operand) {
    return getElementTypeOrSelf(op->getOperand(operand).getType());
  };
  return isa<Float16Type, BFloat16Type>(type(0)) && type(0) == type(1);
}

/// True if `attention`, simplified, becomes one loop for whose products tiles can be planned.
static bool isTaken(const AttentionOps &attention, const Target *target) {
  SmallVector<Value> arguments;
  OwningOpRef<func::FuncOp> function = outlineAttention(attention, arguments);
  if (failed(simplifyAttention(*function)))
    return false;
  narrowAttention(*function);
  Block &block = function->getBody().front();
  Operation *last = nullptr;
  for (Operation &op : block)
    if (isContraction(&op) || sumsProducts(&op)) {
      if (!isNarrow(&op))
        return false;
      last = &op;
    }
  auto generic = dyn_cast_if_present<linalg::GenericOp>(last);
  Operation *where = nullptr;
  std::string why;
  std::optional<Online> online =
      generic ? findOnline(generic, where, why) : std::optional<Online>();
  if (!online)
    return false;
  if (target) {
    std::optional<AttentionProblem> problem = describeAttention(*online);
    if (!problem || target->checkAttention(*problem))
      return false;
  }
  // Of one query, split_keys gives the products rows.
  if (!whyNotSplitProducts(*online) && !sizesOfProduct(*online).hasRows)
    return true;
  IRRewriter rewriter(function->getContext());
  makeOnline(rewriter, *online, 64);
  Value result = block.getTerminator()->getOperand(0);
  TileSizes sizes(rewriter, *function);
  return planProducts({result}, sizes, {0, 0}, {0, 0}).has_value();
}

/// Adds the elementwise consumers of the result alone, such as casts to a model's type.
static void addFollowing(Value result, llvm::SetVector<Operation *> &ops) {
  while (result.hasOneUse()) {
    Operation *user = *result.user_begin();
    auto generic = dyn_cast<linalg::GenericOp>(user);
    bool follows = isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) ||
                   (generic && isElementwiseOnTensors(generic) && generic->getNumResults() == 1 &&
                    generic.getNumDpsInputs() == 1 && !generic.hasIndexSemantics() &&
                    generic.getIndexingMapsArray()[0].isIdentity() &&
                    isa<FloatType>(getElementTypeOrSelf(generic.getResult(0).getType())));
    if (!follows || user->getBlock() != result.getParentBlock() || user->hasAttr(kKernelAttr))
      return;
    ops.insert(user);
    result = user->getResult(0);
  }
}

SmallVector<llvm::SetVector<Operation *>> findAttentionKernels(Block &block, const Target *target) {
  SmallVector<llvm::SetVector<Operation *>> kernels;
  llvm::SmallPtrSet<Operation *, 16> taken;
  for (auto op : block.getOps<linalg::LinalgOp>()) {
    if (taken.contains(op) || !isContraction(op))
      continue;
    Result<AttentionOps> found = findAttention(op);
    if (!found)
      continue;
    AttentionOps attention = *found;
    // Fills and the like are copied to each kernel.
    auto isOthers = [&](Operation *each) {
      return belongsToKernel(each) && (taken.contains(each) || each->hasAttr(kKernelAttr));
    };
    if (llvm::any_of(attention.ops, isOthers) || !isTaken(attention, target))
      continue;
    llvm::SetVector<Operation *> all = attention.ops;
    addFollowing(attention.result, all);
    taken.insert_range(all);
    kernels.push_back(all);
  }
  return kernels;
}

} // namespace xetile::transform_ops
