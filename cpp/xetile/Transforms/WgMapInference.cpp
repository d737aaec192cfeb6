//===- WgMapInference.cpp - the workgroup map of each value ----------------------===//
#include "xetile/Transforms/WgMapInference.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Transforms/TiedValues.h"

using namespace mlir;

namespace xetile {

LogicalResult WgMapInference::assign(Value value, WgMapAttr map) {
  auto [entry, inserted] = maps.insert({value, map});
  if (!inserted) {
    if (entry->second == map)
      return success();
    Operation *op = value.getDefiningOp();
    if (!op)
      op = value.getParentBlock()->getParentOp();
    return op->emitOpError("needs two workgroup maps for one value of type ")
           << value.getType() << ": " << entry->second << " and " << map
           << "; load it once for each, or give its users one map";
  }
  ArrayRef<int64_t> shape = cast<ShapedType>(value.getType()).getShape();
  if (failed(verifyWgMap(map, shape, [&] {
        return emitError(value.getLoc())
               << "wg_map " << map << " does not fit " << value.getType() << ": ";
      })))
    return failure();
  worklist.push_back(value);
  return success();
}

LogicalResult WgMapInference::propagate(Value value, WgMapAttr map) {
  SmallVector<std::pair<Value, WgMapAttr>> next;
  for (Value tied : getTiedValues(value))
    next.push_back({tied, map});

  Operation *definition = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<LoadTileOp>(definition)) {
    next.push_back({load.getTile(), map});
  } else if (auto update = dyn_cast_or_null<UpdateTileOffsetOp>(definition)) {
    next.push_back({update.getTile(), map});
  } else if (auto mma = dyn_cast_or_null<TileMmaOp>(definition)) {
    auto operands = deriveMmaOperandMaps(map, cast<VectorType>(mma.getA().getType()).getDimSize(1));
    next.append({{mma.getA(), operands.a}, {mma.getB(), operands.b}});
    if (mma.getC())
      next.push_back({mma.getC(), operands.c});
  }
  for (Operation *user : value.getUsers()) {
    if (auto load = dyn_cast<LoadTileOp>(user))
      next.push_back({load.getValue(), map});
    else if (auto store = dyn_cast<StoreTileOp>(user))
      next.append({{store.getValue(), map}, {store.getTile(), map}});
    else if (auto update = dyn_cast<UpdateTileOffsetOp>(user))
      next.push_back({update.getResult(), map});
    else if (auto mma = dyn_cast<TileMmaOp>(user); mma && mma.getC() == value)
      next.push_back({mma.getResult(), map});
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
    if (auto mma = dyn_cast<TileMmaOp>(op); mma && mma.getWgMapAttr())
      if (failed(assign(mma.getResult(), mma.getWgMapAttr())))
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
