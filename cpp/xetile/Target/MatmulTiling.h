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
  /// Products of that size; below zero if it is dynamic.
  int64_t batches = 1;
  /// Of f32: not rounded to tf32.
  bool isExact = false;
  /// Of a convolution: places in a row of the image, where these are side by side in its result; 0
  /// for others.
  int64_t imageRow = 0;
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

/// Elements of k that the parts of a product that is split along k are multiples of: whole steps
/// of the loop, which start at cache lines.
int64_t unitOfParts(const MatmulProblem &problem, const MatmulTiling &tiling);

/// Into how many parts of k to split a product whose result has `tiles` tiles, on a device of
/// `cores` cores (0 if unknown); 1 for not at all. As many as there are places for workgroups, if
/// - half of the places or more were empty otherwise,
/// - each part has 32 steps at least, the time that a second launch takes,
/// - partial sums, 4 bytes that are written and read once more, are at most half of the bytes that
///   the part loads: k >= 16 m n / ((m + n) * bytes of an element) for a tile of m x n.
int64_t chooseParts(const MatmulProblem &problem, int64_t tiles, const MatmulTiling &tiling,
                    const TargetInfo &device, unsigned cores);

} // namespace xetile

#endif // XETILE_TARGET_MATMULTILING_H
