//===- WorkgroupSize.h - how many subgroups a workgroup has ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_WORKGROUPSIZE_H
#define XETILE_TRANSFORMS_WORKGROUPSIZE_H

#include "mlir/IR/Operation.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/IR/DialectAttrs.h"

namespace xetile {

/// Work-items of a workgroup, where the code of a kernel or a launch says so.
std::optional<int64_t> getWorkItems(mlir::Operation *scope);

/// Checks that the code of a workgroup can be launched with `numSubgroups` subgroups, and is, where
/// it says with how many work-items. `what` names the attributes that demand them.
llvm::LogicalResult checkWorkgroupSize(mlir::Operation *scope, int64_t numSubgroups,
                                       int64_t subgroupSize, int64_t maxWorkItems,
                                       llvm::StringRef what);

/// The most work-items and the least shared local memory that a workgroup has on the chips that can
/// be compiled for.
const TargetInfo &getSmallestTarget();

} // namespace xetile

#endif // XETILE_TRANSFORMS_WORKGROUPSIZE_H
