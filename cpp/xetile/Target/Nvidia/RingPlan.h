//===- RingPlan.h - a kernel that multiplies tiles, as the lowering sees it ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_RINGPLAN_H
#define XETILE_TARGET_NVIDIA_RINGPLAN_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/IR/RingAttrs.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/MatmulTiling.h"

namespace xetile::hopper {

/// A tile as it is in memory: `inner` elements are adjacent.
struct TilePlace {
  mlir::BlockArgument matrix; // an argument of the kernel
  bool isTransposed = false;  // the tile's rows are adjacent in memory
  int64_t outer = 0, inner = 0;
  mlir::OpFoldResult outerOffset, innerOffset;
};

struct RingPlan {
  // Handles of ops, whose accessors are none of const objects.
  mutable mlir::scf::ForOp loop;
  mutable TileMmaOp mma;
  TilePlace a, b;
  llvm::SmallVector<StoreTileOp> stores; // behind the loop, in order
  MatmulTiling tiling;
  /// One warpgroup loads, the others multiply; workgroups walk over tiles.
  bool isSpecialized = false;

  int64_t warpgroupRows() const { return tiling.workgroupM / tiling.subgroupsM; }
  int64_t stages() const { return tiling.prefetch + 1; }
};

/// Where the tile is in memory that an argument of the kernel describes. Emits an error at `user`.
mlir::FailureOr<TilePlace> placeOfTile(mlir::Operation *user, mlir::Value tile);

/// The plan of a kernel, the distance of its prefetches as it was written, or `stages` of the
/// attribute where they are gone. Emits an error at what does not fit.
mlir::FailureOr<RingPlan> planRing(mlir::gpu::GPUFuncOp kernel);

/// That pairs of values of `value` can be computed by the thread that holds the sums. Emits an
/// error at what cannot.
mlir::LogicalResult checkFragment(const RingPlan &plan, mlir::Value value);

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_RINGPLAN_H
