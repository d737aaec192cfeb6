//===- SimtPlan.h - a kernel without products, as threads share it --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_SIMTPLAN_H
#define XETILE_TARGET_NVIDIA_SIMTPLAN_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/IR/XeTileOps.h"
#include <optional>

namespace xetile::hopper {

/// The operation on memory of a kind; nothing for products, which chips have none for.
std::optional<mlir::LLVM::AtomicBinOp> atomicOf(mlir::arith::AtomicRMWKind kind);

/// Threads share a workgroup's tile of rows x columns in chunks of `width` elements of a row: the
/// thread t has those of number t, t + threads, t + 2 * threads. Vectors with one row, or one
/// column, are repeated: a thread has of them what belongs to its chunks.
struct SimtPlan {
  int64_t rows = 1, columns = 1, width = 1, threads = 32;
  /// Both rows and columns have numbers of their own in memory, as filters and places of an image:
  /// a thread of many elements loads few of them.
  bool sharesLoads = false;

  int64_t chunksOfRow() const { return columns / width; }
  int64_t allChunks() const { return rows * chunksOfRow(); }
  /// Of a thread.
  int64_t chunks() const { return (allChunks() + threads - 1) / threads; }
  /// Every thread has as many as the others.
  bool isEven() const { return allChunks() % threads == 0; }
  /// The number of the first chunk of a thread that has the same of a vector of one row, or of one
  /// column, or one element, as the chunk `at`; that itself where it is not known.
  int64_t firstOfSame(int64_t at, bool oneRow, bool oneColumn) const;
  /// Of shared memory, for what reductions exchange, and with copies of tiles behind it.
  int64_t exchangedBytes = 0, sharedBytes = 0;
};

/// True for a tile of any size of which only rows, columns and parts of them are used: it is copied
/// to shared memory, where each thread reads what it needs.
bool isSliced(LoadTileOp load);
/// A row, a column or a part of such a tile; null for others.
struct Slice {
  LoadTileOp load;
  int64_t row = 0, column = 0;
};
std::optional<Slice> sliceOf(mlir::Operation *op);
/// Where the copy of a tile begins in shared memory, behind what reductions exchange.
int64_t placeOfSliced(const SimtPlan &plan, LoadTileOp load);

/// How many elements the chunks of a tile are known to begin at a multiple of, as far as memory is
/// concerned; nothing where elements of a row are not neighbours there. `oneRow`: of a tile that
/// has no more.
std::optional<int64_t> alignedElements(InitTileOp init, bool oneRow);

/// How what threads have of a reduction is put together.
enum class Exchange {
  None,       // it is one element already
  Neighbours, // along a row: those of neighbours, in registers and between warps
  Strided,    // along a column: those that are a row's chunks apart
  All,        // both, in one step
  Memory      // each thread reads all that it needs from shared memory
};
Exchange exchangeOf(const SimtPlan &plan, TileReduceOp reduce);
/// True for a reduction of columns whose result is only reduced further along its row.
bool isFirstOfTwo(TileReduceOp reduce);

/// Shared memory for what warps exchange of a scan.
int64_t scanBytes(const SimtPlan &plan, mlir::vector::ScanOp scan);
/// True for what a scan starts from or ends with, as a vector of another rank.
bool isOfScan(mlir::vector::ShapeCastOp cast);

/// The plan of a kernel of elementwise operations and reductions. Emits an error at others.
mlir::FailureOr<SimtPlan> planSimt(mlir::gpu::GPUFuncOp kernel);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_SIMTPLAN_H
