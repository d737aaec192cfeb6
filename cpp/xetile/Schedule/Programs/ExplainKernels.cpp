//===- ExplainKernels.cpp - what is known of a program's kernels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: of each op its kernel and why, of each kernel the bytes that it
// moves at least. Refused: nothing.
#include "xetile/Schedule/Programs/ExplainKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/IR/BytesOf.h"
#include "xetile/Schedule/Programs/Partition.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::transform_ops;

namespace {

std::optional<int64_t> bytesRead(const KernelOps &kernel) {
  // Views of one array share its elements.
  int64_t sum = 0;
  for (auto &[root, seen] : memoryReadBy(kernel)) {
    std::optional<int64_t> all = bytesOf(cast<RankedTensorType>(root.getType()));
    if (!all)
      return std::nullopt;
    int64_t ofViews = 0;
    for (Value view : seen)
      ofViews += bytesOf(cast<RankedTensorType>(view.getType())).value_or(*all);
    sum += std::min(*all, ofViews);
  }
  return sum;
}

std::optional<int64_t> bytesWritten(const KernelOps &kernel) {
  int64_t sum = 0;
  for (Value output : outputsOf(kernel)) {
    std::optional<int64_t> bytes = bytesOf(cast<RankedTensorType>(output.getType()));
    if (!bytes)
      return std::nullopt;
    sum += *bytes;
  }
  return sum;
}

/// Numbers as transform.xetile.assign_kernels does; false for kernels that wait for one another.
bool explain(Block &block, ExplainedKernels &explained) {
  SmallVector<KernelOps> kernels = partition(block);
  HostSteps order = orderSteps(kernels, block);
  if (order.waiting)
    return false;
  for (const HostSteps::Step &step : order.steps) {
    if (!step.kernel) {
      if (isHostControl(step.op))
        for (Region &region : step.op->getRegions())
          for (Block &inner : region)
            if (!explain(inner, explained))
              return false;
      continue;
    }
    const KernelOps &kernel = kernels[*step.kernel];
    auto number = static_cast<int64_t>(explained.kernels.size());
    for (auto [op, reason] : llvm::zip_equal(kernel.ops, kernel.reasons))
      explained.ops.push_back({op, number, kernel.schedule, reason});
    explained.kernels.push_back({number, kernel.schedule, bytesRead(kernel), bytesWritten(kernel)});
  }
  return true;
}

} // namespace

ExplainedKernels xetile::explainKernels(Operation *module) {
  ExplainedKernels all;
  module->walk([&](func::FuncOp func) {
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return;
    ExplainedKernels explained;
    if (!explain(func.getBody().front(), explained))
      return;
    llvm::DenseMap<Operation *, unsigned> places;
    func->walk<WalkOrder::PreOrder>([&](Operation *op) { places[op] = places.size(); });
    llvm::sort(explained.ops, [&](const OpInKernel &x, const OpInKernel &y) {
      return places.lookup(x.op) < places.lookup(y.op);
    });
    llvm::append_range(all.ops, explained.ops);
    llvm::append_range(all.kernels, explained.kernels);
  });
  return all;
}
