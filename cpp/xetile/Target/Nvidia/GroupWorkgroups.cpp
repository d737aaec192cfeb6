//===- GroupWorkgroups.cpp - an order of tiles that suits the cache -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: kernels on a grid of tiles, x along columns, y along rows. Out: the same tiles in groups of
// rows. Refused: groups of less than one row.
//===----------------------------------------------------------------------===//
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/Nvidia/Passes.h"
#include "xetile/Transforms/WorkgroupOrder.h"

namespace xetile {
#define GEN_PASS_DEF_GROUPWORKGROUPS
#include "xetile/Target/Nvidia/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct GroupWorkgroups : xetile::impl::GroupWorkgroupsBase<GroupWorkgroups> {
  using GroupWorkgroupsBase::GroupWorkgroupsBase;

  void runOnOperation() override {
    if (rows < 1) {
      getOperation().emitOpError() << "option rows is " << int64_t(rows) << ", expected at least 1";
      return signalPassFailure();
    }
    if (rows > 1)
      getOperation().walk([&](gpu::GPUFuncOp kernel) {
        // No order is better where no other workgroup reads the same.
        auto has = [&](auto find) { return kernel.walk(find).wasInterrupted(); };
        bool isByElement = has([](StoreTileOp) { return WalkResult::interrupt(); }) &&
                           !has([](TileMmaOp) { return WalkResult::interrupt(); });
        if (!isByElement)
          orderByGroups(kernel, rows);
      });
  }
};
} // namespace
