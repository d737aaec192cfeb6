//===- Expectations.h - what a run expects of data --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_EXPECTATIONS_H
#define XETILE_TARGET_HOST_EXPECTATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "xetile/IR/DialectAttrs.h"

namespace xetile {

/// "tensor.extract in line 7".
std::string describePlace(mlir::Operation *op);

/// Preconditions of a module's functions on data, checked at run time: calls of
/// `@xetile_expect(number, holds, got, bound)`, until xetile-report-expectations lowers them.
/// `got` and `bound` are numbers for the error: an index and its exclusive bound, 0 and -1 for
/// none.
class Expectations {
public:
  explicit Expectations(mlir::ModuleOp module) : module(module) {}

  /// Calls for what `op` expects. Fails with an error if the module has another function of that
  /// name.
  llvm::LogicalResult expect(mlir::OpBuilder &b, mlir::Operation *op, const llvm::Twine &text,
                             mlir::Value holds, mlir::Value got = {}, mlir::Value bound = {});

  /// The function that is called; null if nothing is expected.
  static mlir::func::FuncOp find(mlir::ModuleOp module);

  /// Fails with an error at a call whose number is of no expectation.
  static llvm::LogicalResult checkNumbers(mlir::ModuleOp module);

private:
  mlir::ModuleOp module;
};

} // namespace xetile

#endif // XETILE_TARGET_HOST_EXPECTATIONS_H
