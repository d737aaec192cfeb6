//===- FetchedRows.h - lines that come while a microkernel runs --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MICROKERNEL_FETCHEDROWS_H
#define XETILE_TARGET_CPU_MICROKERNEL_FETCHEDROWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace xetile {

/// Rows of a matrix in memory, from a place on, whose lines a microkernel fetches.
struct FetchedRows {
  mlir::memref::PrefetchOp op;
  /// Lines of a row.
  int64_t lines;
  /// Steps of k from one fetch to the next, and lines that each is of.
  int64_t steps, atOnce;

  /// The prefetch before `kernel`, as the kernel's mark describes it, if there are both.
  static std::optional<FetchedRows> before(mlir::linalg::LinalgOp kernel);
  /// Fetches the line of that number; behind the matrix its last one.
  void fetch(mlir::OpBuilder &b, mlir::Location loc, mlir::Value number) const;
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_MICROKERNEL_FETCHEDROWS_H
