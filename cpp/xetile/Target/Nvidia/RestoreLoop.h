//===- RestoreLoop.h - the loop of a product with a single step -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_RESTORELOOP_H
#define XETILE_TARGET_NVIDIA_RESTORELOOP_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xetile::hopper {

/// Where a kernel's only product is in no loop, since one step covers k, it gets one. True if so.
bool restoreLoop(mlir::gpu::GPUFuncOp kernel);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_RESTORELOOP_H
