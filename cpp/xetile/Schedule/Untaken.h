//===- Untaken.h - what no schedule for GPUs takes ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_UNTAKEN_H
#define XETILE_SCHEDULE_UNTAKEN_H

#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "xetile/Facts/Result.h"
#include <string>

namespace xetile::transform_ops {

/// The remedy that is named for ops that are refused.
constexpr llvm::StringLiteral kTakeElsewhere =
    "a kernel of the schedule 'matmul' is one matmul with elementwise ops before and after: "
    "compile "
    "the others by themselves ('rows' and 'elementwise' take what has no matmul), or all of it for "
    "the target cpu";

/// Why a kernel around one matmul cannot have `op`, whatever surrounds it; nothing if it may, and
/// for ops that compute nothing.
Problem whyUntakable(mlir::Operation *op);

/// "linalg.generic of math.exp, arith.addf".
std::string describe(mlir::Operation *op);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_UNTAKEN_H
