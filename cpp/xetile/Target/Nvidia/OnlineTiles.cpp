//===- OnlineTiles.cpp - tiles of an attention from a counter ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tiles of queries. Out: a loop in which a workgroup draws the next tile when it loads, from a
// counter in memory that all share, and hands its number to the warpgroups that multiply. The last
// workgroup leaves the counter as it was. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/KernelWriter.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

constexpr int64_t kCounterAt = 16; // bytes behind the numbers of tiles

/// Where the number of a tile is for the warpgroups that multiply, below zero behind the last one.
Value KernelWriter::placeOfTileNumber() {
  return at(barriers, number(8 * (4 * plan.stages() + 3)));
}

Value KernelWriter::addTo(Value counter, LLVM::AtomicOrdering ordering) {
  return LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::add, counter, number(1), ordering,
                                   "device");
}

void KernelWriter::drawTiles(bool loads, Value tiles, llvm::function_ref<Turn(Value, Turn)> body) {
  SmallVector<Value> first = firstTurn();
  SmallVector<Type> types(first.size(), b.getI32Type()), all = types;
  all.push_back(b.getI32Type());
  Value counter;
  if (loads) {
    Value address = LLVM::LoadOp::create(b, b.getI64Type(), at(grid, number(kCounterAt)));
    counter = LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 1), address);
  }
  auto walk = scf::WhileOp::create(b, all, first);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locs(first.size(), b.getLoc()), allLocs(all.size(), b.getLoc());
  Block *before = b.createBlock(&walk.getBefore(), {}, types, locs);
  Value parity = before->getArgument(2), tile, isTile;
  if (loads) {
    // Drawn before it is needed, while the others multiply.
    tile = addTo(counter, LLVM::AtomicOrdering::monotonic);
    isTile = isBelow(tile, tiles);
    waitForQueries(loads, parity);
    LLVM::StoreOp::create(b, select(isTile, tile, number(-1)), placeOfTileNumber(), /*alignment=*/0,
                          /*isVolatile=*/true);
    Value isEnd =
        arith::XOrIOp::create(b, isTile, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    onlyIf(isEnd,
           [&] { NVVM::MBarrierArriveOp::create(b, Type(), barrierOfQueries(false), Value()); });
  } else {
    waitForQueries(loads, parity);
    tile = LLVM::LoadOp::create(b, b.getI32Type(), placeOfTileNumber(), /*alignment=*/0,
                                /*isVolatile=*/true);
    isTile = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, tile, number(0));
  }
  SmallVector<Value> passed(before->getArguments());
  passed.push_back(tile);
  scf::ConditionOp::create(b, isTile, passed);
  Block *after = b.createBlock(&walk.getAfter(), {}, all, allLocs);
  ValueRange carried = after->getArguments();
  Turn turn = body(carried.back(), {carried[0], carried[1]});
  yieldTurn(turn, carried);
  if (!loads)
    return;
  b.setInsertionPointAfter(walk);
  Value done = at(counter, number(4));
  Value others = addTo(done, LLVM::AtomicOrdering::acq_rel);
  Value workgroups = NVVM::GridDimXOp::create(b, b.getI32Type());
  onlyIf(isEqual(others, add(workgroups, -1)), [&] {
    for (Value place : {counter, done})
      LLVM::StoreOp::create(b, number(0), place);
  });
}
