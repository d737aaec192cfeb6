//===- MatrixForms.h - vector operations as ones on matrices -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_CONVERSION_MATRIXFORMS_H
#define XETILE_CONVERSION_MATRIXFORMS_H

#include "mlir/IR/Operation.h"

namespace xetile {

/// Rewrites in `root` what a tile has no form of but a matrix has: transfers of vectors of one
/// dimension, products with transposed operands or results. Others stay.
void makeMatrixForms(mlir::Operation *root);

} // namespace xetile

#endif // XETILE_CONVERSION_MATRIXFORMS_H
