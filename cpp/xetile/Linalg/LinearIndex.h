//===- LinearIndex.h - integers that are sums of indices ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_LINEARINDEX_H
#define XETILE_LINALG_LINEARINDEX_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xetile {

/// constant + sum of factors[loop] * index of that loop, never outside of [least, most].
struct LinearIndex {
  llvm::SmallVector<int64_t> factors;
  int64_t constant = 0, least = 0, most = 0;

  LinearIndex minus(const LinearIndex &other) const;
};

/// The sum of indices that the integer or index `scalar` in the body of `op` is; none where a step
/// on the way wraps around or needs more than 32 bits.
std::optional<LinearIndex> linearIndexOf(mlir::linalg::LinalgOp op, mlir::Value scalar);

} // namespace xetile

#endif // XETILE_LINALG_LINEARINDEX_H
