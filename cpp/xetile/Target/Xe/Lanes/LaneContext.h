//===- LaneContext.h - what the lowerings to lanes share ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANECONTEXT_H
#define XETILE_TARGET_XE_LANES_LANECONTEXT_H

#include "xetile/Target/Xe/Lanes/LaneFragments.h"
#include "xetile/Target/Xe/Lanes/LaneMessages.h"
#include "xetile/Target/Xe/Lanes/LaneNumbers.h"
#include "xetile/Target/Xe/Lanes/LaneScratch.h"

namespace xetile {

/// State of the lowering of a module; a lowering changes it through what it builds and defines.
struct LaneContext {
  LaneContext(mlir::gpu::GPUModuleOp module, const TargetInfo &target)
      : module(module), target(target), count(target.subgroupSize), b(module.getContext()),
        held(count), numbers(b, count), scratch(module, target, b), planner(target) {}

  mlir::gpu::GPUModuleOp module;
  const TargetInfo &target;
  const unsigned count; // of lanes
  LaneBuilder b;
  LaneFragments held;
  LaneNumbers numbers;
  LaneScratch scratch;
  MessagePlanner planner;
  /// Lowers the operations of a region's block, for operations that have regions.
  std::function<llvm::LogicalResult(mlir::Block &)> lowerBlock;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANECONTEXT_H
