//===- FuseRows.cpp - reductions and what surrounds them, row by row -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on tensors, outside of loops. Out: those that share rows, as a softmax's, in one
// loop over blocks that stay in a cache, or remarks. Refused: nothing; other ops stay as they are.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Linalg/InFunction.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Target/Cpu/Blocks/Rows/RowPlan.h"
#include "xetile/Target/Cpu/Machine/Machine.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "xetile-fuse-rows"

namespace xetile {
#define GEN_PASS_DEF_FUSEROWS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

static LogicalResult emitRows(RewriterBase &b, RowPlan &plan) {
  scf::SCFTilingOptions tiling;
  tiling.setTileSizes(getAsIndexOpFoldResult(b.getContext(), plan.tiles));
  tiling.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  scf::SCFTileAndFuseOptions options;
  options.setTilingOptions(tiling);
  options.setFusionControlFn(
      [&](tensor::ExtractSliceOp, OpResult producer,
          bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
        if (!plan.producers.contains(producer.getOwner()))
          return std::nullopt;
        return scf::SCFTileAndFuseOptions::ControlFnResult{};
      });
  b.setInsertionPoint(plan.root);
  FailureOr<scf::SCFTileAndFuseResult> result = scf::tileConsumerAndFuseProducersUsingSCF(
      b, cast<TilingInterface>(plan.root.getOperation()), options);
  if (failed(result))
    return failure();
  for (LoopLikeOpInterface loop : result->loops)
    loop->setAttr(kRowsAttr, b.getUnitAttr());
  for (auto [old, replacement] : result->replacements)
    b.replaceAllUsesWith(old, replacement);
  return success();
}

/// Lets what a block's last op reads element by element be computed in the memory of its results.
static void reuseResults(scf::ForallOp loop) {
  for (Operation &insertion : loop.getTerminator().getYieldingOps()) {
    auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(insertion);
    auto root = slice ? slice.getSource().getDefiningOp<linalg::LinalgOp>() : linalg::LinalgOp();
    if (!root || root.getNumDpsInits() != 1)
      continue;
    OpOperand *init = root.getDpsInitOperand(0);
    auto place = init->get().getDefiningOp<tensor::ExtractSliceOp>();
    if (!place || root.payloadUsesValueFromOperand(init) || !root.hasPureTensorSemantics())
      continue;
    for (OpOperand *input : root.getDpsInputOperands()) {
      auto producer = input->get().getDefiningOp<linalg::LinalgOp>();
      if (!producer || producer->getBlock() != root->getBlock() ||
          input->get().getType() != init->get().getType() ||
          root.getMatchingIndexingMap(input) != root.getMatchingIndexingMap(init))
        continue;
      OpOperand *own = producer.getDpsInitOperand(0);
      if (producer.getNumDpsInits() != 1 || producer.payloadUsesValueFromOperand(own) ||
          !own->get().getDefiningOp<tensor::EmptyOp>() ||
          llvm::any_of(place->getOperands(), [&](Value operand) {
            Operation *made = operand.getDefiningOp();
            return made && made->getBlock() == producer->getBlock() &&
                   !made->isBeforeInBlock(producer);
          }))
        continue;
      place->moveBefore(producer);
      own->set(place);
      init->set(producer->getResult(0));
      break;
    }
  }
}

/// "12 blocks"; the number may be known when it runs only.
static std::string count(int64_t number, StringRef unit) {
  std::string text = ShapedType::isDynamic(number) ? "an unknown number of" : llvm::utostr(number);
  return text + " " + unit.str();
}

/// Tells what `plan` does, at its last op.
static void remarkRows(RowPlan &plan, int64_t cacheBytes) {
  SmallVector<std::string> block;
  for (auto [size, tile] : llvm::zip_equal(plan.root.getStaticLoopRanges(), plan.tiles)) {
    int64_t extent = tile == 0 ? size : tile;
    block.push_back(ShapedType::isDynamic(extent) ? "?" : llvm::utostr(extent));
  }
  SmallVector<Operation *> ops = llvm::filter_to_vector(
      llvm::reverse(plan.producers), [](Operation *op) { return !isa<linalg::FillOp>(op); });
  InFlightDiagnostic remark = plan.root.emitRemark() << "rows: " << count(plan.blocks, "blocks")
                                                     << " of " << llvm::join(block, "x");
  if (!ops.empty())
    remark << ", each through " << ops.size() + 1 << " ops";
  for (Operation *op : ops)
    remark.attachNote(op->getLoc()) << op->getName() << " to " << op->getResult(0).getType();
  remark.attachNote() << "a block touches " << count(plan.blockBytes, "bytes") << ", all of them "
                      << count(plan.allBytes, "bytes") << "; half of the second-level cache has "
                      << cacheBytes;
}

namespace {
struct FuseRows : xetile::impl::FuseRowsBase<FuseRows> {
  using FuseRowsBase::FuseRowsBase;

  void runOnOperation() override {
    if (rows < 0) {
      getOperation()->emitError() << "rows = " << int64_t(rows)
                                  << ": expected 0 (what a cache holds) or more";
      return signalPassFailure();
    }
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isInFunction(op))
        ops.push_back(op);
    });
    llvm::SmallPtrSet<Operation *, 16> done;
    bool changed = false;
    IRRewriter rewriter(&getContext());
    SmallVector<std::function<void()>> remarks;
    // From the last op, which is the end of a chain.
    for (linalg::LinalgOp op : llvm::reverse(ops)) {
      if (done.contains(op))
        continue;
      FailureOr<Machine> machine = describeMachine(op, /*require=*/false);
      if (failed(machine))
        return signalPassFailure();
      RowOptions options{machine->l2 / 2,
                         machine->l1 * 3 / 4,
                         rows,
                         threads == 0 ? machine->cores : threads,
                         /*alone=*/threads != 1,
                         schedules};
      int64_t cacheBytes = options.cacheBytes;
      Result<RowPlan> plan = planRows(op, options);
      LDBG() << op << (plan ? ": in blocks of rows" : ": " + plan.error().message);
      if (!plan) {
        if (explain && !isa<linalg::FillOp>(op))
          remarks.push_back([=, why = plan.error().message]() mutable {
            op.emitRemark("a loop nest of its own").attachNote() << why;
          });
        continue;
      }
      RowPlan found = *plan;
      done.insert(op);
      done.insert_range(found.producers);
      if (explain) {
        remarks.push_back([=]() mutable { remarkRows(found, cacheBytes); });
      } else if (failed(emitRows(rewriter, found))) {
        op.emitOpError("cannot be tiled along its rows");
        return signalPassFailure();
      } else {
        changed = true;
      }
    }
    for (std::function<void()> &say : llvm::reverse(remarks))
      say();
    if (changed && failed(reuseMemory(rewriter)))
      signalPassFailure();
  }

private:
  LogicalResult reuseMemory(IRRewriter &rewriter) {
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return failure();
    // Each op of a block has extracted its operands: equal slices are one.
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
    getOperation()->walk([&](scf::ForallOp loop) {
      if (loop->hasAttr(kRowsAttr))
        reuseResults(loop);
    });
    return success();
  }
};
} // namespace
