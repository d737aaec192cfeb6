//===- SuggestSchedule.cpp - the schedule of a program for a GPU ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module on tensors. Out: the name of a schedule. Refused: nothing; what no schedule takes,
// the schedule refuses.
#include "xetile/Schedule/SuggestSchedule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Schedule/Contraction.h"
#include "xetile/Schedule/Untaken.h"

using namespace mlir;
using namespace xetile::transform_ops;

namespace {

/// Whether elements were f16 or bf16 before an op extended them.
bool isExtended(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_present<linalg::LinalgOp>(op))
    return false;
  WalkResult found = op->getRegion(0).walk([](arith::ExtFOp) { return WalkResult::interrupt(); });
  return found.wasInterrupted();
}

/// Matmuls of f32 that only vector units multiply exactly, of types that matrix units lack, and
/// those with several dimensions of k. Sizes of a run are the matrix unit's.
bool isForVectorUnits(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  if (linalgOp.hasDynamicShape())
    return false;
  Contraction contraction;
  if (!matchContraction(op, contraction).empty())
    return true;
  return contraction.getElementType(0).isF32() && !isExtended(linalgOp->getOperand(0)) &&
         !isExtended(linalgOp->getOperand(1));
}

/// Slices, reshapes and the like, which a function may do without computing anything. Ops of
/// dialects that nobody registered have none.
bool movesElements(Operation *op) {
  return isa_and_nonnull<tensor::TensorDialect>(op->getDialect()) &&
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

} // namespace

StringRef xetile::suggestSchedule(Operation *module) {
  SmallVector<Operation *> matmuls;
  bool reduces = false, computes = false, untakable = false;
  module->walk([&](Operation *op) {
    if (looksLikeMatmul(op)) {
      matmuls.push_back(op);
      return;
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    computes |= linalgOp || movesElements(op);
    reduces |= isa<linalg::SoftmaxOp>(op) || (linalgOp && linalgOp.getNumReductionLoops() != 0);
    untakable |= !whyUntakable(op).empty();
  });
  if (matmuls.empty())
    return reduces ? "rows" : computes || untakable ? "elementwise" : "matmul";
  bool isVector = matmuls.size() == 1 && !untakable && isForVectorUnits(matmuls.front());
  return isVector ? "rows" : "matmul";
}
