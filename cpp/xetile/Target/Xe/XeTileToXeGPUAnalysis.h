//===- XeTileToXeGPUAnalysis.h - what the conversion to XeGPU must know first ------===//
#ifndef XETILE_CONVERSION_XETILETOXEGPUANALYSIS_H
#define XETILE_CONVERSION_XETILETOXEGPUANALYSIS_H

#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/TargetInfo.h"
#include "llvm/ADT/MapVector.h"

namespace xetile {

/// The matrix that a tile is part of.
struct TileBase {
  mlir::Value source;
  llvm::SmallVector<mlir::OpFoldResult> shape, strides;
  bool operator==(const TileBase &other) const {
    return source == other.source && shape == other.shape && strides == other.strides;
  }
};

/// Rows and columns of the blocks that a vector is cut into.
struct BlockShape {
  int64_t rows, columns;
  bool operator==(const BlockShape &other) const {
    return rows == other.rows && columns == other.columns;
  }
};

/// A 2D block message: `count` blocks side by side.
struct BlockMessage {
  int64_t rows, columns, count;
  int64_t totalColumns() const { return columns * count; }
};

/// Finds the base of each tile and the block shape of each vector below an operation, and checks
/// everything that the conversion relies on.
class XeTileToXeGPUAnalysis {
public:
  /// Emits an error at the first operation that cannot be converted. `chip` is used where no
  /// gpu.module has a target.
  llvm::LogicalResult run(mlir::Operation *root, llvm::StringRef chip);

  const TileBase &getBase(mlir::Value tile) const { return bases.find(tile)->second; }
  /// Null for values that the conversion leaves alone.
  const BlockShape *getBlock(mlir::Value vector) const {
    auto entry = blocks.find(vector);
    return entry == blocks.end() ? nullptr : &entry->second;
  }
  bool isTile(mlir::Value value) const { return bases.contains(value); }
  /// The message of a load_tile or prefetch_tile.
  BlockMessage getMessage(mlir::Operation *op) const { return messages.lookup(op); }

private:
  llvm::LogicalResult assignBase(mlir::Value tile, const TileBase &base);
  llvm::LogicalResult assignBlock(mlir::Value vector, BlockShape block);
  llvm::LogicalResult findBases(mlir::Operation *root);
  llvm::LogicalResult findBlocks(mlir::Operation *root, llvm::StringRef chip);
  llvm::LogicalResult check(mlir::Operation *op, llvm::StringRef chip);
  llvm::LogicalResult checkMemoryAccess(mlir::Operation *op, mlir::Value tile,
                                        const TargetInfo &target);
  llvm::LogicalResult checkMma(TileMmaOp op, const TargetInfo &target);
  llvm::LogicalResult chooseMessage(mlir::Operation *op, TileType tile, const TargetInfo &target);

  llvm::MapVector<mlir::Value, TileBase> bases;
  llvm::MapVector<mlir::Value, BlockShape> blocks;
  llvm::DenseMap<mlir::Operation *, BlockMessage> messages;
};

} // namespace xetile

#endif // XETILE_CONVERSION_XETILETOXEGPUANALYSIS_H
