//===- TileAccess.h - XeGPU operations for the accesses to tiles --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TOXEGPU_TILEACCESS_H
#define XETILE_TARGET_XE_TOXEGPU_TILEACCESS_H

#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "xetile/Layout/BlockMessage.h"
#include "xetile/Target/Xe/ToXeGPU/Surface.h"

namespace xetile {

/// Cache policies for L1 and L3 (XeVM's name for the device's last level).
struct CacheHints {
  mlir::xegpu::CachePolicyAttr l1, l3;

  static CacheHints get(mlir::MLIRContext *context, mlir::xegpu::CachePolicy l1,
                        mlir::xegpu::CachePolicy l3);
  static CacheHints forLoads(mlir::MLIRContext *context);
  static CacheHints forStores(mlir::MLIRContext *context);
  /// memref.prefetch's scale: 3 keeps the data in all caches, 2 in the last level, 1 streams it, 0
  /// keeps it nowhere.
  static CacheHints forPrefetches(mlir::MLIRContext *context, int32_t locality);
};

/// Rows of a store that shares an address payload with others.
constexpr int64_t kStoredRows = 8;

/// True if stores of the tile's blocks may be some of more, shorter rows: one row alone is stored
/// by its address.
inline bool mayFoldStore(TileType tile) {
  llvm::ArrayRef<int64_t> blocks = tile.getInnerBlocks();
  return !blocks.empty() && blocks[0] > 1 && blocks[0] < kStoredRows &&
         kStoredRows % blocks[0] == 0;
}

/// One access to a tile, at values that are there where code is written: the tile's blocks are
/// values, row by row. A tile that is not blocked is one block.
class TileAccess {
public:
  TileAccess(mlir::OpBuilder &builder, mlir::Location loc, TileType tile, const Surface &surface,
             mlir::ValueRange offsets, const TargetInfo &target, std::array<bool, 2> inside);

  /// True if one 2D block message covers each block.
  bool hasMessage(BlockAccess access) const;

  llvm::SmallVector<mlir::Value> loadMessages(mlir::TypedAttr padding);
  void storeMessages(mlir::ValueRange blocks);

  // Each element by itself. For those that are not in the matrix one at its edge is read and not
  // taken; they are not written.
  llvm::SmallVector<mlir::Value> loadElements(mlir::TypedAttr padding);
  void storeElements(mlir::ValueRange blocks);
  llvm::SmallVector<mlir::Value> updateElements(mlir::arith::AtomicRMWKind kind,
                                                mlir::ValueRange blocks);
  /// One prefetch for each cache line.
  void prefetchLines(const CacheHints &hints);
  void prefetchMessages(const BlockShape &shape, llvm::ArrayRef<BlockMessage> messages,
                        const CacheHints &hints);

  mlir::VectorType getBlockType() const;
  int64_t getNumBlocks() const { return gridRows * gridColumns; }

private:
  /// A dimension of the tile (0 rows, 1 columns) as a dimension of memory, and the reverse.
  unsigned memoryDim(unsigned dim) const { return surface.isColumnMajor ? 1 - dim : dim; }
  mlir::Value index(int64_t value);
  mlir::Value asValue(mlir::OpFoldResult value);
  mlir::Value plus(mlir::Value value, int64_t delta);
  /// Row or column `delta` of the tile, in the matrix.
  mlir::Value place(unsigned dim, int64_t delta) { return plus(offsets[dim], delta); }
  mlir::Value repeat(mlir::Value scalar, mlir::VectorType type);
  /// 0, 1, 2, .. along a dimension of a block.
  mlir::Value countAlong(unsigned dim, mlir::VectorType type);
  /// True if the tile is in bounds along the dimension.
  bool isInside(unsigned dim) const { return inside[dim]; }
  /// Which elements of the block at `row` and `column` of the tile are in the matrix; null: all.
  mlir::Value createMask(int64_t row, int64_t column);
  mlir::Value createMaskOrTrue(int64_t row, int64_t column);
  /// Where elements are, for xegpu.load and its like: what to count from, and how far.
  /// Clamped: those that are not in the matrix are at its edge.
  std::pair<mlir::Value, mlir::Value> createPlaces(int64_t row, int64_t column,
                                                   bool isClamped = false);
  /// Rows or columns of the matrix, from `start` of the tile on, none of them beyond the last.
  mlir::Value createPlacesInside(unsigned dim, int64_t start);
  llvm::SmallVector<mlir::Value> loadClamped(mlir::TypedAttr padding);
  /// True if all of the tile is in bounds of memory whose rows no message takes: rows of elements
  /// without masks.
  bool isRowsInside() const;
  llvm::SmallVector<mlir::Value> loadRows();
  mlir::Value createDescriptor(const BlockShape &shape, bool checksBounds = true);
  /// The same elements in blocks of eight rows, of the matrix with rows of a part of their length;
  /// none where these are no rows of memory, or blocks have eight.
  std::optional<TileAccess> foldedStore();
  llvm::SmallVector<mlir::Value> foldBlocks(mlir::ValueRange blocks);
  llvm::SmallVector<mlir::OpFoldResult> getMessagePlace(int64_t row, int64_t column);
  mlir::Value fillPadding(mlir::Value block, mlir::Value mask, mlir::TypedAttr padding);
  /// The message of a block, in the elements of the tile and in memory order.
  BlockShape getMessage(BlockAccess access) const;
  void forEachBlock(llvm::function_ref<void(int64_t number, int64_t row, int64_t column)> visit);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  TileType tile;
  Surface surface;
  llvm::SmallVector<mlir::Value, 2> offsets;
  const TargetInfo &target;
  std::array<bool, 2> inside;
  int64_t blockRows, blockColumns, gridRows, gridColumns;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_TOXEGPU_TILEACCESS_H
