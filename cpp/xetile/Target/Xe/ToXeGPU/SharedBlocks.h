//===- SharedBlocks.h - shared memory in the order of registers ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TOXEGPU_SHAREDBLOCKS_H
#define XETILE_TARGET_XE_TOXEGPU_SHAREDBLOCKS_H

#include "xetile/Target/Xe/ToXeGPU/SurfaceVersions.h"

namespace xetile {

/// A buffer in shared memory that lies there block after block, so that one access moves a block to
/// the registers as they are: rows of one word of each lane, or `byColumns`, each of which is a
/// lane's, as the matrix unit wants its operand B.
struct SharedBlock {
  int64_t rows, columns;
  bool byColumns;
};

/// Which buffers are only accessed by whole blocks of one shape, so that nobody can tell their
/// order: that of registers is chosen for them.
class SharedBlocks {
public:
  void run(mlir::Operation *root, const SurfaceVersions &versions);
  /// Null for accesses element by element.
  const SharedBlock *get(mlir::Operation *access) const {
    auto entry = accesses.find(access);
    return entry == accesses.end() ? nullptr : &entry->second;
  }

  /// `offsets` are those of the tile; the blocks are values, row by row.
  static llvm::SmallVector<mlir::Value> load(mlir::OpBuilder &builder, LoadTileOp op,
                                             mlir::Value memory, mlir::ValueRange offsets,
                                             const SharedBlock &block);
  static void store(mlir::OpBuilder &builder, StoreTileOp op, mlir::Value memory,
                    mlir::ValueRange offsets, mlir::ValueRange blocks, const SharedBlock &block);

private:
  llvm::DenseMap<mlir::Operation *, SharedBlock> accesses;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_TOXEGPU_SHAREDBLOCKS_H
