//===- Lookahead.cpp - loads that results need, before they are waited for ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the stores of a kernel, what their values load. Out: the loads of each chunk of results some
// chunks before it is computed, of the first ones before the loop over k. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

/// Columns of a chunk, in groups of 8.
static int64_t groupsOf(StoreTileOp store) {
  int64_t bits = cast<VectorType>(store.getValue().getType()).getElementTypeBitWidth();
  return kSwizzleBytes * 8 / bits / 8;
}

void KernelWriter::listChunks() {
  for (StoreTileOp store : plan.stores)
    for (int64_t block = 0; block < plan.warpgroupRows() / kWgmmaM; ++block)
      for (int64_t number = 0; number < plan.tiling.workgroupN / 8 / groupsOf(store); ++number)
        chunks.push_back({store, block, number});
}

/// Moves what addresses are computed of before the loop, where it depends on nothing behind.
void KernelWriter::hoistAddresses() {
  Operation *loop = plan.loop;
  auto isThere = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || (op->getBlock() == loop->getBlock() && op->isBeforeInBlock(loop));
  };
  SmallVector<Operation *> behind;
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode())
    behind.push_back(op);
  for (Operation *op : behind)
    if (isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
        !op->hasTrait<OpTrait::IsTerminator>() &&
        llvm::none_of(op->getResultTypes(), llvm::IsaPred<VectorType>) &&
        llvm::all_of(op->getOperands(), isThere))
      op->moveBefore(loop);
}

SmallVector<KernelWriter::Place> KernelWriter::placesOf(const Chunk &chunk) {
  SmallVector<Place> places;
  int64_t groups = groupsOf(chunk.store);
  for (int64_t column = 0; column < groups; ++column)
    for (int64_t half = 0; half < 2; ++half)
      places.push_back({chunk.block, chunk.number * groups + column, half});
  return places;
}

void KernelWriter::loadAhead(size_t chunk) {
  if (chunk >= chunks.size())
    return;
  llvm::SetVector<Value> values;
  StoreTileOp store = chunks[chunk].store;
  values.insert(store.getValue());
  for (unsigned at = 0; at < values.size(); ++at) {
    Value value = values[at];
    Operation *op = value.getDefiningOp();
    if (value == plan.loop.getResult(0) || !op || !isa<VectorType>(value.getType()))
      continue;
    auto load = dyn_cast<LoadTileOp>(op);
    if (!load) {
      values.insert_range(op->getOperands());
      continue;
    }
    // Addresses that only later ops compute leave the load where its value is used.
    auto init = load.getTile().getDefiningOp<InitTileOp>();
    if (init->isBeforeInBlock(plan.loop) || numStored > 0)
      for (Place place : placesOf(chunks[chunk]))
        pairOf(value, place);
  }
}
