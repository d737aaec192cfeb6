//===- JoinProducts.h - products whose rows are reduced behind them ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_JOINPRODUCTS_H
#define XETILE_SCHEDULE_PROGRAMS_JOINPRODUCTS_H

#include "xetile/Schedule/Programs/KernelOps.h"

namespace xetile::transform_ops {

/// The schedule of a product and what follows on its rows.
inline constexpr llvm::StringLiteral kMatmulRows = "matmul_rows";

/// Makes one kernel of a product and of reductions along its rows, where a workgroup has whole rows
/// in its registers, and of a product and of what it alone reads, where that is computed about
/// once.
void joinProducts(llvm::SmallVectorImpl<KernelOps> &kernels);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_PROGRAMS_JOINPRODUCTS_H
