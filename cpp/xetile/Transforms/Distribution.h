//===- Distribution.h - what one subgroup owns of a value ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_DISTRIBUTION_H
#define XETILE_TRANSFORMS_DISTRIBUTION_H

#include "mlir/IR/BuiltinTypes.h"
#include "xetile/IR/WgMap.h"
#include <optional>

namespace xetile {

/// How a value is shared out. A subgroup owns numPieces() pieces of it, round by round, row by row.
struct Distribution {
  DimDistribution rows, columns;
  int64_t numPieces() const { return rows.piecesPerSubgroup * columns.piecesPerSubgroup; }
  const DimDistribution &along(unsigned dim) const { return dim == 0 ? rows : columns; }
};
Distribution getDistribution(WgMapAttr map, mlir::ShapedType type);

/// The type of each piece of a tile or vector.
mlir::Type getPieceType(WgMapAttr map, mlir::Type type);

/// A part of a subgroup's piece, in that subgroup's pieces of another value.
struct Cell {
  int64_t piece, row, column;
};

/// How each subgroup puts its pieces of one value together from its own pieces of another one: for
/// each piece the cells, row by row of the source, all of one size.
struct LocalPieces {
  int64_t cellRows, cellColumns;
  llvm::SmallVector<llvm::SmallVector<Cell>> pieces;
};

/// Finds, for a value of `shape` that `from` distributes, how a subgroup's pieces under `to` follow
/// from its own pieces. `to` is for the transposed value if `transposed`. Nothing if some subgroup
/// needs elements that it does not own, or not in the same place as the others.
std::optional<LocalPieces> findLocalPieces(llvm::ArrayRef<int64_t> shape, WgMapAttr from,
                                           WgMapAttr to, bool transposed);

} // namespace xetile

#endif // XETILE_TRANSFORMS_DISTRIBUTION_H
