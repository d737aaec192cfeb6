//===- CastElements.h - elements of floats as others ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_CASTELEMENTS_H
#define XETILE_LINALG_CASTELEMENTS_H

#include "mlir/IR/PatternMatch.h"

namespace xetile {

/// Each element of `tensor`, a float, as one of the float type `element` of another width.
mlir::Value castElements(mlir::RewriterBase &b, mlir::Location loc, mlir::Value tensor,
                         mlir::Type element);

} // namespace xetile

#endif // XETILE_LINALG_CASTELEMENTS_H
