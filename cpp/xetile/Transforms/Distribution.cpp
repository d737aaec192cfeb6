//===- Distribution.cpp - what one subgroup owns of a value -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/Distribution.h"
#include "xetile/IR/XeTileTypes.h"
#include <numeric>

using namespace mlir;

namespace xetile {

Distribution getDistribution(WgMapAttr map, ShapedType type) {
  SmallVector<int64_t> shape = getMatrixShape(type);
  return {getDimDistribution(map, 0, shape[0]), getDimDistribution(map, 1, shape[1])};
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

/// More subgroups than any device has in a workgroup, or more cells than one would want to move one
/// by one, are not looked at.
static constexpr int64_t kMaxSubgroups = 4096, kMaxCells = 4096;

namespace {
/// The pieces of one subgroup under a map.
struct OwnPieces {
  OwnPieces(WgMapAttr map, ArrayRef<int64_t> shape, int64_t id) {
    int64_t place[2] = {id / map.getSgLayout()[1], id % map.getSgLayout()[1]};
    for (unsigned dim : {0, 1}) {
      along[dim] = getDimDistribution(map, dim, shape[dim]);
      first[dim] = place[dim] % along[dim].numOwners();
    }
  }

  /// Where the element is along `dim`: number of the piece in it and offset; nothing if this
  /// subgroup does not own it.
  std::optional<std::pair<int64_t, int64_t>> find(unsigned dim, int64_t element) const {
    int64_t piece = element / along[dim].pieceSize;
    if (piece % along[dim].numOwners() != first[dim])
      return std::nullopt;
    return std::pair(piece / along[dim].numOwners(), element % along[dim].pieceSize);
  }
  int64_t getStart(unsigned dim, int64_t round) const {
    return (first[dim] + round * along[dim].numOwners()) * along[dim].pieceSize;
  }

  DimDistribution along[2];
  int64_t first[2];
};
} // namespace

/// The cells of one subgroup; false if it lacks an element.
static bool findCells(ArrayRef<int64_t> shape, WgMapAttr from, WgMapAttr to, bool transposed,
                      int64_t id, int64_t cellRows, int64_t cellColumns,
                      SmallVectorImpl<SmallVector<Cell>> &pieces) {
  SmallVector<int64_t> resultShape(shape);
  if (transposed)
    std::swap(resultShape[0], resultShape[1]);
  OwnPieces source(from, shape, id), result(to, resultShape, id);
  // The result's dimensions, as the source's rows and columns.
  unsigned rowDim = transposed ? 1 : 0, columnDim = 1 - rowDim;
  for (int64_t i = 0; i < result.along[0].piecesPerSubgroup; ++i)
    for (int64_t j = 0; j < result.along[1].piecesPerSubgroup; ++j) {
      SmallVector<Cell> &cells = pieces.emplace_back();
      int64_t row = result.getStart(rowDim, rowDim == 0 ? i : j),
              column = result.getStart(columnDim, columnDim == 0 ? i : j);
      for (int64_t r = 0; r < result.along[rowDim].pieceSize; r += cellRows)
        for (int64_t c = 0; c < result.along[columnDim].pieceSize; c += cellColumns) {
          auto foundRow = source.find(0, row + r), foundColumn = source.find(1, column + c);
          if (!foundRow || !foundColumn)
            return false;
          cells.push_back({foundRow->first * source.along[1].piecesPerSubgroup + foundColumn->first,
                           foundRow->second, foundColumn->second});
        }
    }
  return true;
}

static bool areEqual(ArrayRef<SmallVector<Cell>> a, ArrayRef<SmallVector<Cell>> b) {
  for (auto [cellsA, cellsB] : llvm::zip_equal(a, b))
    for (auto [cellA, cellB] : llvm::zip_equal(cellsA, cellsB))
      if (std::tie(cellA.piece, cellA.row, cellA.column) !=
          std::tie(cellB.piece, cellB.row, cellB.column))
        return false;
  return true;
}

std::optional<LocalPieces> findLocalPieces(ArrayRef<int64_t> shape, WgMapAttr from, WgMapAttr to,
                                           bool transposed) {
  if (from.getNumSubgroups() != to.getNumSubgroups() || from.getNumSubgroups() > kMaxSubgroups)
    return std::nullopt;
  ArrayRef<int64_t> data = to.getSgData();
  LocalPieces local{std::gcd(from.getSgData()[0], data[transposed]),
                    std::gcd(from.getSgData()[1], data[!transposed]),
                    {}};
  int64_t pieces = 1;
  for (unsigned dim : {0, 1})
    pieces *= getDimDistribution(to, dim, shape[transposed ? 1 - dim : dim]).piecesPerSubgroup;
  if (data[0] / (transposed ? local.cellColumns : local.cellRows) *
          (data[1] / (transposed ? local.cellRows : local.cellColumns)) >
      kMaxCells / std::min(pieces, kMaxCells))
    return std::nullopt;
  for (int64_t id = 0; id < from.getNumSubgroups(); ++id) {
    SmallVector<SmallVector<Cell>> cells;
    if (!findCells(shape, from, to, transposed, id, local.cellRows, local.cellColumns, cells))
      return std::nullopt;
    if (id == 0)
      local.pieces = std::move(cells);
    else if (!areEqual(local.pieces, cells))
      return std::nullopt;
  }
  return local;
}

} // namespace xetile
