//===- CheckUniform.h - control flow that all lanes of a subgroup take -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_CHECKUNIFORM_H
#define XETILE_TARGET_XE_LANES_CHECKUNIFORM_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xetile {

/// Every operation that lanes do together stands where all lanes come to; else an error at it.
llvm::LogicalResult checkUniform(mlir::gpu::GPUModuleOp module, unsigned subgroupSize);

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_CHECKUNIFORM_H
