//===- Distribution.cpp - what one subgroup owns of a value -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/Distribution.h"
#include "xetile/IR/XeTileTypes.h"

using namespace mlir;

namespace xetile {

Ownership getOwnership(WgMapAttr map, ShapedType type) {
  return getOwnership(map, getMatrixShape(type));
}

Type getPieceType(WgMapAttr map, Type type) {
  ArrayRef<int64_t> data = map.getSgData();
  if (auto tile = dyn_cast<TileType>(type)) {
    TileType plain = tile.withWgMap({});
    return TileType::get(data, plain.getElementType(), plain.getEncoding());
  }
  auto vector = cast<VectorType>(type);
  SmallVector<int64_t> shape(data);
  if (vector.getRank() == 1)
    shape = {data[1]};
  if (vector.getRank() == 4) {
    ArrayRef<int64_t> blocks = vector.getShape().take_back(2);
    shape = {data[0] / blocks[0], data[1] / blocks[1], blocks[0], blocks[1]};
  }
  return VectorType::get(shape, vector.getElementType());
}

} // namespace xetile
