//===- Ownership.h - which pieces of a value each subgroup owns ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common form of a workgroup map of XeTile and a workgroup layout of XeGPU, of any rank:
// distribution, moves of pieces between subgroups and the subgroup's place need no more than
// this.
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_TRANSFORMS_OWNERSHIP_H
#define XETILE_TRANSFORMS_OWNERSHIP_H

#include "mlir/Support/LLVM.h"
#include "xetile/IR/XeTileAttrs.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace xetile {

/// How one dimension is shared out: pieces go to the owners in turn, round by round. The first of
/// subgroup `id` is number (id / idStride) mod owners. Subgroups that get the same one share it.
struct OwnedDim {
  /// The whole dimension for everyone.
  static OwnedDim whole(int64_t size) { return {size, size, 1, 1}; }
  /// `numSubgroups` places along the dimension, every `idStride` ids; the pieces must divide the
  /// dimension, and their number the places or the reverse.
  static OwnedDim get(int64_t size, int64_t pieceSize, int64_t numSubgroups, int64_t idStride);

  int64_t size, pieceSize, owners, idStride;

  int64_t rounds() const { return size / pieceSize / owners; }
  int64_t roundStride() const { return pieceSize * owners; } ///< in elements
  int64_t firstPiece(int64_t id) const { return id / idStride % owners; }
  bool isWhole() const { return pieceSize == size; }
  bool operator==(const OwnedDim &other) const {
    return size == other.size && pieceSize == other.pieceSize && owners == other.owners &&
           idStride == other.idStride;
  }
};

struct Ownership {
  llvm::SmallVector<OwnedDim, 2> dims;
  int64_t numSubgroups;

  unsigned rank() const { return dims.size(); }
  llvm::SmallVector<int64_t> shape() const;
  llvm::SmallVector<int64_t> pieceShape() const;
  llvm::SmallVector<int64_t> rounds() const;
  /// Pieces of each subgroup, round by round, row by row.
  int64_t numPieces() const;
  /// True if several subgroups own the same piece.
  bool isShared() const;
  /// Dimension i is this one's dimension permutation[i].
  Ownership permuted(llvm::ArrayRef<int64_t> permutation) const;
  bool operator==(const Ownership &other) const {
    return dims == other.dims && numSubgroups == other.numSubgroups;
  }
};

/// The ownership that a map gives to a 2D value.
Ownership getOwnership(WgMapAttr map, llvm::ArrayRef<int64_t> shape);

/// Calls `visit` with all indices below `sizes`, the last dimension first.
void forEachIndex(llvm::ArrayRef<int64_t> sizes,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);
/// The number of an index in that order.
int64_t numberOf(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> sizes);

/// A part of a subgroup's piece, in that subgroup's pieces of another value.
struct Cell {
  int64_t piece;
  llvm::SmallVector<int64_t, 2> offsets;
};

/// How each subgroup puts its pieces of one value together from its own pieces of another one: for
/// each piece the cells, row by row of the source, all of one shape.
struct LocalPieces {
  llvm::SmallVector<int64_t> cellShape;
  llvm::SmallVector<llvm::SmallVector<Cell>> pieces;
};

/// Finds how a subgroup's pieces under `to` follow from its own pieces under `from`. Dimension i of
/// `to` is dimension permutation[i] of `from`. Nothing if some subgroup needs elements that it does
/// not own, or not in the same place as the others.
std::optional<LocalPieces> findLocalPieces(const Ownership &from, const Ownership &to,
                                           llvm::ArrayRef<int64_t> permutation);

} // namespace xetile

#endif // XETILE_TRANSFORMS_OWNERSHIP_H
