//===- Reduction.h - what `xetile reduce` leaves out -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TOOLS_REDUCTION_H
#define XETILE_TOOLS_REDUCTION_H

#include "mlir/IR/DialectRegistry.h"

namespace xetile {

/// Tells upstream's pass reduction-tree how to do without an op whose results are used.
void registerReduction(mlir::DialectRegistry &registry);

} // namespace xetile

#endif // XETILE_TOOLS_REDUCTION_H
