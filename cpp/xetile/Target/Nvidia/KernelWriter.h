//===- KernelWriter.h - the code of one thread of a planned kernel --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_KERNELWRITER_H
#define XETILE_TARGET_NVIDIA_KERNELWRITER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "xetile/Target/Nvidia/RingPlan.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <tuple>

namespace xetile::hopper {

/// Numbers of 32 bits, as a thread computes with.
struct ThreadCode {
  explicit ThreadCode(mlir::Location loc, mlir::OpBuilder &builder) : b(loc, builder) {}

  mlir::ImplicitLocOpBuilder b;

  mlir::Value number(int64_t value);
  mlir::Value wide(int64_t value); // 64 bits
  mlir::Value add(mlir::Value l, mlir::Value r);
  mlir::Value add(mlir::Value l, int64_t r) { return r ? add(l, number(r)) : l; }
  mlir::Value mul(mlir::Value l, int64_t r);
  mlir::Value bitAnd(mlir::Value l, int64_t r);
  mlir::Value bitXor(mlir::Value l, mlir::Value r);
  mlir::Value shiftLeft(mlir::Value l, int64_t r);
  mlir::Value shiftRight(mlir::Value l, int64_t r);
  mlir::Value isEqual(mlir::Value l, mlir::Value r);
  mlir::Value isBelow(mlir::Value l, mlir::Value r);
  mlir::Value select(mlir::Value condition, mlir::Value l, mlir::Value r);
  /// An offset of a tile, which is an index.
  mlir::Value fromIndex(mlir::OpFoldResult index);
  /// `base` + `bytes`, in shared memory.
  mlir::Value at(mlir::Value base, mlir::Value bytes);
  /// Where an element of a matrix is in memory; indices of 64 bits.
  mlir::Value elementOf(mlir::Value matrix, mlir::Value row, mlir::Value column);
  mlir::Value sizeOf(mlir::Value matrix, unsigned dim);
  /// Both within their sides.
  mlir::Value isInside(mlir::Value matrix, mlir::Value row, mlir::Value column);
  /// An index of 64 bits.
  mlir::Value toIndex(mlir::Value number);
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);
};

/// Writes the kernel of a plan, at the place of its loop and its stores.
class KernelWriter : ThreadCode {
public:
  KernelWriter(const RingPlan &plan, mlir::gpu::GPUFuncOp kernel, mlir::OpBuilder &builder);
  /// Replaces the loop and the stores.
  void write();

private:
  /// A pair of elements: 64 rows, 8 columns, 8 rows.
  struct Place {
    int64_t block, column, half;
  };

  // Specialized.cpp: one warpgroup loads, the others multiply tile after tile.
  struct Turn {
    mlir::Value stage, phase;
  };
  void writeSpecialized();
  void loadTiles(mlir::Value first, mlir::Value tiles, mlir::Value step);
  void copyPlaces(llvm::ArrayRef<mlir::Operation *> body, mlir::Value tile);
  void multiplyTiles(llvm::ArrayRef<mlir::Operation *> body, mlir::Value first, mlir::Value tiles,
                     mlir::Value step);
  void mapIds(llvm::ArrayRef<mlir::Operation *> body, mlir::Value tile, mlir::IRMapping &mapping);
  void copyFor(mlir::OpFoldResult value, mlir::IRMapping &mapping);
  mlir::Value gridSize(unsigned dimension);
  Turn next(Turn turn);
  llvm::SmallVector<mlir::Value> firstTurn();
  void yieldTurn(mlir::scf::ForOp walk, Turn turn);
  void release(mlir::Value stage, mlir::Value isSafe);
  Turn multiplyTile(Turn turn);
  void writeStores();
  void finishStores();

  // Ring.cpp: stages of shared memory.
  void beginRing();
  mlir::Value makeGrid();
  mlir::Value emptyOf(mlir::Value stage);
  mlir::Value numberOfSteps();
  mlir::Value makeMap(const TilePlace &place, int64_t inner, int64_t outer);
  mlir::Value barrierOf(mlir::Value stage);
  llvm::SmallVector<mlir::Value> boxOf(const TilePlace &place, mlir::Value inner,
                                       mlir::Value outer);
  void waitFor(mlir::Value barrier, mlir::Value phase);
  void loadStage(mlir::Value stage, mlir::Value step);
  void loadTile(const TilePlace &place, mlir::Value map, mlir::Value to, mlir::Value barrier,
                mlir::Value k);
  void waitForAll(mlir::Value barrier = {}, int64_t threads = 0);

