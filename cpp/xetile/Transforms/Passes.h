//===- Passes.h - XeTile-to-XeTile passes -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_PASSES_H
#define XETILE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::arith {
class ArithDialect;
}
namespace mlir::gpu {
class GPUDialect;
}
namespace mlir::memref {
class MemRefDialect;
}
namespace mlir::scf {
class SCFDialect;
}
namespace mlir::vector {
class VectorDialect;
}

namespace xetile {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "xetile/Transforms/Passes.h.inc"
} // namespace xetile

#endif // XETILE_TRANSFORMS_PASSES_H
