//===- ShareRows.cpp - threads for loops over blocks of rows ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: scf.forall over blocks of rows, on memrefs. Out: one step for each thread, which does a share
// of the blocks in turn; scratch memory is its own. Refused: nothing; other loops stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Linalg/TileLoops.h"
#include "xetile/Target/Cpu/Blocks/Rows/RowPlan.h"
#include "xetile/Target/Cpu/Machine/Machine.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SHAREROWS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Memory of one block serves the next one, and so does that of loops in it.
static void hoistScratch(Block &body, scf::ForOp loop) {
  for (auto inner : body.getOps<scf::ForOp>())
    hoistScratch(*inner.getBody(), inner);
  for (auto alloc : llvm::make_early_inc_range(body.getOps<memref::AllocOp>())) {
    SmallVector<Operation *> frees = llvm::filter_to_vector(
        alloc->getUsers(), [](Operation *user) { return isa<memref::DeallocOp>(user); });
    if (!alloc.getType().hasStaticShape() || frees.size() != 1 || frees[0]->getBlock() != &body)
      continue;
    alloc->moveBefore(loop);
    frees[0]->moveAfter(loop);
  }
}

/// Loops over the blocks in [first, last), counted through all of `bounds`, innermost last.
static void emitBlocks(RewriterBase &b, scf::ForallOp forall, Index first, Index last) {
  Location loc = forall.getLoc();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, asValue(b, loc, first), asValue(b, loc, last), one);
  b.setInsertionPointToStart(loop.getBody());
  Value rest = loop.getInductionVar();
  SmallVector<Value> places(forall.getRank());
  for (int64_t dim = forall.getRank(); dim-- > 0;) {
    Index low = forall.getMixedLowerBound()[dim], high = forall.getMixedUpperBound()[dim];
    Value step = asValue(b, loc, forall.getMixedStep()[dim]);
    Value extent = asValue(b, loc, subIndex(b, loc, high, low));
    Value count = b.createOrFold<arith::CeilDivUIOp>(loc, extent, step);
    Value number = rest;
    if (dim != 0) {
      number = b.createOrFold<arith::RemUIOp>(loc, rest, count);
      rest = b.createOrFold<arith::DivUIOp>(loc, rest, count);
    }
    places[dim] = b.createOrFold<arith::AddIOp>(loc, asValue(b, loc, low),
                                                b.createOrFold<arith::MulIOp>(loc, number, step));
  }
  forall.getTerminator().erase();
  b.inlineBlockBefore(forall.getBody(), loop.getBody()->getTerminator(), places);
  hoistScratch(*loop.getBody(), loop);
}

static Index countBlocks(RewriterBase &b, scf::ForallOp forall) {
  Location loc = forall.getLoc();
  Value all = arith::ConstantIndexOp::create(b, loc, 1);
  for (auto [low, high, step] : llvm::zip_equal(
           forall.getMixedLowerBound(), forall.getMixedUpperBound(), forall.getMixedStep())) {
    Value extent = asValue(b, loc, subIndex(b, loc, high, low));
    Value count = b.createOrFold<arith::CeilDivUIOp>(loc, extent, asValue(b, loc, step));
    all = b.createOrFold<arith::MulIOp>(loc, all, count);
  }
  return getAsOpFoldResult(all);
}

static void share(RewriterBase &b, scf::ForallOp forall, int64_t threads) {
  Location loc = forall.getLoc();
  b.setInsertionPoint(forall);
  Index blocks = countBlocks(b, forall);
  if (std::optional<int64_t> known = getConstantIntValue(blocks))
    threads = std::clamp<int64_t>(*known, 1, threads);
  if (threads == 1) {
    emitBlocks(b, forall, b.getIndexAttr(0), blocks);
    b.eraseOp(forall);
    return;
  }
  auto team = scf::ForallOp::create(b, loc, ArrayRef<Index>{b.getIndexAttr(threads)}, ValueRange(),
                                    std::nullopt);
  b.setInsertionPointToStart(team.getBody());
  Value id = team.getInductionVar(0);
  auto from = [&](Value number) {
    Value product = b.createOrFold<arith::MulIOp>(loc, number, asValue(b, loc, blocks));
    Value count = arith::ConstantIndexOp::create(b, loc, threads);
    return getAsOpFoldResult(b.createOrFold<arith::DivUIOp>(loc, product, count));
  };
  Index first = from(id);
  Value next = b.createOrFold<arith::AddIOp>(loc, id, arith::ConstantIndexOp::create(b, loc, 1));
  emitBlocks(b, forall, first, from(next));
  b.eraseOp(forall);
}

namespace {
struct ShareRows : xetile::impl::ShareRowsBase<ShareRows> {
  using ShareRowsBase::ShareRowsBase;

  void runOnOperation() override {
    if (failed(checkThreads(getOperation(), threads)))
      return signalPassFailure();
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp op) {
      if (op->hasAttr(kRowsAttr) && op.getOutputs().empty())
        loops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp op : loops) {
      FailureOr<Machine> machine = describeMachine(op, /*require=*/false);
      if (failed(machine))
        return signalPassFailure();
      share(rewriter, op, threads == 0 ? machine->cores : threads);
    }
  }
};
} // namespace
