//===- PreserveArguments.h - functions that do not write to their arguments --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_PRESERVEARGUMENTS_H
#define XETILE_TARGET_HOST_PRESERVEARGUMENTS_H

#include "mlir/IR/Operation.h"

namespace xetile {

/// Marks tensors of the arguments of all functions in `root` as not writable, and copies once, as a
/// whole, those that slices are inserted into. Marks that are there stay, unless `all` is set.
void preserveArguments(mlir::Operation *root, bool all);

} // namespace xetile

#endif // XETILE_TARGET_HOST_PRESERVEARGUMENTS_H
