//===- SuggestSchedule.cpp - the schedule of a program for a GPU ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module on tensors. Out: the name of a schedule. Refused: nothing; what no schedule takes,
// the schedule refuses.
#include "xetile/Schedule/SuggestSchedule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Schedule/Contraction.h"
#include "xetile/Schedule/Programs/Partition.h"
#include "xetile/Schedule/Untaken.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::transform_ops;

namespace {

/// Slices, reshapes and the like, which a function may do without computing anything. Ops of
/// dialects that nobody registered have none.
bool movesElements(Operation *op) {
  return isa_and_nonnull<tensor::TensorDialect>(op->getDialect()) &&
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// Whether the program schedule makes several kernels of `module`, after the steps before it.
bool hasSeveralKernels(Operation *module) {
  OwningOpRef<Operation *> copy(module->clone());
  ScopedDiagnosticHandler silent(module->getContext(), [](Diagnostic &) { return success(); });
  PassManager pm(module->getContext(), module->getName().getStringRef());
  pm.addPass(createDecomposeLinalg());
  pm.addPass(createSplitArgmax());
  pm.addPass(createFoldTransposes());
  pm.addPass(createFuseElementwise());
  if (failed(pm.run(*copy)))
    return false;
  size_t count = 0;
  copy->walk([&](func::FuncOp func) {
    if (!func.isExternal() && func.getBody().hasOneBlock())
      count += partition(func).size();
  });
  return count > 1;
}

/// The schedule of one kernel that takes all of `module`, or the one whose errors say why none
/// does.
StringRef suggestForOneKernel(Operation *module) {
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
  bool isVector =
      matmuls.size() == 1 && !untakable && scheduleOfAnchor(matmuls.front()) == "rows";
  return isVector ? "rows" : "matmul";
}

} // namespace

StringRef xetile::suggestSchedule(Operation *module) {
  return hasSeveralKernels(module) ? "gpu_model" : suggestForOneKernel(module);
}
