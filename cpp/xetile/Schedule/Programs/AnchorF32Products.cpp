//===- AnchorF32Products.cpp - transform.xetile.anchor_f32_products ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops with the schedules of their kernels. Out: products of f32 that gain on the matrix
// unit are kernels of it, but for those whose kernels have other ops that it does not take, which
// stay on vector units. Refused: other units than matrix and vector.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/IR/AnchorAttr.h"
#include "xetile/Schedule/KParts.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/Programs/KernelOps.h"
#include "xetile/Schedule/Programs/Partition.h"
#include "xetile/Schedule/TransformOps.h"
#include "xetile/Target/Target.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {

static bool gains(Operation *op, const Target &target) {
  if (!isProductInTiles(op))
    return false;
  Result<MatmulLoops> loops = matchMatmul(op);
  if (!loops || llvm::any_of(ArrayRef{0, 1, 2},
                             [&](unsigned place) { return !loops->elementType(place).isF32(); }))
    return false;
  MatmulProblem problem = describeMatmul(*loops, nullptr);
  problem.isExact = true;
  Type f32 = loops->elementType(0);
  return target.multipliesF32(problem) &&
         !target.checkTiling(target.chooseTiling(problem, {}), f32, f32);
}

/// The op that computes what `value` is a view of, if it is in `ops`.
static Operation *sourceAmong(Value value, const llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  while (isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
                         tensor::ExtractSliceOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && ops.contains(op) ? op : nullptr;
}

/// True if the kernel of `product` does not compute what it multiplies, and writes what follows in
/// the order of its elements, as types that a matrix unit's kernels store. Vector units take all.
static bool isTaken(Operation *product, const KernelOps &kernel, const Target &target) {
  for (Value input : cast<linalg::LinalgOp>(product).getDpsInputs())
    if (sourceAmong(input, kernel.ops))
      return false;
  llvm::SetVector<Operation *> after;
  after.insert(product);
  for (Operation *op : kernel.ops) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || op == product)
      continue;
    for (OpOperand *input : linalgOp.getDpsInputOperands())
      if (sourceAmong(input->get(), after)) {
        after.insert(op);
        if (!linalgOp.getMatchingIndexingMap(input).isIdentity())
          return false;
      }
    for (OpOperand &init : linalgOp.getDpsInitsMutable())
      if (after.contains(op) && !linalgOp.getMatchingIndexingMap(&init).isIdentity())
        return false;
  }
  return llvm::all_of(outputsOf(kernel), [&](Value output) {
    return target.storesOfProducts(getElementTypeOrSelf(output.getType()));
  });
}

/// Gives products of `anchored` back to vector units whose kernels the matrix unit does not take.
static void giveBack(RewriterBase &rewriter, func::FuncOp func,
                     const llvm::SetVector<Operation *> &anchored, const Target &target) {
  const Target *attentions = findAttentionTarget(target.name);
  for (Block *block : hostBlocks(func))
    for (const KernelOps &kernel : partition(*block, /*joinsProducts=*/false, attentions))
      for (Operation *op : kernel.ops)
        if (anchored.contains(op) && kernel.schedule == "matmul" && !isTaken(op, kernel, target))
          rewriter.modifyOpInPlace(
              op, [&] { op->setAttr(kAnchorAttr, rewriter.getStringAttr("rows")); });
}

DiagnosedSilenceableFailure AnchorF32ProductsOp::apply(TransformRewriter &rewriter,
                                                       TransformResults &, TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  const Target *target = nullptr;
  if (auto diag = readF32Units(op, state, getUnits(), getChip(), target);
      !diag.succeeded() || !target)
    return diag;
  llvm::SetVector<Operation *> anchored;
  for (Operation *root : state.getPayloadOps(getTarget())) {
    root->walk([&](Operation *inner) {
      if (scheduleOfAnchor(inner) != "rows" || !gains(inner, *target))
        return;
      anchored.insert(inner);
      rewriter.modifyOpInPlace(
          inner, [&] { inner->setAttr(kAnchorAttr, rewriter.getStringAttr("matmul")); });
    });
    if (!anchored.empty())
      root->walk([&](func::FuncOp func) { giveBack(rewriter, func, anchored, *target); });
  }
  return DiagnosedSilenceableFailure::success();
}

void AnchorF32ProductsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
