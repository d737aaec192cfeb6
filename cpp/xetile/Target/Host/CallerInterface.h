//===- CallerInterface.h - host code as C calls it ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_CALLERINTERFACE_H
#define XETILE_TARGET_HOST_CALLERINTERFACE_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace xetile {

/// Host code of kernels on a GPU, on builtin.module: arguments never change, results of known sizes
/// are in memory of the caller, scratch memory is freed, and C can call it.
void buildCallerInterface(mlir::OpPassManager &pm);

} // namespace xetile

#endif // XETILE_TARGET_HOST_CALLERINTERFACE_H
