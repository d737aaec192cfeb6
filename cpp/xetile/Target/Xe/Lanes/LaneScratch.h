//===- LaneScratch.h - shared local memory in which elements change lanes ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANESCRATCH_H
#define XETILE_TARGET_XE_LANES_LANESCRATCH_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/Target/Xe/Lanes/LaneBuilder.h"

namespace xetile {

/// Scratch memory of a function's moves between lanes: a global, a slice of it for each subgroup.
class LaneScratch {
public:
  LaneScratch(mlir::gpu::GPUModuleOp module, const TargetInfo &target, LaneBuilder &builder)
      : module(module), target(target), b(builder) {}

  /// Bytes of shared memory that a subgroup may have, 0 if there is none.
  int64_t limit();
  /// The subgroup's memory, of at least `bytes`, as i64.
  mlir::Value address(int64_t bytes);
  /// Once it is known how much all moves of a function need.
  void finish();

private:
  mlir::gpu::GPUModuleOp module;
  const TargetInfo &target;
  LaneBuilder &b;
  struct {
    int64_t subgroups = 0, limit = 0, bytes = 0;
    mlir::LLVM::GlobalOp global;
    mlir::arith::ConstantOp size;
    mlir::Value address;
  } function;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANESCRATCH_H
