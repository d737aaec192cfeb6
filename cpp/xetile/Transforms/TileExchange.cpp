//===- TileExchange.cpp - exchanges between subgroups, by tiles -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/TileExchange.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;
using namespace xetile;

/// The tile at an offset of a buffer.
static Value createTile(OpBuilder &builder, Location loc, Value buffer, ArrayRef<int64_t> shape,
                        ArrayRef<OpFoldResult> offsets) {
  auto memref = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> order;
  if (!memref.getLayout().isIdentity())
    order = {0, 1};
  auto encoding = TileAttr::get(builder.getContext(), WgMapAttr(), order, ArrayRef<int64_t>(),
                                MemorySpace::SLM, /*scatter=*/false);
  auto type = TileType::get(shape, memref.getElementType(), encoding);
  return InitTileOp::create(builder, loc, type, buffer, offsets);
}

void TileExchange::storeTo(Value buffer, Value vector, ArrayRef<OpFoldResult> offsets) const {
  ArrayRef<int64_t> shape = cast<VectorType>(vector.getType()).getShape();
  StoreTileOp::create(builder, loc, vector, createTile(builder, loc, buffer, shape, offsets));
}

Value TileExchange::loadFrom(Value buffer, VectorType type, ArrayRef<OpFoldResult> offsets) const {
  Value tile = createTile(builder, loc, buffer, type.getShape(), offsets);
  return LoadTileOp::create(builder, loc, type, tile, TypedAttr());
}

Value TileExchange::permute(Value vector, ArrayRef<int64_t> permutation) const {
  auto type = cast<VectorType>(vector.getType());
  auto permuted = VectorType::get(
      {type.getDimSize(permutation[0]), type.getDimSize(permutation[1])}, type.getElementType());
  return TileTransposeOp::create(builder, loc, permuted, vector, permutation, WgMapAttr());
}
