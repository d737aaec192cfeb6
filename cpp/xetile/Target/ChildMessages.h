//===- ChildMessages.h - what a child process tells its parent ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CHILDMESSAGES_H
#define XETILE_TARGET_CHILDMESSAGES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace xetile::detail {

/// A module as bytes, none if it cannot be written, and back: null, with diagnostics, if it cannot
/// be read.
std::string toBytecode(mlir::ModuleOp module);
mlir::OwningOpRef<mlir::ModuleOp> fromBytecode(llvm::StringRef bytes, mlir::MLIRContext *context,
                                               bool verify = true);

/// Keeps a diagnostic as a module whose location has the text around the place; notes are inside.
void record(mlir::OpBuilder &builder, mlir::Diagnostic &diagnostic);
/// Emits what `record` kept, in the context of the module.
void repeat(mlir::ModuleOp said);

/// All bytes to a file; the process ends if they cannot be written.
void writeAll(int file, llvm::StringRef bytes);
/// All bytes of a file, from its beginning.
std::string readAll(int file);

} // namespace xetile::detail

#endif // XETILE_TARGET_CHILDMESSAGES_H
