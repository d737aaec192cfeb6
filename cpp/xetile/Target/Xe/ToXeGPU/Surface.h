//===- Surface.h - a tile's matrix as the 2D unit sees it ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TOXEGPU_SURFACE_H
#define XETILE_TARGET_XE_TOXEGPU_SURFACE_H

#include "mlir/IR/Builders.h"
#include "xetile/Facts/TargetInfo.h"
#include "xetile/IR/XeTileOps.h"

namespace xetile {

/// Access to a matrix by 2D block messages: decided at compile time, or by a test at run time.
enum class SurfaceKind { Block, Other, Unknown };

/// The matrix of a tile in memory order: `width` elements of a row are neighbours, column-major
/// matrices have their columns as rows. What only the memref knows at run time is null.
struct Surface {
  mlir::Value source; ///< a memref, or an address of type i64
  mlir::OpFoldResult height, width, pitch, step;
  mlir::Type element;
  bool isColumnMajor;

  static Surface of(InitTileOp init);
  int64_t getElementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  bool operator==(const Surface &other) const {
    return source == other.source && height == other.height && width == other.width &&
           pitch == other.pitch && step == other.step && isColumnMajor == other.isColumnMajor;
  }
  /// Everything that a test at run time reads.
  llvm::SmallVector<mlir::Value> getOperands() const;

  SurfaceKind classify(const TargetInfo &target) const;
  /// Computes what is not known before the run.
  mlir::Value createTest(mlir::OpBuilder &builder, mlir::Location loc,
                         const TargetInfo &target) const;

  /// The same with sizes and strides that are all there: they are read from the memref.
  Surface withAllParts(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// The address of the first element, of type i64.
  mlir::Value createAddress(mlir::OpBuilder &builder, mlir::Location loc) const;
};

/// Classifies whether messages start on a 4-byte boundary of a row, for a tile that starts `offset`
/// elements into its row.
SurfaceKind classifyPlace(mlir::OpFoldResult offset, int64_t elementBytes);
mlir::Value createPlaceTest(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value offset,
                            int64_t elementBytes);

} // namespace xetile

#endif // XETILE_TARGET_XE_TOXEGPU_SURFACE_H
