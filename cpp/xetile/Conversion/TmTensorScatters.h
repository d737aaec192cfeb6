//===- TmTensorScatters.h - scatters as torch-mlir writes them -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_CONVERSION_TMTENSORSCATTERS_H
#define XETILE_CONVERSION_TMTENSORSCATTERS_H

#include "mlir/IR/Builders.h"

namespace xetile {

/// The tensor that tm_tensor.scatter gives, by ops of linalg before `op`. Failure, with an error at
/// the op, for forms that torch-mlir does not write. `asserts`: that indices are in bounds.
mlir::FailureOr<mlir::Value> convertTmTensorScatter(mlir::OpBuilder &b, mlir::Operation *op,
                                                    bool asserts);

/// One op for each result of the ops in `root` that compute several from indices alone, as
/// torch-mlir does for the operands of a scatter.
void splitIndexOps(mlir::Operation *root);

} // namespace xetile

#endif // XETILE_CONVERSION_TMTENSORSCATTERS_H
