//===- FoldedStores.cpp - stores of few rows of a matrix without gaps -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tile of whole rows in blocks of two or four rows, of a matrix whose rows lie one behind the
// other. Out: stores of eight rows, to the matrix with more, shorter rows. Refused: nothing.
//
// Intel's library has address payloads for stores of eight rows only: of fewer, each message writes
// all six fields. Loads stay as they are: what one brings would be in registers until the last of
// its rows is used, and these belong to columns far from each other.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Xe/ToXeGPU/TileAccess.h"

using namespace mlir;
using namespace xetile;

/// The tile of the matrix whose rows are cut into `folds` parts each, in blocks of `rows`.
static TileType cutRows(TileType tile, int64_t folds, int64_t rows) {
  auto encoding = TileAttr::get(tile.getContext(), WgMapAttr(), tile.getEncoding().getOrder(),
                                {rows, tile.getInnerBlocks()[1]}, tile.getMemorySpace(),
                                /*scatter=*/false);
  return TileType::get({tile.getDimSize(0) * folds, tile.getDimSize(1) / folds},
                       tile.getElementType(), encoding);
}

std::optional<TileAccess> TileAccess::foldedStore() {
  if (!mayFoldStore(tile) || surface.isColumnMajor || !isInside(0) || !isInside(1))
    return std::nullopt;
  int64_t folds = kStoredRows / blockRows, columns = tile.getDimSize(1);
  for (OpFoldResult part : {surface.width, surface.pitch})
    if (!part || getConstantIntValue(part) != columns)
      return std::nullopt;
  if (gridColumns % folds != 0)
    return std::nullopt;
  Surface cut = surface;
  cut.width = cut.pitch = builder.getIndexAttr(columns / folds);
  TileAccess shape(builder, loc, cutRows(tile, folds, kStoredRows), cut, offsets, target, inside);
  if (cut.classify(target) == SurfaceKind::Other || !shape.hasMessage(BlockAccess::Store))
    return std::nullopt;
  auto times = [&](Value value) {
    return builder.createOrFold<arith::MulIOp>(loc, value, index(folds));
  };
  cut.height = getAsOpFoldResult(times(asValue(surface.height)));
  cut.source = surface.createAddress(builder, loc);
  return TileAccess(builder, loc, shape.tile, cut, {times(offsets[0]), offsets[1]}, target, inside);
}

SmallVector<Value> TileAccess::foldBlocks(ValueRange blocks) {
  int64_t folds = kStoredRows / blockRows, columns = gridColumns / folds;
  SmallVector<Value> messages;
  for (int64_t number = 0; number < gridRows * columns; ++number) {
    auto part = [&](int64_t fold) {
      return blocks[number / columns * gridColumns + fold * columns + number % columns];
    };
    // All parts one behind the other, then their rows in turn.
    Value all = part(0);
    for (int64_t fold = 1; fold < folds; ++fold)
      all =
          vector::ShuffleOp::create(builder, loc, all, part(fold),
                                    llvm::to_vector(llvm::seq<int64_t>(0, (fold + 1) * blockRows)));
    SmallVector<int64_t> rows;
    for (int64_t row = 0; row < kStoredRows; ++row)
      rows.push_back(row % folds * blockRows + row / folds);
    messages.push_back(vector::ShuffleOp::create(builder, loc, all, all, rows));
  }
  return messages;
}
