//===- Partition.h - which op of a program belongs to which kernel -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_PARTITION_H
#define XETILE_SCHEDULE_PROGRAMS_PARTITION_H

#include "xetile/Schedule/Programs/KernelOps.h"

namespace xetile {
struct Target;
}

namespace xetile::transform_ops {

/// The kernels of a block of `hostBlocks`. Ops with a number keep it and are alone with those of
/// the same number. Matmuls join reductions of their rows unless `joinsProducts` is false. What is
/// an attention is what `target` takes, one with tiles of its own for it, or null.
llvm::SmallVector<KernelOps> partition(mlir::Block &block, bool joinsProducts = true,
                                       const Target *target = nullptr);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_PROGRAMS_PARTITION_H
