//===- NeutralValue.h - what a reduction starts from --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_NEUTRALVALUE_H
#define XETILE_IR_NEUTRALVALUE_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace xetile {

/// The neutral element of a reduction, which is also the result of an empty one: NaN for minnumf
/// and maxnumf, negative zero for a float sum.
mlir::TypedAttr getNeutralValue(mlir::vector::CombiningKind kind, mlir::Type type);

} // namespace xetile

#endif // XETILE_IR_NEUTRALVALUE_H
