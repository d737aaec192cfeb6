//===- Scan.h - ops that combine each element with those before -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_SCAN_H
#define XETILE_LINALG_SCAN_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace xetile {

/// A linalg.generic whose only loop that is no parallel one walks over its first result, too:
///   for each place of the other loops, for n: last = combine(last, element); all[.., n, ..] =
///   round(last)
/// The second result, `last`, is used by nobody.
struct Scan {
  /// None if `op` is no such op.
  static std::optional<Scan> match(mlir::Operation *op);

  mlir::linalg::GenericOp op;
  /// The loop.
  unsigned loop = 0;
  /// Commutative, with the neutral element `neutral`.
  mlir::Operation *combine = nullptr;
  mlir::TypedAttr neutral;
  /// The operand of `combine` that does not depend on the accumulator.
  mlir::Value element;
  /// Conversions, one after the other, of what was combined to the element of the result.
  llvm::SmallVector<mlir::Operation *> rounds;

  /// True if the init value is the neutral element.
  bool startsFromNeutral();
  /// The kind of combination that `combine` is, if vectors can be scanned by it.
  std::optional<mlir::vector::CombiningKind> kind();
  mlir::BlockArgument last() { return op.getBody()->getArguments().back(); }
  /// The dimension of the result that the loop walks over.
  unsigned allDim() {
    mlir::AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    return *map.getResultPosition(mlir::getAffineDimExpr(loop, map.getContext()));
  }
  mlir::RankedTensorType type() {
    return mlir::cast<mlir::RankedTensorType>(op.getResult(0).getType());
  }
};

/// Combines `before` and `element`, scalars or vectors, as `combine` does.
mlir::Value combineLike(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *combine,
                        mlir::Value before, mlir::Value element);

/// Writes a scan of `input`, of the same shape, along `dim`. `body` is given an element and what
/// was combined so far, and returns what is written and what goes on; the scan starts from
/// `neutral`.
mlir::Value
createScan(mlir::OpBuilder &b, mlir::Location loc, mlir::Value input, unsigned dim,
           mlir::Type element, mlir::TypedAttr neutral,
           llvm::function_ref<std::pair<mlir::Value, mlir::Value>(mlir::OpBuilder &, mlir::Value,
                                                                  mlir::Value)>
               body);

} // namespace xetile

#endif // XETILE_LINALG_SCAN_H