  // PlainLoads.cpp: tiles whose rows TMA does not take.
  struct Late {
    mlir::Value stage, pending; // the first stage that is not full yet, how many are on their way
  };
  int64_t fullArrivals() const;
  int64_t loadsInFlight() const;
  bool hasAsyncCopies() const;
  void loadTilesPlainly(mlir::Value first, mlir::Value tiles, mlir::Value step);
  void copyTile(const TilePlace &place, mlir::Value to, mlir::Value k);
  mlir::Value unitInRing(const TilePlace &place, mlir::Value row, mlir::Value column);
  void arriveFull(mlir::Value stage);
  Late arriveLate(Late late);

  // Online.cpp: attentions, by products of what is in registers.
  mlir::Value barrierOfQueries(bool empty);
  void loadQueries(mlir::Value parity);
  Turn attendTile(Turn turn, mlir::Value parity);
  llvm::SmallVector<mlir::Value> multiplyScores(mlir::Value stage);
  llvm::SmallVector<mlir::Value> multiplyPowers(mlir::ValueRange powers, mlir::ValueRange sums,
                                                mlir::Value stage);
  llvm::SmallVector<mlir::Value> landed(mlir::ValueRange sums, int64_t onTheirWay);
  enum class StageBarrier { KeysFull, KeysEmpty, ValuesFull, ValuesEmpty };
  mlir::Value barrierOfStage(StageBarrier which, mlir::Value stage);
  void releasePart(StageBarrier which, mlir::Value stage);
  void loadKeysAndValues(Turn turn, mlir::Value step);
  void waitForTurn();
  void passTurn();
  void giveFirstTurn();
  Turn attendInOrder(Turn turn);
  Turn attendOverlapped(Turn turn);
  llvm::SmallVector<mlir::Value> powersOfScores();
  mlir::ValueRange holdAll(mlir::ValueRange values, mlir::ValueRange elements);
  mlir::Value reducePairs(TileReduceOp reduce, Place place);
  mlir::Value exp2Pair(mlir::Value pair);
  llvm::SmallVector<mlir::Value> sumRows();
  void hold(mlir::Value value, mlir::ValueRange elements);
  llvm::SmallVector<mlir::Value> elementsOf(mlir::Value value);
  int64_t columnsOf(mlir::Value value) const;

  // Products.cpp: wgmma.
  void beginProducts();
  mlir::Value descriptor(mlir::Value address, int64_t leading);
  llvm::SmallVector<mlir::Value> firstSums();
  void multiply(llvm::SmallVectorImpl<mlir::Value> &sums, mlir::Value stage);
  llvm::SmallVector<mlir::Value> writeLoop();

  // Fragments.cpp: pairs of elements that a thread holds.
  mlir::Value pairOf(mlir::Value value, Place place);
  mlir::Value computePair(mlir::Value value, Place place);
  mlir::Value loadPair(LoadTileOp load, Place place);
  mlir::Value makePair(mlir::Value first, mlir::Value second);

  // Lookahead.cpp: what chunks of results need of memory, before it is waited for.
  /// A part of a store: 64 rows x 128 bytes.
  struct Chunk {
    StoreTileOp store;
    int64_t block, number;
  };
  void listChunks();
  void hoistAddresses();
  void loadAhead(size_t chunk);
  llvm::SmallVector<Place> placesOf(const Chunk &chunk);

  // TileStores.cpp: results by way of shared memory.
  void storeTile(StoreTileOp store);
  void copyRows(const Chunk &chunk, const TilePlace &place, mlir::Value buffer, mlir::Value row,
                mlir::Value column);
  void fillBuffer(const Chunk &chunk, mlir::Value buffer);

  const RingPlan &plan;
  mlir::gpu::GPUFuncOp kernel;
  unsigned numMaps = 0;
  mlir::Value shared, barriers, address; // the address as a number
  mlir::Value thread, warpgroup, lane;   // `lane` of the warpgroup's 128
  mlir::Value isFirst, steps;
  mlir::Value mapA, mapB, mapQueries;
  mlir::Value grid;       // of a kernel that walks over tiles: their numbers
  mlir::IRMapping copies; // of what a tile's place is computed of, for the warpgroup that loads
  mlir::Value descriptorA, descriptorB;
  mlir::Type sumsType;
  llvm::SmallVector<mlir::Value> sums;                   // one struct for each 64 rows
  std::map<void *, llvm::SmallVector<mlir::Value>> held; // pairs of products, of what loops carry
  std::map<std::tuple<void *, int64_t, int64_t, int64_t>, mlir::Value> pairs;
  llvm::SmallVector<Chunk> chunks; // of all stores, in order
  size_t numStored = 0;
  /// Chunks whose loads are on their way while one is computed.
  static constexpr size_t kChunksAhead = 1;
};

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_KERNELWRITER_H
