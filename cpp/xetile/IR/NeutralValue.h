//===- NeutralValue.h - what a reduction starts from --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_NEUTRALVALUE_H
#define XETILE_IR_NEUTRALVALUE_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace xetile {

/// What a reduction of nothing gives, and what changes no other value: for minnumf and maxnumf NaN,
/// for a float sum the negative zero.
mlir::TypedAttr getNeutralValue(mlir::vector::CombiningKind kind, mlir::Type type);

} // namespace xetile

#endif // XETILE_IR_NEUTRALVALUE_H
