//===- xetile-lsp-server.cpp - mlir-lsp-server with XeTile built in -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For editors, over stdin and stdout: diagnostics, definitions, uses, hovers with what definitions
// of operations say.
#include "HoverDocuments.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "xetile/Registration.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  xetile::registerDialects(registry);
  llvm::SmallString<128> folder(
      llvm::sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&main)));
  llvm::sys::path::remove_filename(folder);
  llvm::sys::path::append(folder, "hovers");
  // Of static storage, as --help ends the process; behind the stream that it ends, which lives
  // longer then.
  llvm::outs();
  static const xetile::HoverFilter filter(folder);
  return llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
