//===- OutlineTiles.cpp - functions for tiles of other sizes -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: products of tile registers. Out: those of tiles with fewer rows or columns than registers
// have, with the loops that hold no others, in functions of their own: LLVM configures tile
// registers once for a function, and has eight. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/Target/Cpu/Lowering/OutlinedFunction.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_OUTLINETILES
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Rows, and bytes of rows, of the tile of sums that an op adds to; none for other ops.
using TileShape = std::pair<int64_t, int64_t>;

static std::optional<TileShape> shapeOf(Operation *op) {
  if (!isa<amx::TileMulFOp, amx::TileMulIOp>(op))
    return std::nullopt;
  auto type = cast<amx::TileType>(op->getResult(0).getType());
  return TileShape(type.getDimSize(0), type.getDimSize(1));
}

static bool holdsOthers(Operation *op, TileShape shape) {
  return op
      ->walk([&](Operation *inside) {
        std::optional<TileShape> own = shapeOf(inside);
        return own && *own != shape ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The outermost op around `product` that has no results, no products of other shapes, and is part
/// of one thread; null if there is none.
static Operation *findNest(Operation *product, TileShape shape) {
  Operation *nest = nullptr;
  for (Operation *op = product->getParentOp();
       op && !isa<FunctionOpInterface, scf::ForallOp, scf::ParallelOp>(op) &&
       !holdsOthers(op, shape);
       op = op->getParentOp())
    if (op->getNumResults() == 0)
      nest = op;
  return nest;
}

namespace {
struct OutlineTiles : xetile::impl::OutlineTilesBase<OutlineTiles> {
  void runOnOperation() override {
    constexpr TileShape kWhole = {16, 16};
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SetVector<Operation *> nests;
    module->walk([&](Operation *op) {
      std::optional<TileShape> shape = shapeOf(op);
      if (!shape || *shape == kWhole)
        return;
      if (Operation *nest = findNest(op, *shape))
        nests.insert(nest);
    });
    for (Operation *nest : nests) {
      auto caller = nest->getParentOfType<func::FuncOp>();
      if (!caller)
        continue;
      OutlinedUses uses = OutlinedUses::of(*nest);
      // Tiles are no arguments.
      if (llvm::any_of(uses.arguments,
                       [](Value value) { return isa<amx::TileType>(value.getType()); }))
        continue;
      func::FuncOp callee = cloneToFunction(*nest, uses, (caller.getName() + "_tiles").str());
      symbols.insert(callee, caller->getIterator());
      OpBuilder b(nest);
      func::CallOp::create(b, nest->getLoc(), callee, uses.arguments);
      nest->erase();
    }
  }
};
} // namespace
