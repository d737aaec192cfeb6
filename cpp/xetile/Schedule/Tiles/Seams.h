//===- Seams.h - where tensors are put together of others --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_SEAMS_H
#define XETILE_SCHEDULE_TILES_SEAMS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallSet.h"

namespace xetile::transform_ops {

/// Adds the indices along dimension `dim` of `tensor` at which another input of a concatenation
/// begins or the last one ends, of any that it is computed of element by element. Some may be
/// outside of it.
void findSeams(mlir::Value tensor, unsigned dim, llvm::SmallSet<int64_t, 4> &seams);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_SEAMS_H
