//===- InsertPrefetch.cpp - transform.xetile.insert_prefetch ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: workgroup-level load_tile in scf.for. Out: prefetch_tile `distance` steps ahead of each load.
// Refused: tiles without wg_map, tiles that do not move with the loop, uneven sharing.
#include "xetile/IR/WgMap.h"
#include "xetile/Schedule/LoopSteps.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// How far ahead prefetches are, and which caches they fill.
struct Ahead {
  int64_t distance;
  int32_t locality;
};

/// Prefetches the tile of the step at which the induction variable is `step`, by the shared map.
PrefetchTileOp prefetchStep(RewriterBase &rewriter, const TileSlice &slice, scf::ForOp loop,
                            Value step, TileType type, int32_t locality) {
  InitTileOp tile = cloneTileAt(rewriter, slice, loop, step, type);
  return PrefetchTileOp::create(rewriter, tile.getLoc(), tile.getTile(),
                                rewriter.getI32IntegerAttr(locality));
}

/// Prefetches for `load`, appending the ops in the loop to `prefetches`. Returns why it cannot, or
/// an empty string.
std::string insertPrefetch(RewriterBase &rewriter, LoadTileOp load, Ahead by,
                           SmallVectorImpl<Operation *> &prefetches) {
  auto loop = load->getParentOfType<scf::ForOp>();
  if (!loop || by.distance == 0)
    return {};
  auto init = load.getTile().getDefiningOp<InitTileOp>();
  if (!init)
    return "its tile does not come from an xetile.init_tile";
  TileSlice slice;
  if (!loop->isProperAncestor(init))
    return "it does not move with the loop";
  if (std::string reason = collectTileSlice(init, loop, slice); !reason.empty())
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
  int64_t stepsBefore = std::min(by.distance, getKnownSteps(loop).value_or(by.distance));
  for (int64_t i = 0; i < stepsBefore; ++i)
    prefetchStep(rewriter, slice, loop,
                 advanceBySteps(rewriter, loc, loop.getLowerBound(), loop, i), sharedType,
                 by.locality);
  // Before the first load: the prefetches of a step go out before its loads wait.
  rewriter.setInsertionPoint(&*llvm::find_if(*loop.getBody(), [](Operation &op) {
    return op.walk([](LoadTileOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }));
  Value ahead = advanceBySteps(rewriter, loc, loop.getInductionVar(), loop, by.distance);
  prefetches.push_back(prefetchStep(rewriter, slice, loop, ahead, sharedType, by.locality));
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

  Ahead by{distance, static_cast<int32_t>(getLocality())};
  SmallVector<Operation *> prefetches;
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto load = dyn_cast<LoadTileOp>(target);
    if (!load)
      return wrongTarget(op, target, "xetile.load_tile");
    if (std::string reason = insertPrefetch(rewriter, load, by, prefetches); !reason.empty()) {
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
