//===- InsertPrefetch.cpp - transform.xetile.insert_prefetch ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: workgroup-level load_tile in scf.for. Out: prefetch_tile `distance` steps ahead of each load.
// Refused: tiles without wg_map, tiles that do not move with the loop, uneven sharing.
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// Keeps a tile in all caches: it is read once by each subgroup of the grid's row or column.
constexpr int32_t kKeepInAllCaches = 3;

/// Ops of the loop's body that compute the tile, in order, the init_tile last.
using TileSlice = llvm::SetVector<Operation *>;

/// Collects the slice that computes the offsets of `init` in `loop`. Returns why it cannot be
/// evaluated for another step, or an empty string.
std::string collectSlice(InitTileOp init, scf::ForOp loop, TileSlice &slice) {
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

/// Known number of steps of the loop; nothing if a bound is not constant.
std::optional<int64_t> getTripCount(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  if (!count || count->getActiveBits() > 63)
    return std::nullopt;
  return count->getSExtValue();
}

/// The induction variable `steps` steps after it was `base`.
Value advance(RewriterBase &rewriter, Location loc, Value base, scf::ForOp loop, int64_t steps) {
  if (steps == 0)
    return base;
  Value count =
      arith::ConstantOp::create(rewriter, loc, rewriter.getIntegerAttr(base.getType(), steps));
  Value delta = rewriter.createOrFold<arith::MulIOp>(loc, loop.getStep(), count);
  return rewriter.createOrFold<arith::AddIOp>(loc, base, delta);
}

/// Clones the tile for the induction variable `step`, with the shared map, and prefetches it.
PrefetchTileOp prefetchStep(RewriterBase &rewriter, const TileSlice &slice, scf::ForOp loop,
                            Value step, TileType type) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), step);
  Operation *clone = nullptr;
  for (Operation *op : slice)
    clone = rewriter.clone(*op, mapping);
  auto tile = cast<InitTileOp>(clone);
  rewriter.modifyOpInPlace(tile, [&] { tile.getTile().setType(type); });
  return PrefetchTileOp::create(rewriter, tile.getLoc(), tile.getTile(),
                                rewriter.getI32IntegerAttr(kKeepInAllCaches));
}

/// Prefetches for `load`, appending the ops in the loop to `prefetches`. Returns why it cannot, or
/// an empty string.
std::string insertPrefetch(RewriterBase &rewriter, LoadTileOp load, int64_t distance,
                           SmallVectorImpl<Operation *> &prefetches) {
  auto loop = load->getParentOfType<scf::ForOp>();
  if (!loop || distance == 0)
    return {};
  auto init = load.getTile().getDefiningOp<InitTileOp>();
  if (!init)
    return "its tile does not come from an xetile.init_tile";
  TileSlice slice;
  if (!loop->isProperAncestor(init))
    return "it does not move with the loop";
  if (std::string reason = collectSlice(init, loop, slice); !reason.empty())
    return reason;

  TileType type = init.getTile().getType();
  if (!type.getWgMap())
    return "its tile has no wg_map; run xetile-infer-wg-map first";
  int64_t subgroups = type.getWgMap().getNumSubgroups();
  WgMapAttr shared = getCooperativeMap(load.getContext(), type.getShape(),
                                       type.getElementType().getIntOrFloatBitWidth(), subgroups);
  if (!shared)
    return ("its tile of " + Twine(type.getShape()[0]) + " x " + Twine(type.getShape()[1]) +
            " elements cannot be shared evenly by " + Twine(subgroups) +
            " subgroups in rows of at most 64 bytes; change the tile or the subgroup layout")
        .str();
  TileType sharedType = type.withWgMap(shared);

  Location loc = load.getLoc();
  rewriter.setInsertionPoint(loop);
  int64_t stepsBefore = std::min(distance, getTripCount(loop).value_or(distance));
  for (int64_t i = 0; i < stepsBefore; ++i)
    prefetchStep(rewriter, slice, loop, advance(rewriter, loc, loop.getLowerBound(), loop, i),
                 sharedType);
  // Before the first load: the prefetches of a step go out before its loads wait.
  rewriter.setInsertionPoint(&*llvm::find_if(*loop.getBody(), [](Operation &op) {
    return op.walk([](LoadTileOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }));
  Value ahead = advance(rewriter, loc, loop.getInductionVar(), loop, distance);
  prefetches.push_back(prefetchStep(rewriter, slice, loop, ahead, sharedType));
  return {};
}

} // namespace

DiagnosedSilenceableFailure InsertPrefetchOp::apply(TransformRewriter &rewriter,
                                                    TransformResults &results,
                                                    TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  int64_t distance;
  DiagnosedSilenceableFailure diag =
      readInteger(op, state, getDistance(), "prefetch distance", 0, distance);
  if (!diag.succeeded())
    return diag;

  if (distance > kMaxPrefetchDistance)
    return op.emitDefiniteFailure()
           << "prefetch distance = " << distance << ": expected at most " << kMaxPrefetchDistance;

  SmallVector<Operation *> prefetches;
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto load = dyn_cast<LoadTileOp>(target);
    if (!load)
      return wrongTarget(op, target, "xetile.load_tile");
    if (std::string reason = insertPrefetch(rewriter, load, distance, prefetches);
        !reason.empty()) {
      if (getWherePossible())
        continue;
      DiagnosedDefiniteFailure failure = op.emitDefiniteFailure()
                                         << "cannot prefetch for this load: " << reason;
      failure.attachNote(load.getLoc()) << "target op";
      return failure;
    }
  }
  results.set(cast<OpResult>(getPrefetches()), prefetches);
  return DiagnosedSilenceableFailure::success();
}

void InsertPrefetchOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  producesHandle(getOperation()->getOpResults(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
