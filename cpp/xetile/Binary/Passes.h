//===- Passes.h - passes from device code to a binary -----------------------===//
#ifndef XETILE_BINARY_PASSES_H
#define XETILE_BINARY_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
}
namespace gpu {
class GPUModuleOp;
}
} // namespace mlir

namespace xetile {

#define GEN_PASS_DECL
#include "xetile/Binary/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "xetile/Binary/Passes.h.inc"

} // namespace xetile

#endif // XETILE_BINARY_PASSES_H
