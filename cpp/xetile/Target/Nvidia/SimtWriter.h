//===- SimtWriter.h - the code of a thread that has chunks of a tile --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_SIMTWRITER_H
#define XETILE_TARGET_NVIDIA_SIMTWRITER_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Nvidia/SimtPlan.h"
#include "xetile/Target/Nvidia/ThreadCode.h"
#include "llvm/ADT/DenseMap.h"

namespace xetile::hopper {

/// Writes the kernel of a plan in the place of its operations on vectors.
class SimtWriter : ThreadCode {
public:
  SimtWriter(const SimtPlan &plan, mlir::gpu::GPUFuncOp kernel, mlir::OpBuilder &builder);
  void write();

private:
  /// A thread's part of a vector: one of `width` elements for each chunk.
  using Chunks = llvm::SmallVector<mlir::Value>;

  void begin();
  void writeBlock(mlir::Block &block);
  void writeLoop(mlir::scf::ForOp loop);
  void writeByElement(mlir::Operation *op);
  Chunks chunksOf(mlir::Value value);
  size_t firstOfSame(mlir::VectorType type, size_t chunk) const;
  mlir::VectorType chunkType(mlir::Type element) const;
  mlir::Value splat(mlir::Value element);
  mlir::Value part(mlir::Value vector, int64_t at);
  mlir::Value pack(llvm::ArrayRef<mlir::Value> elements);
  Chunks indices(mlir::vector::ShapeCastOp steps);

  // SimtMemory.cpp: tiles in memory.
  struct Where {
    mlir::Value matrix;
    mlir::OpFoldResult row, column; // of the tile
    bool oneRow, oneColumn;         // the tile has no more
    bool areInside[2];              // rows, columns: nothing of the tile is beyond an edge
    bool mayBeBefore[2];            // something may be before the first one
    bool isAdjacent;                // elements of a row in memory
    int64_t alignment;              // bytes, of chunks
  };
  Where whereOf(InitTileOp init, mlir::ArrayRef<int64_t> shape);
  Chunks load(LoadTileOp load);
  void store(StoreTileOp store);
  mlir::Value scattered(InitTileOp init, mlir::Value index);
  Chunks gather(LoadGatherOp load);
  void scatter(StoreScatterOp store);
  void scatter(AtomicRMWScatterOp update);
  /// Calls `write` for each element of a scattered tile whose mask holds, with its address and
  /// value: of a row or column that is repeated, one.
  void forEachScattered(mlir::TypedValue<TileType> tile, mlir::Value mask, mlir::Value value,
                        llvm::function_ref<void(mlir::Value, mlir::Value)> write);
  std::pair<mlir::Value, mlir::Value> placeOf(const Where &where, size_t chunk);
  mlir::Value isWithin(const Where &where, mlir::Value at, unsigned dim, int64_t last);
  mlir::Value hasChunk(size_t chunk);
  mlir::Value choose(mlir::Value condition, mlir::Type type, llvm::function_ref<mlir::Value()> yes,
                     llvm::function_ref<mlir::Value()> no);

  // SimtSlices.cpp: tiles of which rows and columns are used.
  void copyToShared(LoadTileOp load);
  Chunks fromShared(const Slice &slice, mlir::VectorType type);

  // SimtReductions.cpp: what threads exchange.
  Chunks reduce(TileReduceOp reduce);
  mlir::Value combine(mlir::Value l, mlir::Value r);
  mlir::Value combineParts(mlir::Value vector);
  mlir::Value fromNeighbours(mlir::Value values, int64_t threads);
  mlir::Value fromStride(mlir::Value values, int64_t stride);
  Chunks throughMemory(TileReduceOp reduce, const Chunks &own, bool rows, bool columns);
  mlir::Value shuffle(mlir::Value vector, int64_t distance);
  /// The vector that `word` makes of each word of 32 bits.
  mlir::Value inWords(mlir::Value vector, llvm::function_ref<mlir::Value(mlir::Value)> word);
  mlir::Value placeInShared(mlir::Value number, mlir::VectorType type);

  // SimtScans.cpp: what threads exchange, in order.
  struct ScanShape;
  void scan(mlir::vector::ScanOp scan);
  mlir::Value fromLane(mlir::Value value, mlir::Value lane, mlir::NVVM::ShflKind how);
  mlir::Value scanLanes(mlir::Value value, int64_t lanes);
  llvm::SmallVector<mlir::Value> beforeParts(llvm::ArrayRef<mlir::Value> totals, size_t first,
                                             mlir::Value start, const ScanShape &shape);

  const SimtPlan &plan;
  mlir::gpu::GPUFuncOp kernel;
  mlir::Value thread, shared;
  llvm::SmallVector<mlir::Value> rowOf, columnOf; // of each chunk
  llvm::DenseMap<mlir::Value, Chunks> held;
  llvm::SmallVector<mlir::Operation *> done;
  mlir::vector::CombiningKind kind = mlir::vector::CombiningKind::ADD;
};

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_SIMTWRITER_H
