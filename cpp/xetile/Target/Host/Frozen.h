//===- Frozen.h - what depends on arguments that do not change --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_FROZEN_H
#define XETILE_TARGET_HOST_FROZEN_H

#include "mlir/IR/Value.h"
#include "xetile/IR/DialectAttrs.h"

namespace xetile {

/// Of the function that computes once what depends on frozen arguments alone.
inline constexpr llvm::StringLiteral kFreezeSuffix = "_freeze";

/// True if `value`, of the function's entry block, is a tensor of static sizes that depends on
/// frozen arguments and constants only, and is worth keeping: not much larger than these.
bool isFrozen(mlir::Value value);

} // namespace xetile

#endif // XETILE_TARGET_HOST_FROZEN_H
