//===- ScanOf.h - the scan of a kernel ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_TILES_SCANOF_H
#define XETILE_SCHEDULE_TILES_SCANOF_H

#include "xetile/Linalg/Scan.h"
#include "xetile/Schedule/Tiles/TileSizes.h"
#include <string>

namespace xetile::transform_ops {

/// A scan, and for each dimension of its result the one of the kernel's results that walks over it,
/// -1 for none.
struct ScanOf {
  Scan scan;
  llvm::SmallVector<int64_t> dims;

  /// False for what no vector.scan combines, and for sizes of a run: a tile of one memory would be
  /// told by those of another.
  bool takesTiles(llvm::ArrayRef<Extent> shape) {
    return scan.kind() &&
           llvm::all_of(shape, [](const Extent &extent) { return extent.isKnown(); });
  }
  /// The dimension of the kernel's results that is scanned.
  unsigned scanned() { return static_cast<unsigned>(dims[scan.allDim()]); }
};

/// The scan that `results`, of one shape, are computed of, if there is one. Failure, with the op
/// and the reason, where there are several, or where it is read in another order.
mlir::FailureOr<std::optional<ScanOf>> findScan(llvm::ArrayRef<mlir::Value> results,
                                                mlir::Operation *&where, std::string &why);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_TILES_SCANOF_H
