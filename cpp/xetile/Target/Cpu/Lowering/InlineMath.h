//===- InlineMath.h - functions of f32 as polynomials --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_LOWERING_INLINEMATH_H
#define XETILE_TARGET_CPU_LOWERING_INLINEMATH_H

#include "mlir/IR/PatternMatch.h"

namespace xetile {

/// Replaces exp, expm1, tanh, erf, log and log1p of f32, on scalars and on vectors of one
/// dimension, by arith and math.fma, which has to be an instruction; with `hasScale`, which is
/// AVX-512's scalef, by that, too. False for other ops.
bool inlineMath(mlir::RewriterBase &rewriter, mlir::Operation *op, bool hasScale);

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOWERING_INLINEMATH_H
