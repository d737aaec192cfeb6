//===- ExplainKernels.cpp - what is known of a program's kernels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: of each op its kernel and why, of each kernel the bytes that it
// moves at least. Refused: nothing.
#include "xetile/Schedule/Programs/ExplainKernels.h"
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

void explain(func::FuncOp func, ExplainedKernels &explained) {
  SmallVector<KernelOps> kernels = partition(func);
  if (sortKernels(kernels))
    return;
  size_t first = explained.ops.size();
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    auto kernelNumber = static_cast<int64_t>(number);
    for (auto [op, reason] : llvm::zip_equal(kernel.ops, kernel.reasons))
      explained.ops.push_back({op, kernelNumber, kernel.schedule, reason});
    explained.kernels.push_back(
        {kernelNumber, kernel.schedule, bytesRead(kernel), bytesWritten(kernel)});
  }
  llvm::sort(MutableArrayRef(explained.ops).drop_front(first),
             [](const OpInKernel &x, const OpInKernel &y) { return x.op->isBeforeInBlock(y.op); });
}

} // namespace

ExplainedKernels xetile::explainKernels(Operation *module) {
  ExplainedKernels explained;
  module->walk([&](func::FuncOp func) {
    if (!func.isExternal() && func.getBody().hasOneBlock())
      explain(func, explained);
  });
  return explained;
}
