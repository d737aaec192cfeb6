//===- IterationSpace.h - the sizes of a matmul's dimensions as values -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_MATMUL_LOOPNEST_ITERATIONSPACE_H
#define XETILE_TARGET_CPU_MATMUL_LOOPNEST_ITERATIONSPACE_H

#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/TileLoops.h"

namespace xetile {

/// Turns offsets and sizes of m, n, k, in steps of the tiled dimensions, to those of all
/// dimensions.
struct IterationSpace {
  const Contraction &matmul;
  llvm::SmallVector<Index> sizes;
  Index zero, one;

  /// 0 but for the tiled dimensions.
  llvm::SmallVector<Index> offsetsAt(const std::array<Index, 3> &tiled) const {
    return withTiled(llvm::SmallVector<Index>(sizes.size(), zero), tiled);
  }
  /// One batch, and all of the others but for the tiled dimensions.
  llvm::SmallVector<Index> sizesOf(const std::array<Index, 3> &tiled) const {
    llvm::SmallVector<Index> result = sizes;
    for (unsigned dim : matmul.batch)
      result[dim] = one;
    return withTiled(result, tiled);
  }

private:
  llvm::SmallVector<Index> withTiled(llvm::SmallVector<Index> dims,
                                     const std::array<Index, 3> &tiled) const {
    for (MatmulDim dim : {kM, kN, kK})
      dims[matmul.tiled(dim)] = tiled[dim];
    return dims;
  }
};

} // namespace xetile

#endif // XETILE_TARGET_CPU_MATMUL_LOOPNEST_ITERATIONSPACE_H
