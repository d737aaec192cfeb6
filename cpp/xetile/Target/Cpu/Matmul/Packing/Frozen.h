//===- Frozen.h - what depends on arguments that do not change --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_PACKING_FROZEN_H
#define XETILE_TARGET_CPU_MATMUL_PACKING_FROZEN_H

#include "mlir/IR/Value.h"

namespace xetile {

/// On an argument: its elements are those of earlier calls, so that what depends on nothing else is
/// computed once, by the function `kFreezeSuffix` names.
inline constexpr llvm::StringLiteral kFrozenAttr = "xetile.frozen";
/// On arguments of functions that were split: the number among those of the whole function, or
/// among the results of what was split off.
inline constexpr llvm::StringLiteral kArgumentAttr = "xetile.argument";
inline constexpr llvm::StringLiteral kPackedAttr = "xetile.packed";
inline constexpr llvm::StringLiteral kFreezeSuffix = "_freeze";

/// Whether `value`, of the function's outermost block, is a tensor of static sizes that is computed
/// from frozen arguments and constants only, and worth keeping: not much larger than these.
bool isFrozen(mlir::Value value);

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_PACKING_FROZEN_H
