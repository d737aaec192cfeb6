//===- FindLevel.h - at which level a module is ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_FINDLEVEL_H
#define XETILE_TARGET_XE_FINDLEVEL_H

namespace mlir {
class Operation;
}

namespace xetile {

/// The number of the level of an Intel GPU that a module is at, by what it holds: 0 without kernels
/// or where the host's code has tensors, which only a schedule takes on.
unsigned findLevel(mlir::Operation *module);

} // namespace xetile

#endif // XETILE_TARGET_XE_FINDLEVEL_H
