//===- RegisterEstimate.h - how many registers a kernel's vectors need --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_REGISTERESTIMATE_H
#define XETILE_TARGET_XE_LANES_REGISTERESTIMATE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/IR/DialectAttrs.h"

namespace xetile {

/// Of vectors of a subgroup that live at once, at the place where these need most.
struct RegisterEstimate {
  int64_t registers = 0;
  llvm::SmallVector<mlir::Value> values; // that live there
};

RegisterEstimate estimateRegisters(mlir::gpu::GPUFuncOp function, const TargetInfo &target);

/// Writes the estimate of each kernel of the module on its function.
void attachRegisterEstimates(mlir::gpu::GPUModuleOp module, const TargetInfo &target);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_REGISTERESTIMATE_H
