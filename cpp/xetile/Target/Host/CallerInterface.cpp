//===- CallerInterface.cpp - host code as C calls it --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on memory that launch kernels. Out: the same by the C interface, which is that of
// all GPUs. Refused: what the passes refuse.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/CallerInterface.h"
#include "mlir/Pass/PassManager.h"
#include "xetile/Target/Host/Passes.h"

using namespace mlir;

void xetile::buildCallerInterface(OpPassManager &pm) {
  pm.addPass(createKeepArguments());
  ResultsToArgumentsOptions results;
  results.whereStatic = true;
  results.markResults = true;
  pm.addPass(createResultsToArguments(results));
  pm.addNestedPass<func::FuncOp>(createFreeScratch());
  pm.addPass(createAddCInterface());
}
