//===- WgMap.h - arithmetic of workgroup maps -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that knows what a wg_map means: which pieces a subgroup owns, and how the maps of
// an operation's operands follow from that of its result. Verifiers, inference, distribution and
// Python (through the C API) share it.
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_IR_WGMAP_H
#define XETILE_IR_WGMAP_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/Operation.h"
#include "xetile/IR/XeTileAttrs.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::vector {
class ExtractStridedSliceOp;
} // namespace mlir::vector

namespace xetile {

/// Checks that `map` distributes a tile of `shape`; otherwise emits the reason on the diagnostic
/// that `emitError` opens. Labels: tile_c3, tile_c4.
llvm::LogicalResult verifyWgMap(WgMapAttr map, llvm::ArrayRef<int64_t> shape,
                                llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Returns true if `map` distributes a tile of `shape`.
bool fitsWgMap(WgMapAttr map, llvm::ArrayRef<int64_t> shape);

/// Rows and columns of a tile or vector as maps count them: a 1D vector is one row, and the blocks
/// of a 4D one stand where they do in the matrix.
llvm::SmallVector<int64_t> getMatrixShape(mlir::ShapedType type);

/// How one dimension of a tile is shared out.
struct DimDistribution {
  int64_t pieceSize;         ///< elements of one piece: sg_data
  int64_t numPieces;         ///< pieces in the tile
  int64_t numSubgroups;      ///< subgroups along the dimension: sg_layout
  int64_t piecesPerSubgroup; ///< rounds: pieces that each subgroup owns

  /// Elements between a subgroup's consecutive pieces.
  int64_t roundStride() const { return pieceSize * numSubgroups; }
  /// Subgroups that own different first pieces; the others wrap around to the same ones.
  int64_t numOwners() const { return std::min(numPieces, numSubgroups); }
  /// Subgroups that share each piece: `piece` mod numOwners() is the first, and every
  /// numOwners()-th after it.
  int64_t ownersPerPiece() const { return numSubgroups / numOwners(); }
};

/// The distribution of dimension `dim` of a tile with `size` elements along it. The map must have
/// been verified.
DimDistribution getDimDistribution(WgMapAttr map, unsigned dim, int64_t size);

/// Calls `visit` with the first row and column of each piece of a tile of `shape`, row by row, and
/// the subgroups that own it, ascending. Linear ids run along columns first. The map must have been
/// verified.
void forEachPiece(
    WgMapAttr map, llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<void(int64_t row, int64_t column, llvm::ArrayRef<int64_t> owners)> visit);
/// How many pieces there are, and how many owners of all of them together; the largest number
/// where there are more.
struct PieceCounts {
  uint64_t pieces, owners;
};
PieceCounts countPieces(WgMapAttr map, llvm::ArrayRef<int64_t> shape);
/// Returns true if two maps give each subgroup the same pieces of a tile of `shape`, in the same
/// order: `[4, 8]` and `[8, 4]` are two grids, but where all rows are one piece both give subgroup
/// `id` the column `id mod 4`. Both maps must have been verified.
bool haveSamePieces(WgMapAttr a, WgMapAttr b, llvm::ArrayRef<int64_t> shape);

/// Returns true if several subgroups own the same piece of a tile of `shape`.
bool hasSharedPieces(WgMapAttr map, llvm::ArrayRef<int64_t> shape);

/// The map that an operation on vectors gives its result, null if it gives none.
WgMapAttr getResultWgMap(mlir::Operation *op);

/// The first map in `scope`, of an op or of a tile, null if nothing there has one.
WgMapAttr findWgMap(mlir::Operation *scope);
/// Sets that map; false if the operation has no place for one.
bool setResultWgMap(mlir::Operation *op, WgMapAttr map);

/// The map that a value's own type or definition states: that of a tile, of the tile it was loaded
/// from, or of the operation on vectors that computes it. Null if there is none.
WgMapAttr getStatedWgMap(mlir::Value value);

/// The map of an operand that follows from the map of the result of an operation on vectors, and
/// the reverse:
/// - tile_mma: the same grid; m and n as in the result, k whole; c as the result.
/// - tile_transpose: both dimensions of sg_layout and sg_data permuted.
/// - tile_reduce: the same grid; sg_data whole in the reduced dimensions of the operand, 1 in those
///   of the result.
/// - tile_broadcast: the same grid; sg_data 1 in the broadcast dimensions of the operand. The
///   operand does not determine the result's.
/// - tile_conv_layout: its source_wg_map. The operand says nothing about the result.
/// - vector.shape_cast between a row and a column: the map under which each subgroup keeps its
///   elements.
/// - vector.extract_strided_slice: the same grid; of a dimension that each subgroup has as a whole,
///   the slice is one piece of each, of others it is whole rounds of their pieces.
/// Null for other operations and where nothing follows.
WgMapAttr deriveOperandMap(mlir::OpOperand &operand, WgMapAttr result);
WgMapAttr deriveResultMap(mlir::OpOperand &operand, WgMapAttr map);

/// `size` elements from `offset` on of the `whole` of a dimension.
struct SliceOfDim {
  int64_t offset, size, whole;
};

/// The part of each dimension that a slice of a vector takes.
llvm::SmallVector<SliceOfDim, 2> getSlicedDims(mlir::vector::ExtractStridedSliceOp slice);

/// True for the operations whose tiles and vectors are all owned alike: those on tiles in memory.
bool sharesOneMap(mlir::Operation *op);

/// The map with which all subgroups of a workgroup prefetch a tile of `shape` together: pieces of
/// at most 64 bytes of a row (one cache line), the rows shared out evenly. Null if the tile is too
/// small or uneven to be shared so.
WgMapAttr getCooperativeMap(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                            unsigned elementBits, int64_t numSubgroups);

} // namespace xetile

#endif // XETILE_IR_WGMAP_H
