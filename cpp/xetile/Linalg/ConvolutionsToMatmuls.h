//===- ConvolutionsToMatmuls.h - which convolutions become matmuls -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_CONVOLUTIONSTOMATMULS_H
#define XETILE_LINALG_CONVOLUTIONSTOMATMULS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xetile {

/// Returns true if xetile-convolutions-to-matmuls rewrites `op`.
bool becomesMatmuls(mlir::linalg::LinalgOp op);

} // namespace xetile

#endif // XETILE_LINALG_CONVOLUTIONSTOMATMULS_H
