//===- Erf.h - the error function in few instructions ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_ERF_H
#define XETILE_TARGET_NVIDIA_ERF_H

#include "mlir/IR/PatternMatch.h"

namespace xetile::hopper {

/// math.erf of f32, before upstream's, which chooses each of its coefficients by the argument.
void populateErf(mlir::RewritePatternSet &patterns);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_ERF_H
