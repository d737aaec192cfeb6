//===- ElementwiseToLinalg.h - ops on tensors that are linalg's in other words -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_ELEMENTWISETOLINALG_H
#define XETILE_LINALG_ELEMENTWISETOLINALG_H

#include "mlir/IR/Operation.h"

namespace xetile {

/// True if xetile-elementwise-to-linalg rewrites `op`: arithmetic on tensors, tensor.splat.
bool becomesLinalg(mlir::Operation *op);

} // namespace xetile

#endif // XETILE_LINALG_ELEMENTWISETOLINALG_H
