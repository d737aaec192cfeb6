//===- Passes.h - what the paths of all targets use ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_PASSES_H
#define XETILE_TARGET_PASSES_H

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
}

namespace xetile {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xetile/Target/Passes.h.inc"
} // namespace xetile

#endif // XETILE_TARGET_PASSES_H
