//===- xetile-lsp-server.cpp - mlir-lsp-server with XeTile built in -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For editors, over stdin and stdout: diagnostics, definitions, uses, hovers.
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "xetile/Registration.h"
#include "llvm/Support/LogicalResult.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  xetile::registerDialects(registry);
  return llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
