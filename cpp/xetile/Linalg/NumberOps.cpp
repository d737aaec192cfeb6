//===- NumberOps.cpp - numbers by which linalg ops are known later ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops. Out: the same, their numbers in the locations of them and of what they compute,
// which passes keep. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/Linalg/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_NUMBEROPS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct NumberOps : xetile::impl::NumberOpsBase<NumberOps> {
  void runOnOperation() override {
    int64_t next = 0;
    getOperation()->walk([&](linalg::LinalgOp op) {
      auto name = StringAttr::get(&getContext(), "#" + Twine(next++));
      auto mark = [&](Operation *each) { each->setLoc(NameLoc::get(name, each->getLoc())); };
      op->walk(mark);
    });
  }
};
} // namespace
