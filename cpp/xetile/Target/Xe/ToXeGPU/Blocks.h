//===- Blocks.h - the blocks that vectors and tiles are cut into --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TOXEGPU_BLOCKS_H
#define XETILE_TARGET_XE_TOXEGPU_BLOCKS_H

#include "xetile/IR/XeTileOps.h"
#include "xetile/Layout/TileMessages.h"
#include "llvm/ADT/MapVector.h"

namespace xetile {

/// The blocks of a vector, and the DPAS operand that has their shape. Values tied to an operand may
/// have other elements.
struct VectorBlock {
  int64_t rows, columns;
  DpasOperand operand = DpasOperand::C;
  unsigned elemBits = 32; // of the operand

  bool operator==(const VectorBlock &other) const {
    return rows == other.rows && columns == other.columns;
  }
  llvm::SmallVector<int64_t, 2> sides() const { return {rows, columns}; }
};

/// The blocks of all 2D vectors below an operation that operations of XeTile make or take. Values
/// that hold the same elements in the same places have the same ones.
class BlockChoice {
public:
  llvm::LogicalResult run(mlir::Operation *root, llvm::StringRef chip);
  /// Null for values that stay as they are.
  const VectorBlock *get(mlir::Value vector) const {
    auto entry = blocks.find(vector);
    return entry == blocks.end() ? nullptr : &entry->second;
  }

private:
  llvm::LogicalResult chooseForMma(TileMmaOp op, const TargetInfo &target);
  void assign(mlir::Value root, const VectorBlock &block);
  void assignPlain(mlir::Value vector);
  /// Values that are stored in shared memory get the blocks of those that are loaded from there.
  void assignThroughShared(mlir::Operation *root);
  /// Columns of blocks that no dpas takes: more where lanes have neighbours.
  int64_t plainColumns = 16;
  llvm::MapVector<mlir::Value, VectorBlock> blocks;
};

/// The vector of blocks that a 2D vector is packed to.
mlir::VectorType getBlockedType(mlir::VectorType type, llvm::ArrayRef<int64_t> block);

/// The rows and columns of `tile` that one block of a load or store has, for values in blocks of
/// `block`; whole messages of the planner's where there are some.
llvm::SmallVector<int64_t> chooseInnerBlocks(TileType tile, const VectorBlock &block,
                                             BlockAccess access, const TargetInfo &target);

/// Multiplies slice by slice of k where the registers ask for it. The operation is gone then.
llvm::LogicalResult sliceAlongK(TileMmaOp op, const TargetInfo &target);

/// Stores by rows what does not fit the registers and is computed from loads of the same place. The
/// operation is gone then.
void sliceStore(StoreTileOp op, const TargetInfo &target);

/// Cuts all tiles and vectors below `root` into blocks. `chip` is used where no gpu.module has a
/// target.
llvm::LogicalResult blockTiles(mlir::Operation *root, llvm::StringRef chip);

} // namespace xetile

#endif // XETILE_TARGET_XE_TOXEGPU_BLOCKS_H
