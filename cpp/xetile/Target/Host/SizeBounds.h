// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What upstream's bounds of values prove about sizes.
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

/// Whether `left` compares to `right` in this way; false where that is not proved. This is
/// `ValueBoundsConstraintSet::compare` with the stop condition above, which that takes none.
bool provesBound(const mlir::ValueBoundsConstraintSet::Variable &left,
                 mlir::ValueBoundsConstraintSet::ComparisonOperator comparison,
                 const mlir::ValueBoundsConstraintSet::Variable &right);

} // namespace xetile

#endif // XETILE_TARGET_HOST_SIZEBOUNDS_H
