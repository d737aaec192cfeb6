//===- OutlinedFunction.h - ops in functions of their own --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_LOWERING_OUTLINEDFUNCTION_H
#define XETILE_TARGET_CPU_LOWERING_OUTLINEDFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace xetile {

/// Values defined above that an op's regions use.
struct OutlinedUses {
  llvm::SmallVector<mlir::Value> arguments;
  /// Constants and globals, which each function has itself.
  llvm::SmallVector<mlir::Operation *> repeated;

  static OutlinedUses of(mlir::Operation &nest);
};

/// A private function that does what `nest`, which has no results, does, and that LLVM does not
/// inline. It is in no module yet.
mlir::func::FuncOp cloneToFunction(mlir::Operation &nest, const OutlinedUses &uses,
                                   llvm::StringRef name);

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOWERING_OUTLINEDFUNCTION_H
