//===- Exponentials.h - exp and tanh by the power of 2 of the hardware -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_EXPONENTIALS_H
#define XETILE_TARGET_NVIDIA_EXPONENTIALS_H

#include "mlir/IR/PatternMatch.h"

namespace xetile::hopper {

/// math.exp and math.tanh of f32, before upstream's polynomials.
void populateExponentials(mlir::RewritePatternSet &patterns);

/// Reciprocals that are rounded to 16 bits at once. Before powers are written as instructions.
void populateQuotients(mlir::RewritePatternSet &patterns);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_EXPONENTIALS_H
