//===- InferWgMap.cpp - derive workgroup maps from those that are given -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile with a wg_map on at least one tile or operation on vectors.
// Out: the same operations, with maps on every tile and result that the given ones determine, and
// tile_conv_layouts where an operand's producer has another map than the operation needs.
// Refused: tiles and values of regions with two different maps, maps that do not fit a shape.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Transforms/Passes.h"
#include "xetile/Transforms/WgMapInference.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "xetile-infer-wg-map"

namespace xetile {
#define GEN_PASS_DEF_INFERWGMAP
#include "xetile/Transforms/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// The operations that hand a tile on with whatever type it gets.
static bool handsTilesOn(Operation *op) {
  auto bindsValues = [](Operation *scfOp) {
    return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp>(scfOp);
  };
  return isa_and_present<XeTileDialect>(op->getDialect()) || bindsValues(op) ||
         (isa<scf::YieldOp, scf::ConditionOp>(op) && bindsValues(op->getParentOp()));
}

/// Checks that the type of a tile can change: the first operation that would not follow is named.
static LogicalResult checkTypeCanChange(Value tile, WgMapAttr map) {
  SmallVector<Operation *> ops(tile.getUsers());
  Operation *definition = tile.getDefiningOp();
  ops.push_back(definition ? definition : tile.getParentBlock()->getParentOp());
  for (Operation *op : ops)
    if (!handsTilesOn(op))
      return op->emitOpError("has a tile of type ")
             << tile.getType() << " that needs " << map
             << " by the other maps of the kernel, and no rule to give it one; expected xetile "
                "operations, scf.for, scf.if, scf.while or scf.index_switch, or the map in the "
                "type";
  return success();
}

namespace {
struct InferWgMap : xetile::impl::InferWgMapBase<InferWgMap> {
  void runOnOperation() override {
    WgMapInference inference;
    if (failed(inference.run(getOperation())))
      return signalPassFailure();
    for (auto [value, map] : inference.getMaps())
      if (auto tile = dyn_cast<TileType>(value.getType()); tile && tile.getWgMap() != map)
        if (failed(checkTypeCanChange(value, map)))
          return signalPassFailure();
    for (auto [value, map] : inference.getMaps()) {
      LDBG() << value << ": " << map;
      if (auto tile = dyn_cast<TileType>(value.getType()))
        value.setType(tile.withWgMap(map));
      else if (Operation *op = value.getDefiningOp())
        setResultWgMap(op, map);
    }
  }
};
} // namespace
