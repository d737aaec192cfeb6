//===- KernelWriter.h - the code of one thread of a planned kernel --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_KERNELWRITER_H
#define XETILE_TARGET_NVIDIA_KERNELWRITER_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/Target/Nvidia/RingPlan.h"
#include "xetile/Target/Nvidia/ThreadCode.h"
#include <map>
#include <tuple>

namespace xetile::hopper {

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
  Turn loadSteps(Turn turn);
  void copyPlaces(llvm::ArrayRef<mlir::Operation *> body, mlir::Value tile);
  void multiplyTiles(llvm::ArrayRef<mlir::Operation *> body, mlir::Value first, mlir::Value tiles,
                     mlir::Value step);
  void mapIds(llvm::ArrayRef<mlir::Operation *> body, mlir::Value tile, mlir::IRMapping &mapping);
  void copyFor(mlir::OpFoldResult value, mlir::IRMapping &mapping);
  mlir::Value gridSize(unsigned dimension);
  Turn next(Turn turn);
  llvm::SmallVector<mlir::Value> firstTurn();
  void yieldTurn(Turn turn, mlir::ValueRange carried);
  void walkTiles(bool loads, mlir::Value first, mlir::Value tiles, mlir::Value step,
                 llvm::function_ref<Turn(mlir::Value, Turn)> body);
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
  mlir::Value offsetAt(mlir::OpFoldResult offset, mlir::Value k);
  void copyTile(const TilePlace &place, mlir::Value to, mlir::Value k);

  // Windows.cpp: tiles of images.
  /// An element's part of its place that one side of the matrix gives.
  struct InWindow {
    mlir::Value offset, isThere;
    llvm::SmallVector<mlir::Value> along; // the axes, null where it does not move
  };
  InWindow placeInWindow(const WindowedMatrix &window, bool isK, mlir::Value at);
  void copyWindow(const TilePlace &place, mlir::Value base, mlir::Value start,
                  const InWindow &inner, const InWindow &outer, mlir::Value target);
  void copyWindows(const TilePlace &place, mlir::Value to, mlir::Value k);
  mlir::Value unitInRing(const TilePlace &place, mlir::Value row, mlir::Value column);
  void arriveFull(mlir::Value stage);
  Late arriveLate(Late late);

  // Online.cpp: attentions, by products of what is in registers.
  enum class StageBarrier { KeysFull, KeysEmpty, ValuesFull, ValuesEmpty };
  mlir::Value barrierOfQueries(bool empty);
  mlir::Value barrierThatIsOver();
  mlir::Value barrierOfStage(StageBarrier which, mlir::Value stage);
  void releasePart(StageBarrier which, mlir::Value stage);
  void releaseQueries();
  void beginOnlineBarriers();
  void waitForQueries(bool loads, mlir::Value parity);
  void loadQueries();
  void loadPart(bool isValues, Turn turn, mlir::Value step);
  Turn loadAttention(Turn turn);
  mlir::Value firstKey();
  void waitForTurn();
  void passTurn();
  void giveFirstTurn();
  Turn attendTile(Turn turn);
  void beginStep(const OnlineLoop &online, mlir::Value key);
  mlir::Value scalarOf(mlir::Value value);
  Turn attendInOrder(Turn turn);
  /// Values that are made of a step's scores.
  struct Followed {
    llvm::SmallVector<mlir::Value> powers, others;
    mlir::Value grown;
  };
  Followed followScores(const OnlineLoop &online, bool isFirst);
  struct Overlap;
  llvm::SmallVector<mlir::Value> withoutOutput(mlir::ValueRange all) const;
  llvm::SmallVector<mlir::Value> beginOverlap(Turn turn, Overlap &overlap);
  llvm::SmallVector<mlir::Value> overlapStep(const OnlineLoop &online, mlir::Value key,
                                             mlir::ValueRange all, const Overlap &overlap);
  Turn attendOverlapped(Turn turn);

  // OnlineUnseen.cpp: steps that no query of a warpgroup sees.
  mlir::Value isThere();
  mlir::Value endOfSeen(mlir::arith::CmpIOp compare, mlir::Value key);
  mlir::Value endOfLoop(const OnlineLoop &online, mlir::Value from, mlir::Value end);
  mlir::Value stepsOf(mlir::Value from, mlir::Value end);
  mlir::Value stepsLeft(mlir::Value second, mlir::Value end, mlir::Value done);
  Turn passUnseen(Turn turn, mlir::Value left);

  // OnlineTiles.cpp: tiles from a counter.
  mlir::Value placeOfTileNumber();
  mlir::Value addTo(mlir::Value counter, mlir::LLVM::AtomicOrdering ordering);
  void drawTiles(bool loads, mlir::Value tiles, llvm::function_ref<Turn(mlir::Value, Turn)> body);

