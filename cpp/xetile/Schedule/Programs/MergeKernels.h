//===- MergeKernels.h - kernels beside each other become one ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_MERGEKERNELS_H
#define XETILE_SCHEDULE_PROGRAMS_MERGEKERNELS_H

#include "xetile/Schedule/Programs/KernelOps.h"

namespace xetile::transform_ops {

/// Two kernels that can be one: their last ops, and why they should.
struct Merge {
  mlir::Operation *x, *y;
  llvm::StringRef why;
};

/// The first two of `kernels` that do not wait for one another and whose workgroups walk over the
/// same elements, if they read the same memory or are small. What a user numbered stays alone.
std::optional<Merge> findMerge(llvm::ArrayRef<KernelOps> kernels);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_PROGRAMS_MERGEKERNELS_H
