//===- ObjectFile.h - machine code of host code, as a file -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_OBJECTFILE_H
#define XETILE_TARGET_HOST_OBJECTFILE_H

#include "mlir/IR/BuiltinOps.h"

namespace xetile {

/// The relocatable object file, with position-independent code for this CPU, of a module in the
/// LLVM dialect, gpu.binaries included; `optLevel` is LLVM's, 0 to 3. Errors are emitted at the
/// module.
llvm::FailureOr<std::string> makeObjectFile(mlir::ModuleOp module, unsigned optLevel);

/// The same code as assembly, in which `.loc` names the lines of operations whose functions have
/// debug scopes.
llvm::FailureOr<std::string> makeAssembly(mlir::ModuleOp module, unsigned optLevel);

} // namespace xetile

#endif // XETILE_TARGET_HOST_OBJECTFILE_H
