//===- SurfaceVersions.cpp - code for surfaces that only the run knows ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions with accesses to tiles, each described where it is used.
// Out: how each reaches its matrix; functions of matrices that have to be tested, twice behind one
// test. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/ToXeGPU/SurfaceVersions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "xetile/Target/Xe/ToXeGPU/TileAccess.h"

using namespace mlir;
using namespace xetile;

/// Messages take matrices in global memory; all others are read and written by elements.
static bool mayUseMessages(Operation *op) {
  if (!isa<LoadTileOp, StoreTileOp, PrefetchTileOp>(op))
    return false;
  TileType tile = getAccessedTile(op).getType();
  return tile.getMemorySpace() == MemorySpace::Global;
}

LogicalResult SurfaceVersions::classify(Operation *root, StringRef chip) {
  auto visit = [&](Operation *op) -> WalkResult {
    if (!isTileAccess(op))
      return WalkResult::advance();
    const TargetInfo *target = getTargetOf(op, chip);
    if (!target)
      return failure();
    kinds[op] = places[op] = SurfaceKind::Other;
    if (mayUseMessages(op)) {
      InitTileOp init = getLocalInit(op);
      Surface surface = Surface::of(init);
      kinds[op] = surface.classify(*target);
      places[op] = classifyPlace(init.getMixedOffsets()[surface.isColumnMajor ? 0 : 1],
                                 surface.getElementBytes());
    }
    return WalkResult::advance();
  };
  if (root->walk(visit).wasInterrupted())
    return failure();
  // The 2D unit tests for itself, but fills in zeros only. Rows inside have quicker messages.
  SmallVector<Operation *> tested;
  root->walk([&](Operation *op) {
    if (!kinds.contains(op) || isa<LoadGatherOp, StoreScatterOp, AtomicRMWScatterOp>(op))
      return;
    auto load = dyn_cast<LoadTileOp>(op);
    bool isRow = load && load.getTile().getType().getDimSize(0) == 1;
    bool mayFold = isa<StoreTileOp>(op) && mayFoldStore(getAccessedTile(op).getType());
    if (kinds[op] != SurfaceKind::Block || places[op] != SurfaceKind::Block || isRow || mayFold ||
        (load && !load.hasZeroPadding()))
      tested.push_back(op);
  });
  inside = findTilesInside(root, tested);
  return success();
}

/// The first operation of the function's own block with an access in it.
static Operation *getFirstAccess(Block &body) {
  for (Operation &op : body)
    if (op.walk([](Operation *inner) {
            return WalkResult(failure(isTileAccess(inner)));
          }).wasInterrupted())
      return &op;
  return nullptr;
}

SmallVector<Surface> SurfaceVersions::findTestable(FunctionOpInterface function, Operation *first) {
  DominanceInfo dominance(function);
  SmallVector<Surface> surfaces;
  function.walk([&](Operation *access) {
    if (!kinds.contains(access) || kinds[access] != SurfaceKind::Unknown)
      return;
    Surface surface = Surface::of(getLocalInit(access));
    // Those that come later are tested where they are used.
    bool isKnown = llvm::all_of(surface.getOperands(), [&](Value value) {
      return dominance.properlyDominates(value, first);
    });
    if (isKnown && !llvm::is_contained(surfaces, surface))
      surfaces.push_back(surface);
  });
  return surfaces;
}

void SurfaceVersions::decide(Block &blocks, const IRMapping &copies, ArrayRef<Surface> tested) {
  SmallVector<std::pair<Operation *, SurfaceKind>> decided;
  blocks.walk([&](Operation *access) {
    if (!kinds.contains(access))
      return;
    Operation *copy = copies.lookup(access);
    SurfaceKind kind = kinds[access];
    bool isTested = kind == SurfaceKind::Unknown &&
                    llvm::is_contained(tested, Surface::of(getLocalInit(access)));
    decided.push_back({access, isTested ? SurfaceKind::Block : kind});
    decided.push_back({copy, isTested ? SurfaceKind::Other : kind});
    places[copy] = SurfaceKind(places[access]);
    inside[copy] = std::array<bool, 2>(inside[access]);
  });
  for (auto [access, kind] : decided)
    kinds[access] = kind;
}

void SurfaceVersions::split(Operation *op, StringRef chip) {
  auto function = cast<FunctionOpInterface>(op);
  if (function.isExternal() || !function.getFunctionBody().hasOneBlock() ||
      function.getNumResults() != 0)
    return;
  // Code without products is as long as its accesses, which test for themselves.
  bool multiplies =
      function->walk([](TileMmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!multiplies)
    return;
  Block &body = function.getFunctionBody().front();
  Operation *first = getFirstAccess(body);
  if (!first || first == body.getTerminator())
    return;
  SmallVector<Surface> surfaces = findTestable(function, first);
  if (surfaces.empty())
    return;
  OpBuilder builder(first);
  Location loc = first->getLoc();
  const TargetInfo &target = *getTargetOf(first, chip);
  Value condition;
  for (const Surface &surface : surfaces) {
    Value test = surface.createTest(builder, loc, target);
    condition = condition ? arith::AndIOp::create(builder, loc, condition, test).getResult() : test;
  }
  // Memory of the whole function stays there.
  for (Operation &each : llvm::make_early_inc_range(
           llvm::make_range(Block::iterator(first), body.getTerminator()->getIterator())))
    if (isa<memref::AllocaOp, memref::AllocOp>(each) && each.getNumOperands() == 0 &&
        &each != first)
      each.moveBefore(condition.getDefiningOp());
  auto versions = scf::IfOp::create(builder, loc, TypeRange(), condition, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
  scf::IfOp::ensureTerminator(versions.getThenRegion(), builder, loc);
  scf::IfOp::ensureTerminator(versions.getElseRegion(), builder, loc);
  Block *blocks = versions.thenBlock(), *elements = versions.elseBlock();
  blocks->getOperations().splice(blocks->begin(), body.getOperations(), Block::iterator(first),
                                 body.getTerminator()->getIterator());
  OpBuilder elseBuilder(elements, elements->begin());
  IRMapping mapping;
  for (Operation &each : blocks->without_terminator())
    elseBuilder.clone(each, mapping);
  decide(*blocks, mapping, surfaces);
}

LogicalResult SurfaceVersions::run(Operation *root, StringRef chip) {
  if (failed(classify(root, chip)))
    return failure();
  SmallVector<Operation *> functions;
  root->walk([&](FunctionOpInterface function) { functions.push_back(function); });
  for (Operation *function : functions)
    split(function, chip);
  return success();
}
