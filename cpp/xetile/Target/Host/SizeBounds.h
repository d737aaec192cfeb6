// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Proofs about sizes by upstream's value bounds.
#ifndef XETILE_TARGET_HOST_SIZEBOUNDS_H
#define XETILE_TARGET_HOST_SIZEBOUNDS_H

#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace xetile {

/// A stop condition for upstream's bounds, without which they must not be asked of what users
/// write: arith.addi and others have bounds of indices only, and upstream runs into an unreachable
/// where it asks for those of a tensor's dimension. Elementwise operations get their operands'
/// sizes.
bool takesOperandSize(mlir::Value value, std::optional<int64_t> dim,
                      mlir::ValueBoundsConstraintSet &bounds);

/// True if the comparison is proved: `ValueBoundsConstraintSet::compare` with the stop condition
/// above, for which that has no argument.
bool provesBound(const mlir::ValueBoundsConstraintSet::Variable &left,
                 mlir::ValueBoundsConstraintSet::ComparisonOperator comparison,
                 const mlir::ValueBoundsConstraintSet::Variable &right);

} // namespace xetile

#endif // XETILE_TARGET_HOST_SIZEBOUNDS_H
