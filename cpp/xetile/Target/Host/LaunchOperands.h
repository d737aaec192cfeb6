//===- LaunchOperands.h - the memory behind what a launch takes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_LAUNCHOPERANDS_H
#define XETILE_TARGET_HOST_LAUNCHOPERANDS_H

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace xetile {

/// The views between a root and an operand, the outermost last.
using ViewChain = llvm::SmallVector<mlir::ViewLikeOpInterface>;

/// The memory that `operand` is a view of, as a whole, and the views. A reinterpret_cast may reach
/// beyond its source: it counts as memory of its own.
mlir::Value findRoot(mlir::Value operand, ViewChain &chain);

/// The memory that `root` is any view of.
mlir::Value findBase(mlir::Value root);

/// True if it is memory of the device, as the function's loops and branches hand it on, too.
bool isDeviceMemory(mlir::Value value);

/// Makes an operand what the same views of another root give; `mapping` has that root, and gets the
/// views.
void setRoot(mlir::OpOperand &operand, const ViewChain &chain, mlir::IRMapping &mapping);

} // namespace xetile

#endif // XETILE_TARGET_HOST_LAUNCHOPERANDS_H
