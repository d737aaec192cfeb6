//===- InferWgMap.cpp - derive workgroup maps from those that are given -----------===//
// In: XeTile with a wg_map on at least one tile or operation on vectors.
// Out: the same operations, with maps on every tile and result that the given ones determine.
// Refused: values that would need two different maps, maps that do not fit a value's shape.
//===----------------------------------------------------------------------===//
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Transforms/Passes.h"
#include "xetile/Transforms/WgMapInference.h"

namespace xetile {
#define GEN_PASS_DEF_INFERWGMAP
#include "xetile/Transforms/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {
struct InferWgMap : xetile::impl::InferWgMapBase<InferWgMap> {
  void runOnOperation() override {
    WgMapInference inference;
    if (failed(inference.run(getOperation())))
      return signalPassFailure();
    for (auto [value, map] : inference.getMaps()) {
      if (auto tile = dyn_cast<TileType>(value.getType()))
        value.setType(tile.withWgMap(map));
      else if (Operation *op = value.getDefiningOp())
        setResultWgMap(op, map);
    }
  }
};
} // namespace
