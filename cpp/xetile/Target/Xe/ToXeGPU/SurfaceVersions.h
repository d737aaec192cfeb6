//===- SurfaceVersions.h - code for surfaces that only the run knows ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_TOXEGPU_SURFACEVERSIONS_H
#define XETILE_TARGET_XE_TOXEGPU_SURFACEVERSIONS_H

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "xetile/Target/Xe/ToXeGPU/LocalTiles.h"
#include "xetile/Target/Xe/ToXeGPU/Surface.h"
#include "xetile/Target/Xe/ToXeGPU/TilesInside.h"

namespace xetile {

/// How each access below an operation reaches its matrix.
class SurfaceVersions {
public:
  /// Where the matrices of a function are there before its first access, and only a run knows
  /// whether the 2D unit takes them, a function that multiplies tests them once and has its body
  /// twice: with block messages, and without. Other accesses test for themselves.
  llvm::LogicalResult run(mlir::Operation *root, llvm::StringRef chip);
  /// `Unknown` where the access has to test.
  SurfaceKind get(mlir::Operation *access) const { return kinds.lookup(access); }
  /// The same for the place of its tile in a row of memory.
  SurfaceKind getPlace(mlir::Operation *access) const { return places.lookup(access); }
  /// Of an access with tests of its own: true if its rows, and its columns, need no bounds check.
  std::array<bool, 2> getInside(mlir::Operation *access) const { return inside.lookup(access); }

private:
  llvm::LogicalResult classify(mlir::Operation *root, llvm::StringRef chip);
  void split(mlir::Operation *function, llvm::StringRef chip);
  /// Surfaces of accesses from `first` on that a test before it decides.
  llvm::SmallVector<Surface> findTestable(mlir::FunctionOpInterface function,
                                          mlir::Operation *first);
  /// Kinds of accesses in `blocks`, where the tests have said yes, and of their copies.
  void decide(mlir::Block &blocks, const mlir::IRMapping &copies, llvm::ArrayRef<Surface> tested);
  llvm::DenseMap<mlir::Operation *, SurfaceKind> kinds, places;
  llvm::DenseMap<mlir::Operation *, std::array<bool, 2>> inside;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_TOXEGPU_SURFACEVERSIONS_H
