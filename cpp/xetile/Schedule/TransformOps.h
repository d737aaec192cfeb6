//===- TransformOps.h - the transform ops that schedules call ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TRANSFORMOPS_H
#define XETILE_SCHEDULE_TRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "xetile/IR/KnownAttrs.h"

namespace mlir {
class DialectRegistry;
}

#define GET_OP_CLASSES
#include "xetile/Schedule/TransformOps.h.inc"

namespace xetile {
/// Adds `transform.xetile.*` to the transform dialect.
void registerTransformExtension(mlir::DialectRegistry &registry);
} // namespace xetile

#endif // XETILE_SCHEDULE_TRANSFORMOPS_H
