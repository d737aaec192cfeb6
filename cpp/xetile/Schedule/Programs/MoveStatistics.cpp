//===- MoveStatistics.cpp - what is computed of statistics alone -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels of a program. Out: the same, with 1 / sqrt(variance) of rows in the kernel that
// reduces rows, not in the one that reads it for each element of them. Refused: nothing; ops that
// read memory besides, and kernels that were given, stay.
#include "xetile/Schedule/Programs/MoveStatistics.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Schedule/Tiles/TileSizes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// The kernel that computes all that `op` reads, in the op's own shape; null where there is none.
KernelOps *kernelOfOperands(linalg::LinalgOp op, MutableArrayRef<KernelOps> kernels,
                            const TileSizes &sizes) {
  KernelOps *only = nullptr;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(operand->get().getType()))
      continue;
    Operation *producer = operand->get().getDefiningOp();
    auto *kernel =
        llvm::find_if(kernels, [&](KernelOps &kernel) { return kernel.ops.contains(producer); });
    if (!producer || kernel == kernels.end() || (only && only != kernel) ||
        !op.getMatchingIndexingMap(operand).isIdentity() ||
        !sizes.haveOneShape(operand->get(), op->getResult(0)))
      return nullptr;
    only = kernel;
  }
  return only;
}

bool haveShapeOf(ArrayRef<Value> tensors, Value other, const TileSizes &sizes) {
  return llvm::all_of(tensors, [&](Value tensor) { return sizes.haveOneShape(tensor, other); });
}

/// The kernel that `op`, one of `reader`, goes to.
KernelOps *destination(Operation *op, const KernelOps &reader, MutableArrayRef<KernelOps> kernels,
                       const TileSizes &sizes) {
  if (!isElementwiseOnTensors(op) || op->getNumResults() != 1 ||
      haveShapeOf(outputsOf(reader), op->getResult(0), sizes))
    return nullptr;
  auto linalgOp = cast<linalg::LinalgOp>(op);
  if (!linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0)).isIdentity())
    return nullptr;
  KernelOps *kernel = kernelOfOperands(linalgOp, kernels, sizes);
  if (!kernel || kernel == &reader || kernel->given || !walksOverReduced(kernel->schedule) ||
      kernel->ops.size() >= kMostOps || takesTooMuch(*kernel, op) ||
      !haveShapeOf(outputsOf(*kernel), op->getResult(0), sizes))
    return nullptr;
  return kernel;
}

void insert(Operation *op, KernelOps &kernel) {
  SmallVector<Operation *> ops = kernel.ops.takeVector();
  size_t at =
      llvm::partition_point(ops, [&](Operation *other) { return other->isBeforeInBlock(op); }) -
      ops.begin();
  ops.insert(ops.begin() + at, op);
  kernel.ops.insert_range(ops);
  kernel.reasons.insert(kernel.reasons.begin() + at,
                        "its readers would compute it for each tile of another shape");
}

} // namespace

void moveStatistics(MutableArrayRef<KernelOps> kernels, const TileSizes &sizes) {
  for (KernelOps &reader : kernels) {
    if (reader.given)
      continue;
    // An op that goes may be all that the next one reads.
    for (Operation *op : SmallVector<Operation *>(reader.ops.getArrayRef())) {
      KernelOps *kernel = destination(op, reader, kernels, sizes);
      if (!kernel)
        continue;
      size_t at = llvm::find(reader.ops, op) - reader.ops.begin();
      reader.ops.remove(op);
      reader.reasons.erase(reader.reasons.begin() + at);
      insert(op, *kernel);
    }
  }
}

} // namespace xetile::transform_ops
