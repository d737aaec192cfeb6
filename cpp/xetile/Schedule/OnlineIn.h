//===- OnlineIn.h - dependent reductions of a function -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_ONLINEIN_H
#define XETILE_SCHEDULE_ONLINEIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/Linalg/Online/Online.h"

namespace xetile::transform_ops {

/// The last reduction of `func` that is one of several that depend on one another, or, with
/// `products`, a product of what other products make; with why none of them is.
std::optional<Online> findOnlineIn(mlir::func::FuncOp func, mlir::Operation *&where,
                                   std::string &why, bool products = false);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_ONLINEIN_H
