//===- JoinOnce.cpp - one barrier at the end of a parallel loop --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: parallel loops as OpenMP's. Out: those that are all of a parallel region don't wait at their
// end, as the region does. Nothing is refused; what something follows in its region stays.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_JOINONCE
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct JoinOnce : xetile::impl::JoinOnceBase<JoinOnce> {
  void runOnOperation() override {
    getOperation()->walk([](omp::WsloopOp loop) {
      // Sums of threads would not be complete.
      if (isa<omp::ParallelOp>(loop->getParentOp()) &&
          isa_and_nonnull<omp::TerminatorOp>(loop->getNextNode()) &&
          loop.getReductionVars().empty())
        loop.setNowait(true);
    });
  }
};
} // namespace
