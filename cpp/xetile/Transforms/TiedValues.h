//===- TiedValues.h - values that must be cut alike ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_TIEDVALUES_H
#define XETILE_TRANSFORMS_TIEDVALUES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace xetile {

/// Values that hold the same elements in the same places as `value` and so must be distributed and
/// blocked like it: the values that scf.for and scf.while carry, the results of scf.if and
/// scf.index_switch, and operands and results of elementwise operations. Only direct neighbours;
/// follow them for the whole class.
llvm::SmallVector<mlir::Value> getTiedValues(mlir::Value value);

/// True for elementwise operations on vectors, whose operands and results of one shape are tied.
bool isElementwiseOnVectors(mlir::Operation *op);

/// Gives each use of a constant 2D vector below `root` a constant of its own, so that uses may be
/// cut differently.
void cloneVectorConstantsPerUse(mlir::Operation *root);

} // namespace xetile

#endif // XETILE_TRANSFORMS_TIEDVALUES_H
