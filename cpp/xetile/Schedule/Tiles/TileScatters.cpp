//===- TileScatters.cpp - updates of elements at rows that are computed --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a scatter, the places of its loops but that of the result's rows. Out: the tile's updates,
// and atomic_rmw_scatter of them, or store_scatter where they replace what is there. Refused: what
// the writer refuses of the body.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Schedule/Tiles/TileWriter.h"

using namespace mlir;

namespace xetile::transform_ops {

TilePlan planScatter(ArrayRef<Extent> extents, ArrayRef<utils::IteratorType> kinds) {
  constexpr int64_t kHeight = 8, kWidth = 32, kLine = 256, kMostSubgroups = 8;
  TilePlan plan;
  plan.dims.assign(extents.size(), DimUse::Number);
  std::optional<unsigned> updates, beside;
  for (auto [dim, kind] : llvm::enumerate(kinds))
    (kind == utils::IteratorType::reduction ? updates : beside) = dim;
  auto planned = [&](unsigned dim) {
    return extents[dim].isKnown() ? extents[dim].number : kLine * kMostSubgroups;
  };
  // Numbers are updated by lines of them, rows by tiles of some rows.
  unsigned along = beside && planned(*beside) > 1 ? *beside : *updates;
  plan.dims[along] = DimUse::Columns;
  int64_t height = 1, width = kLine;
  if (along != *updates) {
    plan.dims[*updates] = DimUse::Rows;
    height = kHeight;
    width = planned(along) > kWidth / 2 ? kWidth : kWidth / 2;
  }
  // A workgroup of subgroups beside each other: each of them has elements of its own.
  while (plan.layout[kColumns] < kMostSubgroups && plan.layout[kColumns] * width < planned(along))
    plan.layout[kColumns] *= 2;
  plan.tile = {height, width * plan.layout[kColumns]};
  return plan;
}

LogicalResult TileWriter::scatter(Scatter &scatter, Value buffer, ArrayRef<Place> loops) {
  FailureOr<Value> row = scalarCode(scatter.op, loops, scatter.row);
  if (failed(row))
    return failure();
  FailureOr<Value> update = scalarCode(scatter.op, loops, scatter.update);
  if (failed(update))
    return failure();
  Value number = *row;
  auto type = cast<VectorType>(number.getType());
  if (!type.getElementType().isIndex())
    number = arith::IndexCastOp::create(b, loc, type.clone(b.getIndexType()), number);
  // Updates that do not exist.
  Value exist;
  SmallVector<Extent> sides = extents.loopsOf(scatter.op);
  for (auto [loop, place] : llvm::enumerate(loops))
    if (loop != scatter.loop && !isInside(place, sides[loop]))
      exist = both(exist, isBelow(indices(place), sides[loop]));
  SmallVector<Value> places;
  for (AffineExpr expr : scatter.resultMap().getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    Value vector = loop == scatter.loop ? number : indices(loops[loop]);
    places.push_back(vector ? vector : indexSplat(0, {1, 1}));
  }
  Value mask;
  Memory memory = describe(scatter.op->getResult(0), buffer);
  auto init = scattered(memory, places, mask).getDefiningOp<InitTileOp>();
  mask = both(exist, mask);
  // Each element of the tile has one owner.
  SmallVector<int64_t> shape = shapeFor(loops);
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  auto attr =
      TileAttr::get(b.getContext(), mapOf(shape), {}, {}, MemorySpace::Global, /*scatter=*/true);
  Value tile = InitTileOp::create(b, loc, TileType::get(shape, element, attr), init.getSource(),
                                  repeat(init.getIndices(), shape));
  init.erase();
  Value values = repeat(*update, shape);
  mask = repeat(mask, shape);
  if (scatter.replaces())
    StoreScatterOp::create(b, loc, values, mask, tile);
  else
    AtomicRMWScatterOp::create(b, loc, scatter.kind, values, mask, tile);
  return success();
}

} // namespace xetile::transform_ops
