//===- RingPlan.h - a kernel that multiplies tiles, as the lowering sees it ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_RINGPLAN_H
#define XETILE_TARGET_NVIDIA_RINGPLAN_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/IR/RingAttrs.h"
#include "xetile/IR/WindowedMatrix.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/MatmulTiling.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace xetile::hopper {

/// A tile as it is in memory: `inner` elements are adjacent.
struct TilePlace {
  mlir::BlockArgument matrix; // an argument of the kernel
  bool isTransposed = false;  // the tile's rows are adjacent in memory
  int64_t outer = 0, inner = 0;
  mlir::OpFoldResult outerOffset, innerOffset;
  llvm::SmallVector<mlir::OpFoldResult> batch; // places along the array's other dimensions
  int64_t outerDim = 1;                        // of the array, 0 is the innermost
  mlir::Value source;                          // the memref of two dimensions, row-major
  /// Not by TMA: rows are no multiples of 16 bytes apart, or `isSwapped`.
  bool isPlain = false;
  /// Adjacent in shared memory is what is not in the matrix.
  bool isSwapped = false;
  /// Bytes that a thread moves at once, of a plain one.
  int64_t unitBytes = 0;
  /// Where elements are, of an image whose windows are the matrix.
  std::optional<WindowedMatrix> window;

  bool isTransposedInRing() const { return isTransposed != isSwapped; }
  int64_t outerInRing() const { return isSwapped ? inner : outer; }
  int64_t innerInRing() const { return isSwapped ? outer : inner; }
};

/// A loop over keys of an attention: scores of queries and keys, powers of these times values, and
/// maybe times ones, which are sums of rows.
struct OnlineLoop {
  // Handles of ops, whose accessors are none of const objects.
  mutable mlir::scf::ForOp loop;
  mutable TileMmaOp scores, values, rowSums;
  /// Comparisons that hold for each score that counts, and which no query passes in later steps
  /// where it doesn't in one: a step without such scores changes nothing.
  llvm::SmallVector<mlir::arith::CmpIOp> ends;
};

struct RingPlan {
  // Handles of ops, whose accessors are none of const objects.
  mutable mlir::scf::ForOp loop;
  mutable TileMmaOp mma;
  TilePlace a, b;
  llvm::SmallVector<StoreTileOp> stores; // behind the loop, in order
  MatmulTiling tiling;

  /// An attention: queries, which are loaded once, times keys (`a`), and what is computed of these
  /// scores times values (`b`). A step of the ring has `tiling.kStep` keys, and elements of a key
  /// and of a value for m and n. Where a mask begins or ends rows there are several loops, each of
  /// which goes on with the results of the one before: the last one, whose ops are `loop` and
  /// `mma`, is right for any step.
  llvm::SmallVector<OnlineLoop> online;
  TilePlace queries;
  /// Which of what the loops carry is the output, the maxima of rows, and their sums; the latter
  /// two where they have the usual form (OnlineForms.cpp).
  unsigned output = 0;
  std::optional<unsigned> maxima, sums;
  /// Scores of a step are multiplied before the powers of the step before.
  bool overlaps = false;
  /// The output is multiplied for a new maximum only where that is much larger.
  bool isLazy = false;
  /// Queries that there are, where tiles have more and those beyond are not stored.
  std::optional<int64_t> lastQueries;
  /// Workgroups draw tiles from a counter.
  bool drawsTiles = false;
  bool isOnline() const { return !online.empty(); }
  /// In shared memory rows of queries and keys are whole ones of 128 bytes, zeros behind their
  /// ends.
  int64_t queryBytes() const {
    return isOnline() ? queries.outer * llvm::alignTo(queries.inner, kSwizzleBytes / 2) * 2 : 0;
  }
  /// Columns of vectors that have the same in all of them.
  int64_t sameColumns() const {
    TileMmaOp sums = isOnline() ? online.back().rowSums : TileMmaOp();
    return sums ? sums.getResult().getType().getDimSize(1) : 1;
  }
  /// One warpgroup loads, the others multiply; workgroups walk over tiles.
  bool isSpecialized = false;
  /// All accesses are plain, as rows of sizes of a run may be any number of bytes apart.
  bool isAllPlain = false;

