//===- MatmulTiling.h - tiles of a matmul on an Intel GPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one place that decides them; a cost model or a tuner would replace `chooseMatmulTiling`.
#ifndef XETILE_TARGET_MATMULTILING_H
#define XETILE_TARGET_MATMULTILING_H

#include "xetile/Facts/TargetInfo.h"

namespace xetile {

/// The matmul to be tiled. Sizes below zero are dynamic.
struct MatmulProblem {
  int64_t m, n, k;
  unsigned inputBits;
  /// True if some matrix is not known to fit the 2D unit's limits and may be accessed element by
  /// element.
  bool byElements;
};

/// A workgroup computes workgroupM x workgroupN of C by subgroupsM x subgroupsN subgroups, in steps
/// of kStep along k, and prefetches `prefetch` steps ahead.
struct MatmulTiling {
  static constexpr int64_t kOpen = 0, kOpenPrefetch = -1;

  int64_t workgroupM = kOpen, workgroupN = kOpen;
  int64_t subgroupsM = kOpen, subgroupsN = kOpen;
  int64_t kStep = kOpen;
  int64_t prefetch = kOpenPrefetch;
};

/// `given` with all that it leaves open. Values that are given stay, whether they are good or not.
MatmulTiling chooseMatmulTiling(const MatmulProblem &problem, MatmulTiling given,
                                const TargetInfo &device);

} // namespace xetile

#endif // XETILE_TARGET_MATMULTILING_H
