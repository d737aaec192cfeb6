//===- PartsOfProducts.h - blocks of attentions, each by itself ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_ONLINE_PARTSOFPRODUCTS_H
#define XETILE_LINALG_ONLINE_PARTSOFPRODUCTS_H

#include "xetile/Linalg/Online/OnlineMaker.h"

namespace xetile {

/// Writes the reductions of `maker`, and what is between, for blocks of `size` elements of n. The
/// result of each reduction gives that of the blocks, whose number is the first dimension. Ops that
/// were written are added to `made`.
llvm::DenseMap<mlir::Value, mlir::Value>
partsOfProducts(OnlineMaker &maker, int64_t size, llvm::SmallVectorImpl<mlir::Operation *> &made);

} // namespace xetile

#endif // XETILE_LINALG_ONLINE_PARTSOFPRODUCTS_H
