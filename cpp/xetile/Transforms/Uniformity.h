//===- Uniformity.h - what all that run code do alike ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_UNIFORMITY_H
#define XETILE_TRANSFORMS_UNIFORMITY_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace xetile {

/// Which values and regions of code are the same for all that run it: the subgroups of a workgroup,
/// the lanes of a subgroup. They may then meet there, at barriers or in what they do together.
class Uniformity {
public:
  /// Sources of divergence; the rest is propagated.
  struct Rules {
    /// True if the results of an op without regions diverge; nothing: if its operands do.
    llvm::function_ref<std::optional<bool>(mlir::Operation *)> isDivergent;
    /// Values that never count as different.
    llvm::function_ref<bool(mlir::Value)> isShared = nullptr;
    /// True if control flow that is not analysed may diverge: branches between blocks, regions of
    /// ops outside of scf.
    bool doubtUnknown = true;
  };

  /// `scope` is the function or gpu.launch that is run. The rules are asked here only.
  Uniformity(mlir::Operation *scope, const Rules &rules);

  /// The operation around `op` because of which not all may run it equally often; null if they do.
  mlir::Operation *findDivergentParent(mlir::Operation *op) const;

private:
  bool isDivergent(mlir::Value value) const { return divergent.contains(value); }
  bool isAnyDivergent(mlir::ValueRange values) const;
  /// Adds to the divergent values what follows at one operation.
  void visit(mlir::Operation *op, const Rules &rules);
  void add(mlir::ValueRange values, const Rules &rules);
  void addWhere(mlir::ValueRange sources, mlir::ValueRange results, const Rules &rules);
  bool isControlDivergent(mlir::Operation *op) const;

  mlir::Operation *scope;
  bool doubtUnknown;
  llvm::DenseSet<mlir::Value> divergent;
};

/// Of the subgroups of a workgroup. What is read from memory counts as the same for all if its
/// address is.
Uniformity findUniformityOfSubgroups(mlir::Operation *scope);

} // namespace xetile

#endif // XETILE_TRANSFORMS_UNIFORMITY_H
