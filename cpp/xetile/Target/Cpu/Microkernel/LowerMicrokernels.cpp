//===- LowerMicrokernels.cpp - contractions on memrefs to vector code --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: contractions (batch_reduce_matmul, ...) on memrefs whose n is contiguous in B and C, or k in
// A and B. Out: loops over register tiles; the tile of C stays in registers through all of k.
// Refused: nothing; other contractions are left for the lowering to scalar loops.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "xetile/Target/Cpu/Machine/Machine.h"
#include "xetile/Target/Cpu/Microkernel/LaneSums.h"
#include "xetile/Target/Cpu/Microkernel/ScalarKernel.h"
#include "xetile/Target/Cpu/Microkernel/TileSums.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "xetile-lower-microkernels"

namespace xetile {
#define GEN_PASS_DEF_LOWERMICROKERNELS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Replaces the contraction of `plan` by vector code.
static void emitKernel(RewriterBase &rewriter, const KernelPlan &plan) {
  rewriter.setInsertionPoint(plan.kernel.op);
  std::optional<FetchedRows> fetched = FetchedRows::before(plan.kernel.op);
  // Tiles gain nothing by it.
  if (fetched && plan.usesTiles) {
    rewriter.eraseOp(fetched->op);
    fetched.reset();
  }
  const KernelBuilder kernel = {rewriter, plan.kernel.op.getLoc(), plan, fetched};
  const SumStart start = findStart(plan);
  Indices place(plan.kernel.sizes.size());
  SmallVector<unsigned> outer(ArrayRef(plan.roles[kM]).drop_back());
  for (unsigned dim : plan.roles[kN])
    if (dim != plan.columnDim)
      outer.push_back(dim);
  kernel.overDims(outer, place, [&] {
    if (plan.sumsLanes)
      return emitLaneSums(kernel, start, place);
    Index zero = rewriter.getIndexAttr(0), rows = kernel.extentOf(plan.rowDim),
          columns = kernel.extentOf(plan.columnDim);
    if (!plan.usesTiles)
      return emitVectorSums(kernel, start, zero, place, {zero, rows, zero, columns});
    Area done = emitTileSums(kernel, start, place);
    emitVectorSums(kernel, start, zero, place, {zero, done.rowHigh, done.columnHigh, columns});
    emitVectorSums(kernel, start, zero, place, {done.rowHigh, rows, zero, columns});
  });
  for (Operation *op : start.absorbed)
    rewriter.eraseOp(op);
  rewriter.eraseOp(plan.kernel.op);
  if (fetched)
    rewriter.eraseOp(fetched->op);
}

namespace {
struct LowerMicrokernels : xetile::impl::LowerMicrokernelsBase<LowerMicrokernels> {
  using LowerMicrokernelsBase::LowerMicrokernelsBase;

  void runOnOperation() override {
    if (vectorBits != 0 &&
        (vectorBits < 128 || !llvm::isPowerOf2_64(vectorBits) || registers < 8)) {
      emitError(UnknownLoc::get(&getContext()))
          << "vector-bits = " << int64_t(vectorBits) << ", registers = " << int64_t(registers)
          << ": expected 0 (the machine's) or a power of two from 128 and at least 8 registers";
      return signalPassFailure();
    }
    SmallVector<linalg::LinalgOp> kernels;
    getOperation()->walk([&](linalg::LinalgOp op) { kernels.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : kernels) {
      Result<Contraction> kernel = matchContraction(op, /*onTensors=*/false);
      if (!kernel)
        continue;
      MicrokernelTarget target{vectorBits, registers, bf16Dot, int8Dot, amx};
      if (vectorBits == 0) {
        FailureOr<Machine> machine = describeMachine(op, /*require=*/false);
        if (failed(machine))
          return signalPassFailure();
        target = {machine->vectorBits, machine->registers, machine->bf16Dot,
                  machine->int8Dot,    machine->amx,       machine->l1};
      }
      KernelOperands operands = viewOperands(rewriter, *kernel);
      std::optional<KernelPlan> plan = planKernel(*kernel, operands, target);
      LDBG() << op << ": " << (plan ? "vector code" : "no vector code");
      if (plan)
        emitKernel(rewriter, *plan);
      else if (kernel->batch.empty() && roundsEverySum(*kernel))
        emitScalarKernel(rewriter, *kernel);
    }
  }
};
} // namespace