  // OnlineProducts.cpp: wgmma of an attention.
  llvm::SmallVector<mlir::Value> multiplyScores(mlir::Value stage);
  llvm::SmallVector<mlir::Value> multiplyPowers(mlir::ValueRange powers, mlir::ValueRange sums,
                                                mlir::Value stage);
  llvm::SmallVector<mlir::Value> landed(mlir::ValueRange sums, int64_t onTheirWay);

  // OnlineRows.cpp: powers, maxima and sums of rows.
  int64_t columnsOf(mlir::Value value) const;
  void hold(mlir::Value value, mlir::ValueRange elements);
  mlir::ValueRange holdAll(mlir::ValueRange values, mlir::ValueRange elements);
  llvm::SmallVector<mlir::Value> elementsOf(mlir::Value value);
  mlir::Value partOf(mlir::Value pair, int64_t at);
  mlir::Value exp2Pair(mlir::Value pair);
  mlir::Value ofFour(mlir::Value own, mlir::vector::CombiningKind kind);
  mlir::Value reduceOwn(mlir::Value from, Place place, mlir::vector::CombiningKind kind);
  mlir::Value reducePairs(TileReduceOp reduce, Place place);
  llvm::SmallVector<mlir::Value> powersOfScores(const OnlineLoop &online);
  void sumRows(const OnlineLoop &online);
  void finishSums();
  mlir::Value keepMaxima(const OnlineLoop &online);
  llvm::SmallVector<mlir::Value> rescale(const OnlineLoop &online, mlir::Value grown);

  // OnlineMasks.cpp: numbers of rows and columns.
  struct Linear {
    mlir::Value row;
    int64_t column; // its factor
    bool maySign;   // it may be below zero
  };
  mlir::Value ownRow(Place place);
  mlir::Value ownColumn(Place place);
  mlir::Value indexPair(mlir::vector::ShapeCastOp steps, Place place);
  std::optional<Linear> linearOf(mlir::Value value, Place place);
  mlir::Value comparePlaces(mlir::arith::CmpIOp compare, Place place);

  // Products.cpp: wgmma.
  void beginProducts();
  mlir::Value descriptor(mlir::Value address, int64_t leading);
  mlir::Value descriptorAt(mlir::Value base, int64_t bytes);
  llvm::SmallVector<mlir::Value> firstSums();
  void multiply(llvm::SmallVectorImpl<mlir::Value> &sums, mlir::Value stage);
  void waitForProducts(int64_t most);
  llvm::SmallVector<mlir::Value> writeLoop();

  // SplitProducts.cpp: f32 as products of tf32.
  struct Parts {
    mlir::Value high, low;
  };
  struct Fragment {
    llvm::SmallVector<mlir::Value> high, low;
  };
  /// A tile of the ring: offsets that exclusive-or tells apart, of two halves of k and of 4 groups
  /// of 8 along the adjacent side.
  struct SplitOperand {
    static constexpr int64_t kPatterns = 8;
    bool kIsInner = false;
    int64_t column = 0; // bytes of all rows of 128 bytes
    std::array<mlir::Value, kPatterns> places, pointers;
  };
  void beginSplitProducts();
  void beginOperand(SplitOperand &operand, const TilePlace &place, bool kIsInner, int64_t rows);
  Parts loadParts(const SplitOperand &operand, int64_t group, int64_t k, int64_t half);
  Fragment loadFragment(const SplitOperand &operand, int64_t group, int64_t groups, int64_t k);
  mlir::Value multiplyParts(mlir::ValueRange a, mlir::ValueRange columns, mlir::Value sums);
  mlir::Value addParts(mlir::Value sum, mlir::Value high, mlir::Value low);
  void addColumns(llvm::SmallVectorImpl<mlir::Value> &sums,
                  llvm::ArrayRef<llvm::SmallVector<Fragment>> fragments, int64_t firstK,
                  int64_t column, int64_t count);
  void multiplySplit(llvm::SmallVectorImpl<mlir::Value> &sums, mlir::Value stage);
  void releaseByWarp(mlir::Value stage);

  // Fragments.cpp: pairs of elements that a thread holds.
  mlir::Value pairOf(mlir::Value value, Place place);
  mlir::Value computePair(mlir::Value value, Place place);
  mlir::Value loadPair(LoadTileOp load, Place place);
  bool isReadWithin(InitTileOp init, unsigned dim);
  mlir::Value loadOrZero(mlir::Value source, mlir::Value row, mlir::Value column);
  mlir::Value divideByRows(mlir::arith::DivFOp quotient, Place place);
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
  mlir::IRMapping inStep; // of numbers of an attention's loop, for the step that is written
  /// Numbers of rows and columns are those of a warpgroup's last query and a step's first key.
  bool isFarthest = false;
  mlir::Value descriptorA, descriptorB;
  SplitOperand splitA, splitB;
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
