//===- DropScheduleMarks.cpp - ops without the names of their schedules -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module that a schedule marked. Out: the same, equal to what the compiler makes without one.
// Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/ScheduleMark.h"

namespace xetile {
#define GEN_PASS_DEF_DROPSCHEDULEMARKS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct DropScheduleMarks : xetile::impl::DropScheduleMarksBase<DropScheduleMarks> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) { op->removeDiscardableAttr(xetile::kScheduleAttr); });
  }
};
} // namespace
