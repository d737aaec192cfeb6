//===- ExplainKernels.cpp - what is known of a program's kernels --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors. Out: of each op its kernel and why, of each kernel the bytes that it
// moves at least. Refused: nothing.
#include "xetile/Schedule/Programs/ExplainKernels.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "xetile/Schedule/Programs/Partition.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::transform_ops;

namespace {

/// Bytes of a tensor in memory, where i1 are bytes; none where the size is that of a run.
std::optional<int64_t> bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  if (!tensor.hasStaticShape() || (!element.isIntOrFloat() && !element.isIndex()))
    return std::nullopt;
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return tensor.getNumElements() * static_cast<int64_t>(llvm::divideCeil(bits, 8));
}

/// What is in memory before a kernel runs that reads `value`: through views that it copies. Null
/// for what comes from no memory: constants, what nothing was written to.
Value inMemory(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isCopiedToKernels(op))
      return value;
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp,
             tensor::CastOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return value;
}

/// Whether `op` only says by `value` where its result goes.
bool isDestination(Operation *op, Value value) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  return destination && llvm::is_contained(destination.getDpsInits(), value) &&
         !llvm::is_contained(destination.getDpsInputs(), value) &&
         isa_and_present<tensor::EmptyOp>(value.getDefiningOp());
}

std::optional<int64_t> bytesRead(const KernelOps &kernel) {
  // Views of one array share its elements.
  llvm::MapVector<Value, llvm::SetVector<Value>> views;
  for (Operation *op : kernel.ops) {
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    for (Value value : read) {
      if (!isa<RankedTensorType>(value.getType()) || isDestination(op, value))
        continue;
      Value root = inMemory(value);
      if (root && !(root.getDefiningOp() && kernel.ops.contains(root.getDefiningOp())))
        views[root].insert(value);
    }
  }
  int64_t sum = 0;
  for (auto &[root, seen] : views) {
    std::optional<int64_t> all = bytesOf(root.getType());
    if (!all)
      return std::nullopt;
    int64_t ofViews = 0;
    for (Value view : seen)
      ofViews += bytesOf(view.getType()).value_or(*all);
    sum += std::min(*all, ofViews);
  }
  return sum;
}

std::optional<int64_t> bytesWritten(const KernelOps &kernel) {
  int64_t sum = 0;
  for (Value output : outputsOf(kernel)) {
    std::optional<int64_t> bytes = bytesOf(output.getType());
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
