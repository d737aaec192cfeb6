//===- WorkgroupSize.cpp - how many subgroups a workgroup has -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/WorkgroupSize.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Facts/SaturatingProduct.h"

using namespace mlir;
using namespace xetile;

/// The product of three sizes, if all are constants.
static std::optional<int64_t> multiply(gpu::KernelDim3 sizes) {
  int64_t product = 1;
  for (Value size : {sizes.x, sizes.y, sizes.z}) {
    APInt value;
    if (!matchPattern(size, m_ConstantInt(&value)))
      return std::nullopt;
    product = saturatingProduct(product, value.getSExtValue());
  }
  return product;
}

std::optional<int64_t> xetile::getWorkItems(Operation *scope) {
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
    return multiply(launch.getBlockSizeOperandValues());
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(scope))
    return multiply(launch.getBlockSizeOperandValues());
  auto kernel = dyn_cast<gpu::GPUFuncOp>(scope);
  std::optional<ArrayRef<int32_t>> sizes;
  if (!kernel || !(sizes = kernel.getKnownBlockSize()))
    return std::nullopt;
  int64_t workItems = 1;
  for (int32_t size : *sizes)
    workItems = saturatingProduct(workItems, size);
  return workItems;
}

/// A kernel of 2^31 subgroups could not be launched.
LogicalResult xetile::checkWorkgroupSize(Operation *scope, int64_t numSubgroups,
                                         int64_t subgroupSize, int64_t maxWorkItems,
                                         StringRef what) {
  int64_t needed = numSubgroups * subgroupSize;
  std::optional<int64_t> workItems = getWorkItems(scope);
  if (workItems && *workItems != needed)
    return scope->emitOpError("is launched with workgroups of ")
           << *workItems << " work-items"
           << (isa<gpu::GPUFuncOp>(scope) ? " (known_block_size)" : "") << ", but its " << what
           << " need " << numSubgroups << " subgroups of " << subgroupSize << " = " << needed;
  if (isa<gpu::GPUFuncOp, gpu::LaunchOp>(scope) && needed > maxWorkItems)
    return scope->emitOpError("has ")
           << what << " for " << numSubgroups << " subgroups of " << subgroupSize << " = " << needed
           << " work-items, but a workgroup has at most " << maxWorkItems
           << "; expected an sg_layout of at most " << maxWorkItems / subgroupSize << " subgroups";
  return success();
}

const TargetInfo &xetile::getSmallestTarget() {
  const TargetInfo *smallest = nullptr;
  for (const TargetInfo &target : allTargets())
    if (!target.checkSupported() && (!smallest || target.slmBytes < smallest->slmBytes))
      smallest = &target;
  return smallest ? *smallest : allTargets().front();
}
