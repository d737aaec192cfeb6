//===- WgMap.h - arithmetic of workgroup maps -------------------------------===//
//
// The one place that knows what a wg_map means: which pieces a subgroup owns, and how the maps of
// an operation's operands follow from that of its result. Verifiers, inference and distribution
// share it.
//
//===----------------------------------------------------------------------===//
#ifndef XETILE_IR_WGMAP_H
#define XETILE_IR_WGMAP_H

#include "xetile/IR/XeTileAttrs.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace xetile {

/// Checks that `map` distributes a tile of `shape`; otherwise emits the reason on the diagnostic
/// that `emitError` opens. Labels: tile_c3, tile_c4.
llvm::LogicalResult verifyWgMap(WgMapAttr map, llvm::ArrayRef<int64_t> shape,
                                llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

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
};

/// The distribution of dimension `dim` of a tile with `size` elements along it. The map must have
/// been verified.
DimDistribution getDimDistribution(WgMapAttr map, unsigned dim, int64_t size);

/// Maps of the operands of a tile_mma whose result has map `result`: the same grid; m and n as in
/// the result, k whole.
struct MmaOperandMaps {
  WgMapAttr a, b, c;
};
MmaOperandMaps deriveMmaOperandMaps(WgMapAttr result, int64_t k);

/// The map with which all subgroups of a workgroup prefetch a tile of `shape` together: pieces of
/// at most 64 bytes of a row (one cache line), the rows shared out evenly. Null if the tile is too
/// small or uneven to be shared so.
WgMapAttr getCooperativeMap(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                            unsigned elementBits, int64_t numSubgroups);

} // namespace xetile

#endif // XETILE_IR_WGMAP_H
