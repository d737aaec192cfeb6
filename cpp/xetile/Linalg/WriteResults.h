//===- WriteResults.h - results that a function only passes on ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_WRITERESULTS_H
#define XETILE_LINALG_WRITERESULTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xetile {

/// Operands of the return of `function`, tensors of static shape, that no kernel would write:
/// constants; where the function computes nothing at all, arguments and reshapes of them, too.
llvm::SmallVector<mlir::OpOperand *> passedOnResults(mlir::func::FuncOp function);

} // namespace xetile

#endif // XETILE_LINALG_WRITERESULTS_H
