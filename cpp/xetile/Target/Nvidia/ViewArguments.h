//===- ViewArguments.h - matrices of a kernel's own arguments --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_VIEWARGUMENTS_H
#define XETILE_TARGET_NVIDIA_VIEWARGUMENTS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xetile::hopper {

/// Takes matrices out of a kernel's arguments themselves, where it takes them out of reshapes that
/// split or join the dimensions of a batch: TMA knows the arguments alone.
void viewArguments(mlir::gpu::GPUFuncOp kernel);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_VIEWARGUMENTS_H
