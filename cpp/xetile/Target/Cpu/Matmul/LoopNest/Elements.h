//===- Elements.h - arithmetic on elements of one of several types -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_ELEMENTS_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_ELEMENTS_H

#include "mlir/IR/Builders.h"

namespace xetile {

/// `value`, a scalar or a vector, in the wider type `type`.
mlir::Value extendElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type type, bool isUnsigned);
/// `value` in the narrower floating-point type `type`.
mlir::Value narrowElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type type);
/// The sum of two floats, two integers, or vectors of them, of one type.
mlir::Value addElements(mlir::OpBuilder &b, mlir::Location loc, mlir::Value left,
                        mlir::Value right);
/// `sum`, a vector of i32, and in each lane four products of bytes more, which wrap around as
/// products and sums of i32 do: VNNI's instruction.
mlir::Value addByteProducts(mlir::OpBuilder &b, mlir::Location loc, mlir::Value unsignedBytes,
                            mlir::Value signedBytes, mlir::Value sum);
/// Floating-point results narrower than their sums should be.
bool isLowPrecision(mlir::Type element);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_ELEMENTS_H
