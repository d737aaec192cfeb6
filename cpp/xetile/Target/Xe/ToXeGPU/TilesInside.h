//===- TilesInside.h - tiles that never reach over their matrix ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TOXEGPU_TILESINSIDE_H
#define XETILE_TARGET_XE_TOXEGPU_TILESINSIDE_H

#include "xetile/Target/Xe/ToXeGPU/LocalTiles.h"
#include <array>

namespace xetile {

/// Of the tile of each access: whether all its rows, and all its columns, are in the matrix
/// whenever the access is made.
llvm::DenseMap<mlir::Operation *, std::array<bool, 2>>
findTilesInside(mlir::Operation *root, llvm::ArrayRef<mlir::Operation *> accesses);

} // namespace xetile

#endif // XETILE_TARGET_XE_TOXEGPU_TILESINSIDE_H
