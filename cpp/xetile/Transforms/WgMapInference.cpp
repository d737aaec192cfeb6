//===- WgMapInference.cpp - the workgroup map of each value ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/WgMapInference.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Transforms/TiedValues.h"

using namespace mlir;

namespace xetile {

/// An order of maps with the same pieces, so that values tied to one another agree on one of them.
static bool precedes(WgMapAttr a, WgMapAttr b) { return a.getSgLayout()[0] < b.getSgLayout()[0]; }

LogicalResult WgMapInference::assign(Value value, WgMapAttr map) {
  ArrayRef<int64_t> shape = cast<ShapedType>(value.getType()).getShape();
  WgMapAttr known = maps.lookup(value);
  if (known == map)
    return success();
  if (failed(verifyWgMap(map, shape, [&] {
        return emitError(value.getLoc())
               << "wg_map " << map << " does not fit " << value.getType() << ": ";
      })))
    return failure();
  if (known && !haveSamePieces(known, map, shape)) {
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentBlock()->getParentOp();
    return op->emitOpError("needs two workgroup maps for one value of type ")
           << value.getType() << ": " << known << " and " << map
           << "; load it once for each, or give its users one map";
  }
  if (!known || precedes(map, known)) {
    maps[value] = map;
    worklist.push_back(value);
  }
  return success();
}

LogicalResult WgMapInference::propagate(Value value, WgMapAttr map) {
  SmallVector<std::pair<Value, WgMapAttr>> next;
  for (Value tied : getTiedValues(value))
    next.push_back({tied, map});

  auto append = [&](Value other, WgMapAttr otherMap) {
    if (otherMap)
      next.push_back({other, otherMap});
  };
  auto appendSharing = [&](Operation *op) {
    if (!sharesOneMap(op))
      return;
    for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value other : values)
        if (isa<TileType, VectorType>(other.getType()))
          append(other, map);
  };
  if (Operation *definition = value.getDefiningOp()) {
    appendSharing(definition);
    for (OpOperand &operand : definition->getOpOperands())
      append(operand.get(), deriveOperandMap(operand, map));
  }
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    appendSharing(user);
    if (WgMapAttr derived = deriveResultMap(use, map))
      append(user->getResult(0), derived);
  }
  for (auto [other, otherMap] : next)
    if (failed(assign(other, otherMap)))
      return failure();
  return success();
}

LogicalResult WgMapInference::run(Operation *root) {
  cloneVectorConstantsPerUse(root);
  auto seed = [&](Operation *op) -> WalkResult {
    SmallVector<Value> values(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(values, block.getArguments());
    for (Value value : values)
      if (auto tile = dyn_cast<TileType>(value.getType()); tile && tile.getWgMap())
        if (failed(assign(value, tile.getWgMap())))
          return WalkResult::interrupt();
    if (WgMapAttr map = getResultWgMap(op); map && failed(assign(op->getResult(0), map)))
      return WalkResult::interrupt();
    // An operation that does not define a map would ignore it.
    for (NamedAttribute attr : op->getDiscardableAttrs())
      if (isa<WgMapAttr>(attr.getValue()) && !attr.getName().getValue().contains('.'))
        return op->emitOpError("has the workgroup map ")
               << attr.getName() << " = " << attr.getValue()
               << ", which only operations of XeTile take; set it on the tile_mma or the tile "
                  "whose "
                  "map this one's follows from";
    // Its operand's map need not follow from that of the result.
    if (auto convert = dyn_cast<TileConvLayoutOp>(op); convert && convert.getSourceWgMapAttr())
      if (failed(assign(convert.getVector(), convert.getSourceWgMapAttr())))
        return WalkResult::interrupt();
    return WalkResult::advance();
  };
  if (root->walk(seed).wasInterrupted())
    return failure();
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (failed(propagate(value, maps.lookup(value))))
      return failure();
  }
  return success();
}

} // namespace xetile