  int64_t rows() const { return isOnline() ? queries.outer : tiling.workgroupM; }
  int64_t warpgroupRows() const { return rows() / tiling.subgroupsM; }
  /// Stages, and queries behind them.
  int64_t ringBytes() const { return stages() * stageBytes() + queryBytes(); }
  /// f32 is multiplied exactly, as products of parts.
  bool isSplit() const { return input().isF32() && !mma->hasAttr(kTf32Attr); }
  bool hasPlainLoads() const { return a.isPlain || b.isPlain; }
  int64_t stages() const { return tiling.prefetch + 1; }
  /// Of the matrices that are multiplied.
  mlir::Type input() const {
    return mlir::cast<mlir::VectorType>(mma.getA().getType()).getElementType();
  }
  mlir::Type sum() const { return mma.getResult().getType().getElementType(); }
  int64_t inputBytes() const { return input().getIntOrFloatBitWidth() / 8; }
  int64_t stageBytes() const { return hopper::stageBytes(tiling, inputBytes()); }
  /// Elements in a row of shared memory, and along k of one wgmma.
  int64_t rowElements() const { return kSwizzleBytes / inputBytes(); }
  int64_t wgmmaK() const { return kWgmmaKBytes / inputBytes(); }
  /// Bytes of A's tile, behind which B's is.
  int64_t bytesOfA() const { return tiling.workgroupM * tiling.kStep * inputBytes(); }
};

/// Where the tile is in memory that an argument of the kernel describes. Emits an error at `user`.
mlir::FailureOr<TilePlace> placeOfTile(mlir::Operation *user, mlir::Value tile);

/// True for a constant that is the same in all elements.
bool isSplat(mlir::Value value);
/// True if a tile of a dynamic memref has that memref's sizes and strides.
bool describesSource(InitTileOp init);

/// The plan of a kernel that multiplies what it computes of a product, as an attention. Emits an
/// error at what does not fit.
mlir::FailureOr<RingPlan> planOnline(mlir::gpu::GPUFuncOp kernel,
                                     llvm::ArrayRef<TileMmaOp> products);
/// Finds which of what an attention carries is what. Emits an error if nothing is the output.
mlir::LogicalResult findCarried(RingPlan &plan);
/// True if scores and powers of a step do not depend on the output before it.
bool canOverlap(const RingPlan &plan);
/// True if the output and sums are used as their quotient alone, so that both may be multiples.
bool canBeLazy(const RingPlan &plan);
/// Finds steps that some warpgroups need not compute: behind a mask's end, of queries that are not
/// there. Nothing where all compute all.
void findUnseen(RingPlan &plan);
/// All of a workgroup's shared memory: those of the ring, queries, results, barriers.
int64_t onlineSharedBytes(const RingPlan &plan);
/// How many steps ahead the loop's prefetches are, 0 without any. Emits an error at others.
mlir::FailureOr<int64_t> prefetchDistance(mlir::scf::ForOp loop, int64_t k);
/// The tile of an operand that is loaded in the block of `beside`. Emits an error at others.
mlir::FailureOr<TilePlace> placeOfOperand(TileMmaOp mma, mlir::Value operand, llvm::StringRef name,
                                          mlir::Block *beside);
/// That the tile moves with the loop along k, by its counter, and not otherwise.
mlir::LogicalResult checkMoves(const TilePlace &place, bool kIsInner, mlir::scf::ForOp loop,
                               llvm::StringRef name);
/// Finds the stores behind the loop. Emits an error at others, and at ops without a lowering.
mlir::LogicalResult findStores(RingPlan &plan, mlir::gpu::GPUFuncOp kernel);

/// Gives the operand that is an image the places of its elements, as the kernel's `xetile.window`
/// says. Emits an error at what does not fit.
mlir::LogicalResult takeWindow(RingPlan &plan, mlir::gpu::GPUFuncOp kernel);
/// Bytes of f32 that are adjacent in an image, and begin at multiples of as many: 16 along channels
/// that are its last dimension.
int64_t unitOfWindow(const WindowedMatrix &window, bool isAlongK);

/// The plan of a kernel, the distance of its prefetches as it was written, or `stages` of the
/// attribute where they are gone. Emits an error at what does not fit.
mlir::FailureOr<RingPlan> planRing(mlir::gpu::GPUFuncOp kernel);

/// That all values of an attention are those of pairs that a thread has. Emits an error at others.
mlir::LogicalResult checkOnlineValues(const RingPlan &plan);

/// That pairs of values of `value` can be computed by the thread that holds the sums. Emits an
/// error at what cannot.
mlir::LogicalResult checkFragment(const RingPlan &plan, mlir::Value value);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_RINGPLAN_H
