//===- Piecewise.h - rewrites that act on each piece of a value alike ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_PIECEWISE_H
#define XETILE_TRANSFORMS_PIECEWISE_H

#include "mlir/Transforms/DialectConversion.h"
#include <functional>

namespace xetile {

/// Adds rewrites for a conversion that replaces a tile or vector by pieces of itself, as
/// `converter` tells for each value: operations that `isPiecewise` accepts are applied to each
/// piece (operands that are not cut go to every piece), and constants with equal elements become
/// such constants of the pieces' types.
void populatePiecewisePatterns(const mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns,
                               std::function<bool(mlir::Operation *)> isPiecewise);

} // namespace xetile

#endif // XETILE_TRANSFORMS_PIECEWISE_H
