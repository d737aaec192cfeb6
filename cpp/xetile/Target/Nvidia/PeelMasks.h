//===- PeelMasks.h - a mask of keys in a loop of its own -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_PEELMASKS_H
#define XETILE_TARGET_NVIDIA_PEELMASKS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace xetile::hopper {

/// Cuts loops over keys whose last step is no whole one before that: whole steps mask no keys.
void peelMasks(mlir::gpu::GPUFuncOp kernel);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_PEELMASKS_H
