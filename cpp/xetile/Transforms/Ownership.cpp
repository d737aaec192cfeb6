//===- Ownership.cpp - which pieces of a value each subgroup owns --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/Ownership.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "xetile/IR/WgMap.h"
#include <numeric>

using namespace mlir;

namespace xetile {

OwnedDim OwnedDim::get(int64_t size, int64_t pieceSize, int64_t numSubgroups, int64_t idStride) {
  int64_t owners = std::min(size / pieceSize, numSubgroups);
  return {size, pieceSize, owners, owners == 1 ? 1 : idStride};
}

static SmallVector<int64_t> collect(const Ownership &ownership,
                                    function_ref<int64_t(const OwnedDim &)> get) {
  SmallVector<int64_t> numbers;
  for (const OwnedDim &dim : ownership.dims)
    numbers.push_back(get(dim));
  return numbers;
}

SmallVector<int64_t> Ownership::shape() const {
  return collect(*this, [](const OwnedDim &dim) { return dim.size; });
}
SmallVector<int64_t> Ownership::pieceShape() const {
  return collect(*this, [](const OwnedDim &dim) { return dim.pieceSize; });
}
SmallVector<int64_t> Ownership::rounds() const {
  return collect(*this, [](const OwnedDim &dim) { return dim.rounds(); });
}
int64_t Ownership::numPieces() const { return computeProduct(rounds()); }

bool Ownership::isShared() const {
  int64_t owners = 1;
  for (const OwnedDim &dim : dims)
    owners *= dim.owners;
  return owners < numSubgroups;
}

Ownership Ownership::permuted(ArrayRef<int64_t> permutation) const {
  Ownership result{{}, numSubgroups};
  for (int64_t dim : permutation)
    result.dims.push_back(dims[dim]);
  return result;
}

Ownership getOwnership(WgMapAttr map, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> layout = map.getSgLayout(), data = map.getSgData();
  return {{OwnedDim::get(shape[0], data[0], layout[0], layout[1]),
           OwnedDim::get(shape[1], data[1], layout[1], 1)},
          map.getNumSubgroups()};
}

void forEachIndex(ArrayRef<int64_t> sizes, function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(sizes.size(), 0);
  if (llvm::is_contained(sizes, 0))
    return;
  while (true) {
    visit(index);
    unsigned dim = sizes.size();
    while (dim > 0 && ++index[dim - 1] == sizes[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

int64_t numberOf(ArrayRef<int64_t> index, ArrayRef<int64_t> sizes) {
  int64_t number = 0;
  for (auto [at, size] : llvm::zip_equal(index, sizes))
    number = number * size + at;
  return number;
}

/// More subgroups than any device has in a workgroup, or more cells than one would want to move one
/// by one, are not looked at.
static constexpr int64_t kMaxSubgroups = 4096, kMaxCells = 4096;

/// Along one dimension, for each round of `to` and cell of a piece, the round of `from` and the
/// offset in its piece. Nothing if subgroup `id` does not own one of them.
static std::optional<SmallVector<std::pair<int64_t, int64_t>>>
findCells(const OwnedDim &from, const OwnedDim &to, int64_t cell, int64_t id) {
  SmallVector<std::pair<int64_t, int64_t>> cells;
  for (int64_t round = 0; round < to.rounds(); ++round)
    for (int64_t at = 0; at < to.pieceSize; at += cell) {
      int64_t element = to.firstPiece(id) * to.pieceSize + round * to.roundStride() + at,
              piece = element / from.pieceSize;
      if (piece % from.owners != from.firstPiece(id))
        return std::nullopt;
      cells.push_back({piece / from.owners, element % from.pieceSize});
    }
  return cells;
}

std::optional<LocalPieces> findLocalPieces(const Ownership &from, const Ownership &to,
                                           ArrayRef<int64_t> permutation) {
  if (from.numSubgroups != to.numSubgroups || from.numSubgroups > kMaxSubgroups)
    return std::nullopt;
  // The result, in the order of the source's dimensions.
  SmallVector<int64_t> inverse = invertPermutationVector(permutation);
  Ownership result = to.permuted(inverse);
  LocalPieces local;
  SmallVector<int64_t> cellsInPiece;
  int64_t numCells = 1;
  for (auto [source, target] : llvm::zip_equal(from.dims, result.dims)) {
    int64_t cell = std::gcd(source.pieceSize, target.pieceSize);
    local.cellShape.push_back(cell);
    cellsInPiece.push_back(target.pieceSize / cell);
    numCells *= std::min(target.rounds() * cellsInPiece.back(), kMaxCells + 1);
    if (numCells > kMaxCells)
      return std::nullopt;
  }
  SmallVector<SmallVector<std::pair<int64_t, int64_t>>> cells;
  for (auto [source, target, cell] : llvm::zip_equal(from.dims, result.dims, local.cellShape)) {
    for (int64_t id = 0; id < from.numSubgroups; ++id) {
      auto found = findCells(source, target, cell, id);
      if (!found || (id > 0 && *found != cells.back()))
        return std::nullopt;
      if (id == 0)
        cells.push_back(*found);
    }
  }
  SmallVector<int64_t> sourceRounds = from.rounds();
  forEachIndex(to.rounds(), [&](ArrayRef<int64_t> round) {
    SmallVector<Cell> &piece = local.pieces.emplace_back();
    forEachIndex(cellsInPiece, [&](ArrayRef<int64_t> at) {
      Cell cell;
      SmallVector<int64_t> sourceRound;
      for (auto [dim, number] : llvm::enumerate(at)) {
        auto [found, offset] = cells[dim][round[inverse[dim]] * cellsInPiece[dim] + number];
        sourceRound.push_back(found);
        cell.offsets.push_back(offset);
      }
      cell.piece = numberOf(sourceRound, sourceRounds);
      piece.push_back(cell);
    });
  });
  return local;
}

} // namespace xetile
