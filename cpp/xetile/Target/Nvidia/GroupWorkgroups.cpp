//===- GroupWorkgroups.cpp - an order of tiles that suits the cache -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels on a grid of tiles, x along columns, y along rows. Out: the same tiles in groups of
// rows. Refused: groups of less than one row.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/Passes.h"
#include "xetile/Transforms/WorkgroupOrder.h"

namespace xetile {
#define GEN_PASS_DEF_GROUPWORKGROUPS
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct GroupWorkgroups : xetile::impl::GroupWorkgroupsBase<GroupWorkgroups> {
  using GroupWorkgroupsBase::GroupWorkgroupsBase;

  void runOnOperation() override {
    if (rows < 1) {
      getOperation().emitOpError() << "option rows is " << int64_t(rows) << ", expected at least 1";
      return signalPassFailure();
    }
    if (rows > 1)
      getOperation().walk([&](gpu::GPUFuncOp kernel) { xetile::orderByGroups(kernel, rows); });
  }
};
} // namespace
