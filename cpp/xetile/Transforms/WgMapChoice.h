//===- WgMapChoice.h - maps of operands where the rules leave a choice -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_WGMAPCHOICE_H
#define XETILE_TRANSFORMS_WGMAPCHOICE_H

#include "xetile/IR/XeTileOps.h"

namespace xetile {

/// The map that a tile or vector has to take to be transposed within each subgroup: the RFC's
/// optimisation of tile_transpose. The map of its rule where there is none.
WgMapAttr getTransposedSource(TileTransposeOp op, WgMapAttr result);

/// `map` where it does not cut the blocks of the 4D vector `type`; else the map of the same grid
/// whose pieces are the smallest ones of whole blocks. No subgroup has a part of a block.
WgMapAttr getMapOfBlocks(WgMapAttr map, mlir::VectorType type);

/// The map of a row or column whose elements all subgroups have in turn: a cast to the other keeps
/// them where they are.
WgMapAttr getMapAlongVector(WgMapAttr map, llvm::ArrayRef<int64_t> shape);

} // namespace xetile

#endif // XETILE_TRANSFORMS_WGMAPCHOICE_H
