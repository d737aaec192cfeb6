//===- Scatter.h - ops that combine updates with rows by their numbers -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_SCATTER_H
#define XETILE_LINALG_SCATTER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace xetile {

/// A linalg.generic that combines each update with the row of its result that a number says:
///   for d, w: for n: all[d, w] = combine(all[d, w], row(n) == d ? update(n, w) : neutral)
/// Rows that do not exist take nothing. Said so it is a reduction as any other; who knows it for
/// what it is goes over the updates once, not for each row.
struct Scatter {
  /// None if `op` is no such op.
  static std::optional<Scatter> match(mlir::Operation *op);

  mlir::linalg::GenericOp op;
  /// The loop d, of rows of the result.
  unsigned loop = 0;
  /// Of the body: the number of a row, an integer or an index, and what comes to it.
  mlir::Value row, update;
  /// How updates are combined with what is there; assign for those that replace it.
  mlir::arith::AtomicRMWKind kind = mlir::arith::AtomicRMWKind::assign;
  /// The op that combines; null for assign.
  mlir::Operation *combine = nullptr;

  mlir::Value init() { return op.getDpsInits()[0]; }
  mlir::AffineMap resultMap() { return op.getMatchingIndexingMap(op.getDpsInitOperand(0)); }
  bool replaces() const { return kind == mlir::arith::AtomicRMWKind::assign; }
};

/// The loops that `value` of the body of `op` depends on; none if it depends on what is combined so
/// far, or on an op with a region, that nobody looks into.
std::optional<llvm::SmallBitVector> loopsBehind(mlir::linalg::GenericOp op, mlir::Value value);

/// Writes a scatter of `updates`, [n, w..], at `rows`, n integers, to `init`, [d, w..]. `combine`
/// is given an element and its update and returns what comes of both; `neutral` changes no element,
/// null for updates that replace what is there.
mlir::Value
createScatter(mlir::OpBuilder &b, mlir::Location loc, mlir::Value init, mlir::Value rows,
              mlir::Value updates, mlir::TypedAttr neutral,
              llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value, mlir::Value)> combine,
              llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> widen);

} // namespace xetile

#endif // XETILE_LINALG_SCATTER_H
