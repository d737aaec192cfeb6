//===- LocalTiles.h - tiles that are described where they are used ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TOXEGPU_LOCALTILES_H
#define XETILE_TARGET_XE_TOXEGPU_LOCALTILES_H

#include "xetile/IR/XeTileOps.h"

namespace xetile {

/// True for the operations that read, write or prefetch a tile.
bool isTileAccess(mlir::Operation *op);

/// The tile that an access is about.
mlir::TypedValue<TileType> getAccessedTile(mlir::Operation *access);

/// The init_tile right before an access, which makeTilesLocal left there.
InitTileOp getLocalInit(mlir::Operation *access);

/// Gives each access below `root` an init_tile of its own: offsets travel through loops and
/// branches instead of tiles, update_tile_offset becomes their sums. Emits an error at the first
/// tile whose matrix cannot be told.
llvm::LogicalResult makeTilesLocal(mlir::Operation *root);

} // namespace xetile

#endif // XETILE_TARGET_XE_TOXEGPU_LOCALTILES_H
