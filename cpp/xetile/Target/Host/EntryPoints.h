//===- EntryPoints.h - the functions that callers of a kernel call ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_ENTRYPOINTS_H
#define XETILE_TARGET_HOST_ENTRYPOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace xetile {

/// Public functions with a body, in order; passes may add others while they walk these.
inline llvm::SmallVector<mlir::func::FuncOp> getEntryPoints(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::func::FuncOp> functions;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (!function.isExternal() && function.isPublic())
      functions.push_back(function);
  return functions;
}

} // namespace xetile

#endif // XETILE_TARGET_HOST_ENTRYPOINTS_H
