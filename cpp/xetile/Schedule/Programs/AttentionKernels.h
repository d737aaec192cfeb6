//===- AttentionKernels.h - which ops of a program are an attention -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_ATTENTIONKERNELS_H
#define XETILE_SCHEDULE_PROGRAMS_ATTENTIONKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace xetile {
struct Target;
}

namespace xetile::transform_ops {

/// Ops of each attention in `block` that the schedule `attention` takes as one kernel, in the order
/// of the block; fills and views that are copied to kernels may be among them. `target`: one with
/// tiles of its own for attentions, which says what it takes, or null.
llvm::SmallVector<llvm::SetVector<mlir::Operation *>> findAttentionKernels(mlir::Block &block,
                                                                           const Target *target);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_PROGRAMS_ATTENTIONKERNELS_H
