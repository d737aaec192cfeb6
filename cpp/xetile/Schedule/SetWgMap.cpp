//===- SetWgMap.cpp - transform.xetile.set_wg_map -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: operations of XeTile on tiles or vectors. Out: the same with a wg_map, at the operation or at
// its tile. Refused: operations that take their map from others, tiles that loops hand on, layouts
// that do not divide the tile.
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// A value whose map is set: a tile, or an operation's result.
TypedValue<TileType> getTileOf(Operation *op) {
  for (Value value : llvm::concat<const Value>(SmallVector<Value>(op->getResults()),
                                               SmallVector<Value>(op->getOperands())))
    if (auto tile = dyn_cast<TypedValue<TileType>>(value))
      return tile;
  return {};
}

/// Parts of one size, as many as subgroups along each dimension; a single row or column is all of
/// theirs. Null if they do not divide the shape.
WgMapAttr divide(MLIRContext *context, ArrayRef<int64_t> shape, std::array<int64_t, 2> layout) {
  SmallVector<int64_t> data;
  for (auto [size, parts] : llvm::zip_equal(shape, layout)) {
    if (size != 1 && size % parts)
      return {};
    data.push_back(size == 1 ? 1 : size / parts);
  }
  return WgMapAttr::get(context, layout, data);
}

/// Gives a tile its map where it is described. Returns why it cannot, or an empty string.
std::string setTileMap(RewriterBase &rewriter, TypedValue<TileType> tile, WgMapAttr map) {
  auto init = tile.getDefiningOp<InitTileOp>();
  if (!init)
    return "its tile does not come from an xetile.init_tile: set the map there, all tiles that a "
           "loop or xetile.update_tile_offset hands on have one";
  auto handsOn = [](Operation *user) {
    return isa<UpdateTileOffsetOp>(user) || user->hasTrait<OpTrait::IsTerminator>() ||
           user->getNumRegions() != 0;
  };
  if (llvm::any_of(tile.getUsers(), handsOn))
    return "its tile is handed on by a loop or xetile.update_tile_offset, whose types would "
           "differ; compute offsets anew for each xetile.init_tile";
  rewriter.modifyOpInPlace(init, [&] { tile.setType(tile.getType().withWgMap(map)); });
  return {};
}

} // namespace

DiagnosedSilenceableFailure SetWgMapOp::apply(TransformRewriter &rewriter,
                                              TransformResults &results, TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  std::array<int64_t, 2> layout;
  DiagnosedSilenceableFailure diag =
      readInteger(op, state, getSubgroupsM(), "subgroups_m", 1, layout[0]);
  if (diag.succeeded())
    diag = readInteger(op, state, getSubgroupsN(), "subgroups_n", 1, layout[1]);
  if (!diag.succeeded())
    return diag;

  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto fail = [&](const Twine &what) -> DiagnosedSilenceableFailure {
      DiagnosedDefiniteFailure failure = op.emitDefiniteFailure() << what;
      failure.attachNote(target->getLoc()) << "target op";
      return failure;
    };
    TypedValue<TileType> tile = getTileOf(target);
    bool isVector =
        !tile && target->getNumResults() == 1 && isa<VectorType>(target->getResult(0).getType());
    if (!tile && !isVector)
      return wrongTarget(op, target, "an operation with a tile or a vector");
    SmallVector<int64_t> shape =
        tile ? SmallVector<int64_t>(tile.getType().getShape())
             : getMatrixShape(cast<VectorType>(target->getResult(0).getType()));
    WgMapAttr map = shape.size() == 2 ? divide(rewriter.getContext(), shape, layout) : WgMapAttr();
    if (!map)
      return fail("sg_layout = [" + Twine(layout[0]) + ", " + Twine(layout[1]) +
                  "] does not divide the " + (tile ? "tile" : "result") + " of " +
                  (shape.size() == 2 ? Twine(shape[0]) + " x " + Twine(shape[1])
                                     : Twine(shape.size()) + " dimensions of") +
                  " elements");
    if (tile) {
      if (std::string reason = setTileMap(rewriter, tile, map); !reason.empty())
        return fail("cannot set a wg_map: " + reason);
      continue;
    }
    bool isSet = false;
    rewriter.modifyOpInPlace(target, [&] { isSet = setResultWgMap(target, map); });
    if (!isSet)
      return fail("cannot set a wg_map: '" + target->getName().getStringRef() +
                  "' has the map of its operands or users; set it at one of these: a load or "
                  "store, a tile_mma, tile_reduce, tile_broadcast, tile_transpose or "
                  "tile_conv_layout");
  }
  return DiagnosedSilenceableFailure::success();
}

void SetWgMapOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
