//===- HoistFromBody.h - what a linalg op's body computes, for all of it ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_HOISTFROMBODY_H
#define XETILE_TARGET_HOST_HOISTFROMBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace xetile {

/// The op on tensors (linalg, tensor.generate, tensor.pad) whose body `op` is in; null if it is in
/// none.
mlir::Operation *bodyOwner(mlir::Operation *op);

/// That op as a linalg.generic with the same body, which it becomes. Fails without an error where
/// upstream makes none of it.
llvm::FailureOr<mlir::linalg::GenericOp> toGeneric(mlir::RewriterBase &b, mlir::Operation *owner);

/// Makes an i64 where `site` stood, of copies of what it uses.
using SiteValue =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, const mlir::IRMapping &)>;

/// The greatest (unsigned) `value` of all times that the body of `op` runs `site`, an op in it,
/// which uses `used` for it; 0 if it never runs. An i64 before `op`: a reduction over those loops
/// that the values depend on. Fails with an error where they depend on what `op` sums up, on side
/// effects, or where `site` is in a region other than that of a branch or a counted loop; `blamed`
/// is the op that has the error.
llvm::FailureOr<mlir::Value> greatestInBody(mlir::RewriterBase &b, mlir::linalg::GenericOp op,
                                            mlir::Operation *site, mlir::Operation *blamed,
                                            mlir::ValueRange used, SiteValue value);

} // namespace xetile

#endif // XETILE_TARGET_HOST_HOISTFROMBODY_H
