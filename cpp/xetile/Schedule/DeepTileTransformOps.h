//===- DeepTileTransformOps.h - the deep-tiled matmul as a schedule's step ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_DEEPTILETRANSFORMOPS_H
#define XETILE_SCHEDULE_DEEPTILETRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "xetile/IR/KnownAttrs.h"

namespace mlir {
class DialectRegistry;
}

#define GET_OP_CLASSES
#include "xetile/Schedule/DeepTileTransformOps.h.inc"

namespace xetile {
/// Adds `transform.xetile.deep_tile_matmul` to the transform dialect.
void registerDeepTileTransformExtension(mlir::DialectRegistry &registry);
} // namespace xetile

#endif // XETILE_SCHEDULE_DEEPTILETRANSFORMOPS_H
