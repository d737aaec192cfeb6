//===- MoveStatistics.h - what is computed of statistics alone ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_MOVESTATISTICS_H
#define XETILE_SCHEDULE_PROGRAMS_MOVESTATISTICS_H

#include "xetile/Schedule/Programs/KernelOps.h"

namespace xetile::transform_ops {

class TileSizes;

/// Elementwise ops of results of one kernel of reductions, that a kernel of another shape reads,
/// go to the first one: there each element is computed once, here for each tile.
void moveStatistics(llvm::MutableArrayRef<KernelOps> kernels, const TileSizes &sizes);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_PROGRAMS_MOVESTATISTICS_H
