//===- SuggestSchedule.cpp - the schedule of a program for a GPU ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module on tensors, and what gpu_model.mlir makes of it before it assigns kernels. Out: the
// name of a schedule. Refused: nothing; what no schedule takes, the schedule refuses.
#include "xetile/Schedule/SuggestSchedule.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/BitsAsBytes.h"
#include "xetile/Linalg/ElementwiseToLinalg.h"
#include "xetile/Linalg/WriteResults.h"
#include "xetile/Schedule/MatmulLoops.h"
#include "xetile/Schedule/Programs/JoinProducts.h"
#include "xetile/Schedule/Programs/Partition.h"
#include "xetile/Schedule/Tiles/TileSizes.h"
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

/// Schedules of the kernels that the program schedule makes of what its first steps made.
SmallVector<StringRef> schedulesOfKernels(Operation *prepared) {
  SmallVector<StringRef> schedules;
  prepared->walk([&](func::FuncOp func) {
    if (!func.isExternal() && func.getBody().hasOneBlock())
      for (Block *block : hostBlocks(func))
        for (const KernelOps &kernel : partition(*block))
          schedules.push_back(kernel.schedule);
  });
  return schedules;
}

/// True if the host has loops or branches, which stay around kernels, or reads elements; or ops
/// that the program schedule refuses by name.
bool needsHost(Operation *module) {
  return module
      ->walk([](func::FuncOp func) {
        if (func.isExternal())
          return WalkResult::advance();
        SmallVector<Block *> blocks = hostBlocks(func);
        bool some = blocks.size() > 1 || !func.getBody().hasOneBlock();
        for (Operation &op : blocks.front()->without_terminator())
          some |= isa<tensor::ExtractOp, tensor::FromElementsOp>(op) || whyNotOnHost(&op);
        return some ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The schedule of one kernel that takes all of `module`, or the one whose errors say why none
/// does. `planned` is what the program schedule would choose for it.
StringRef suggestForOneKernel(Operation *module, StringRef planned) {
  // A sum of one update becomes elements at an index in the first steps of the program schedule.
  auto sums = [](Operation *op) {
    return reduces(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  if (planned == "gather" && module->walk(sums).wasInterrupted())
    return "gpu_model";
  if (llvm::is_contained({"attention", "convolution", "gather", "scan", "windows"}, planned))
    return planned;
  // Kernels of the program schedule alone.
  if (planned == kMatmulRows || planned == "scatter")
    return "gpu_model";
  SmallVector<Operation *> matmuls;
  bool reduces = false, computes = !planned.empty(), untakable = false, onTensors = false;
  module->walk([&](Operation *op) {
    if (looksLikeMatmul(op)) {
      matmuls.push_back(op);
      return;
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    computes |= linalgOp || movesElements(op);
    reduces |= isa<linalg::SoftmaxOp>(op) || (linalgOp && linalgOp.getNumReductionLoops() != 0);
    untakable |= whyUntakable(op).has_value();
    onTensors |= becomesLinalg(op);
  });
  if (matmuls.empty())
    return reduces ? "rows" : computes || untakable ? "elementwise" : "matmul";
  // Arithmetic on tensors is made linalg by the schedules of programs, which also drop matmuls that
  // nothing needs.
  if (onTensors || planned == "elementwise")
    return "gpu_model";
  return planned == "rows" ? "rows" : "matmul";
}

/// True if a function returns tensors of one shape besides its arguments, as one kernel does.
/// Arguments of i1 are written, too, as bytes.
bool returnsOneShape(Operation *module) {
  IRRewriter rewriter(module->getContext());
  WalkResult found = module->walk([&](func::ReturnOp op) {
    TileSizes sizes(rewriter, op->getParentOfType<func::FuncOp>());
    Value first;
    for (Value value : op.getOperands()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || (!value.getDefiningOp() && !isTensorOfBits(type)))
        continue;
      if (first && !sizes.haveOneShape(first, value))
        return WalkResult::interrupt();
      first = value;
    }
    return WalkResult::advance();
  });
  return !found.wasInterrupted();
}

/// True if there are convolutions. Of some the first steps of the program schedule make products.
bool hasConvolutions(Operation *module) {
  return module
      ->walk([](linalg::LinalgOp op) {
        FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(op);
        return succeeded(dims) && !dims->outputImage.empty() && !dims->outputChannel.empty()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// How many results are arguments. The first steps of the program schedule find more: what is
/// transposed in its own order, say.
unsigned returnedArguments(Operation *module) {
  unsigned count = 0;
  module->walk([&](func::FuncOp function) {
    if (!function.isPublic() || function.isExternal() || !function.getBody().hasOneBlock())
      return;
    for (Value result : function.getBody().front().getTerminator()->getOperands())
      count += isa<RankedTensorType>(result.getType()) && !result.getDefiningOp();
  });
  return count;
}

/// True if a reshape of what is computed joins or splits dimensions whose places only a run knows:
/// between two kernels it is a view of memory.
bool reshapesByRun(Operation *module) {
  auto isOpen = [](RankedTensorType wide, ArrayRef<ReassociationIndices> groups) {
    return llvm::any_of(groups, [&](const ReassociationIndices &group) {
      return llvm::any_of(llvm::drop_begin(group),
                          [&](int64_t dim) { return wide.isDynamicDim(dim); });
    });
  };
  return module
      ->walk([&](Operation *op) {
        auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
        auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
        bool isByRun =
            (collapse && isOpen(collapse.getSrcType(), collapse.getReassociationIndices())) ||
            (expand && isOpen(expand.getResultType(), expand.getReassociationIndices()));
        return isByRun && op->getOperand(0).getDefiningOp() ? WalkResult::interrupt()
                                                            : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if a reshape joins dimensions of what a reduction is part of: a kernel computes tiles of
/// the shape that its reductions have, and what is joined between two kernels is a view of memory.
bool joinsReduced(Operation *module) {
  return module
      ->walk([](tensor::CollapseShapeOp op) {
        llvm::SetVector<Operation *> before;
        if (!joinsDimensions(op) || failed(getBackwardSlice(op.getOperation(), &before)))
          return WalkResult::advance();
        return llvm::any_of(before, reduces) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if a kernel has to write results that are returned but not computed; reshapes are copied by
/// a kernel anyway.
bool passesResultsOn(Operation *module) {
  return module
      ->walk([](func::FuncOp function) {
        bool some = llvm::any_of(passedOnResults(function), [](OpOperand *result) {
          return !isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
              result->get().getDefiningOp());
        });
        return some ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if something is computed of, or to, tensors that have no elements: only the program
/// schedule knows programs without a kernel.
bool computesNothing(Operation *module) {
  auto isEmpty = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && llvm::is_contained(tensor.getShape(), 0);
  };
  return module
      ->walk([&](Operation *op) {
        bool some = llvm::any_of(op->getOperandTypes(), isEmpty) ||
                    llvm::any_of(op->getResultTypes(), isEmpty);
        return some ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace

StringRef xetile::suggestSchedule(Operation *module, Operation *prepared) {
  SmallVector<StringRef> planned;
  if (prepared)
    planned = schedulesOfKernels(prepared);
  auto isOneKernel = [](Operation *form) {
    return returnsOneShape(form) && !passesResultsOn(form);
  };
  if (planned.size() > 1 || needsHost(prepared ? prepared : module) ||
      (prepared && (computesNothing(module) || !isOneKernel(prepared) ||
                    (hasConvolutions(module) && !hasConvolutions(prepared)) ||
                    returnedArguments(prepared) > returnedArguments(module))) ||
      (planned.size() == 1 && (!isOneKernel(module) || reshapesByRun(module) ||
                               (planned.front() != "matmul" && joinsReduced(prepared)))))
    return "gpu_model";
  return suggestForOneKernel(module, planned.empty() ? StringRef() : planned.front());
}
