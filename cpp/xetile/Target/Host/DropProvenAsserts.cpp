//===- DropProvenAsserts.cpp - assertions that hold ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: cf.assert anywhere in a function. Out: those that are not known to hold. Refused: nothing.
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "xetile/Target/Host/IntegerRanges.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_DROPPROVENASSERTS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct DropProvenAsserts : xetile::impl::DropProvenAssertsBase<DropProvenAsserts> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> proven;
    getOperation().walk([&](cf::AssertOp op) {
      if (xetile::IntegerRanges().of(op.getArg()).umin().isOne())
        proven.push_back(op);
    });
    for (cf::AssertOp op : proven)
      op.erase();
  }
};
} // namespace
