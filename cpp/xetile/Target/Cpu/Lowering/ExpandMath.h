//===- ExpandMath.h - math ops by simpler ops --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_LOWERING_EXPANDMATH_H
#define XETILE_TARGET_CPU_LOWERING_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace xetile {

/// `type` with elements of type `element`: a vector of the same shape, or `element`.
mlir::Type withElement(mlir::Type type, mlir::Type element);

/// The function of libm, in f64, that computes what `op` does, or an empty string.
llvm::StringRef functionOf(mlir::Operation *op);

/// True if `op` reads the bits of its operand, which a wider type would change.
bool readsBits(mlir::Operation *op);

/// Replaces sincos, clampf, rsqrt, fpowi, ipowi, isnan, isinf, isfinite and isnormal on scalars and
/// vectors of one dimension by arith, scf and other math ops. False for other ops.
bool expandMath(mlir::RewriterBase &rewriter, mlir::Operation *op);

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOWERING_EXPANDMATH_H
