//===- TileFold.h - which reductions go element by element --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_TILEFOLD_H
#define XETILE_SCHEDULE_TILES_TILEFOLD_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xetile::transform_ops {

/// True if a result of an op that reduces is no sum, product, extreme or such of elements that do
/// not depend on what was computed so far: only the order of the loops gives it.
bool isFold(mlir::linalg::LinalgOp op);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_TILEFOLD_H
