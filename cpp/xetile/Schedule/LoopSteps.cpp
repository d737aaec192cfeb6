//===- LoopSteps.cpp - what a loop does in another of its steps ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tiles whose offsets a loop computes. Out: the same for another step. Refused, with a reason:
// offsets that are carried from step to step, do not move or have side effects.
#include "xetile/Schedule/LoopSteps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xetile {

std::string collectTileSlice(InitTileOp init, scf::ForOp loop, TileSlice &slice) {
  bool carried = false, impure = false, moves = false;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *op) { return loop->isProperAncestor(op); };
  if (failed(getBackwardSlice(init.getOperation(), &slice, options)))
    return "its offsets cannot be traced";
  for (Operation *op : slice) {
    impure |= !isPure(op) || op->getNumRegions() != 0 || op->getParentRegion() != &loop.getRegion();
    for (Value operand : op->getOperands()) {
      moves |= operand == loop.getInductionVar();
      carried |= llvm::is_contained(loop.getRegionIterArgs(), operand);
    }
  }
  if (carried)
    return "its offsets are carried from step to step; compute them from the induction variable";
  if (impure)
    return "its offsets depend on operations with side effects or regions";
  if (!moves)
    return "it does not move with the loop";
  return {};
}

std::optional<int64_t> getKnownSteps(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  if (!count || count->getActiveBits() > 63)
    return std::nullopt;
  return count->getSExtValue();
}

Value advanceBySteps(RewriterBase &rewriter, Location loc, Value base, scf::ForOp loop,
                     int64_t steps) {
  if (steps == 0)
    return base;
  Value count =
      arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(base.getType(), steps));
  Value delta = rewriter.createOrFold<arith::MulIOp>(loc, loop.getStep(), count);
  return rewriter.createOrFold<arith::AddIOp>(loc, base, delta);
}

InitTileOp cloneTileAt(RewriterBase &rewriter, const TileSlice &slice, scf::ForOp loop, Value step,
                       TileType type) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), step);
  Operation *clone = nullptr;
  for (Operation *op : slice)
    clone = rewriter.clone(*op, mapping);
  auto tile = cast<InitTileOp>(clone);
  rewriter.modifyOpInPlace(tile, [&] { tile.getTile().setType(type); });
  return tile;
}

} // namespace xetile
