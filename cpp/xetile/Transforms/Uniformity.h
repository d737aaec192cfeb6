//===- Uniformity.h - what all subgroups of a workgroup do alike -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_UNIFORMITY_H
#define XETILE_TRANSFORMS_UNIFORMITY_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"

namespace xetile {

/// Which values and regions of a workgroup's code are the same in all of its subgroups, which may
/// then meet at barriers. What is read from memory counts as the same for all if its address is.
class Uniformity {
public:
  /// `scope` is the function or gpu.launch that the subgroups run.
  explicit Uniformity(mlir::Operation *scope);

  /// The operation around `op` because of which not all subgroups may run it equally often; null if
  /// they do.
  mlir::Operation *findDivergentParent(mlir::Operation *op) const;

private:
  bool isDivergent(mlir::Value value) const { return divergent.contains(value); }
  bool isAnyDivergent(mlir::ValueRange values) const;
  /// Adds to the divergent values what follows at one operation.
  void visit(mlir::Operation *op);
  void add(mlir::ValueRange values);
  void addWhere(mlir::ValueRange sources, mlir::ValueRange results);
  bool isControlDivergent(mlir::Operation *op) const;

  mlir::Operation *scope;
  llvm::DenseSet<mlir::Value> divergent;
};

} // namespace xetile

#endif // XETILE_TRANSFORMS_UNIFORMITY_H
