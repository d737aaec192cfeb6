//===- xetile-opt.cpp - mlir-opt with XeTile built in ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Reduction.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Reducer/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "xetile/Registration.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::registerReducerPasses(); // mlir-reduce's own, for `xetile reduce`
  xetile::registerPasses();

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  xetile::registerDialects(registry);
  // Only then: the dialects that it loads would hide those that a pass forgot to declare.
  bool reduces = llvm::any_of(llvm::ArrayRef(argv, argc), [](const char *argument) {
    return llvm::StringRef(argument).contains("reduction-tree");
  });
  if (reduces)
    xetile::registerReduction(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "XeTile optimizer driver\n", registry));
}
