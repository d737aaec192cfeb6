//===- HostEngine.h - host code in this process ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_HOSTENGINE_H
#define XETILE_TARGET_HOST_HOSTENGINE_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"

namespace xetile {

/// An execution engine with the code, for this CPU, of a module in the LLVM dialect, gpu.binaries
/// included; its constructors, which load kernels on a device, have run. `optLevel` is LLVM's, 0 to
/// 3; `libraries` are files that define what it calls. Errors are emitted at the module.
llvm::FailureOr<std::unique_ptr<mlir::ExecutionEngine>>
makeHostEngine(mlir::ModuleOp module, unsigned optLevel, llvm::ArrayRef<llvm::StringRef> libraries);

} // namespace xetile

#endif // XETILE_TARGET_HOST_HOSTENGINE_H
