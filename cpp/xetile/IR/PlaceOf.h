//===- PlaceOf.h - where the user finds an operation ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_PLACEOF_H
#define XETILE_IR_PLACEOF_H

#include "mlir/IR/Operation.h"

namespace xetile {

/// The location of an operation, or of what is around it: what folding made and the bodies that
/// linalg's named operations imply have none of their own.
inline mlir::Location placeOf(mlir::Operation *op) {
  while (llvm::isa<mlir::UnknownLoc>(op->getLoc()) && op->getParentOp())
    op = op->getParentOp();
  return op->getLoc();
}

} // namespace xetile

#endif // XETILE_IR_PLACEOF_H
