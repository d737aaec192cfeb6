//===- Slices.h - parts of vectors, made where they are wanted ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TOXEGPU_SLICES_H
#define XETILE_TARGET_XE_TOXEGPU_SLICES_H

#include "xetile/IR/XeTileOps.h"

namespace xetile {

/// True if a 2D vector can be computed at its user `user` slice by slice: from constants, and from
/// loads and computations that nobody else wants, of memory that stays as it is until then. A load
/// may have several tile_mmas as users, and may be outside of their loop.
bool canSlice(mlir::Value value, mlir::Operation *user);

/// The same tile's rows or columns (`dim`) `from` to `from + size`.
mlir::Value sliceTile(mlir::OpBuilder &builder, InitTileOp init, unsigned dim, int64_t from,
                      int64_t size);

/// Rows or columns (`dim`) `from` to `from + size` of a vector: made anew where canSlice allows it,
/// else cut from the whole.
mlir::Value slice(mlir::OpBuilder &builder, mlir::Value value, unsigned dim, int64_t from,
                  int64_t size, mlir::Operation *user);

/// Erases what only served a value that is gone.
void eraseUnused(mlir::Value value);

} // namespace xetile

#endif // XETILE_TARGET_XE_TOXEGPU_SLICES_H
