//===- UnfoldConvolution.h - a convolution as a product ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_UNFOLDCONVOLUTION_H
#define XETILE_SCHEDULE_PROGRAMS_UNFOLDCONVOLUTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "xetile/IR/WindowedMatrix.h"
#include "xetile/Target/MatmulTiling.h"

namespace xetile {
struct Target;
}

namespace xetile::transform_ops {

/// A kernel whose one convolution is to be a product.
class Unfolding {
  using Dims = llvm::SmallVector<unsigned, 4>;

public:
  Unfolding(mlir::RewriterBase &rewriter, mlir::ModuleOp kernel, const Target &target)
      : b(rewriter), kernel(kernel), target(target) {}

  /// True if the kernel is such a convolution, with elementwise ops behind it.
  bool match();
  void rewrite();

private:
  bool findOps();
  bool matchOperands();
  bool matchDims();
  bool matchImage();
  bool gains();
  bool hasShapeOfResult(mlir::linalg::LinalgOp each);
  bool splitOthers();
  bool followsInRows(mlir::linalg::LinalgOp op);
  bool isInOrder(mlir::AffineMap map, llvm::ArrayRef<unsigned> dims);
  llvm::SmallVector<mlir::ReassociationIndices> groupsOf(mlir::AffineMap map,
                                                         llvm::ArrayRef<unsigned> joined);
  mlir::Value collapse(mlir::Value tensor, mlir::AffineMap map, llvm::ArrayRef<unsigned> joined);
  mlir::AffineMap joinedMap(mlir::AffineMap map, llvm::ArrayRef<unsigned> joined, unsigned as);
  mlir::Value viewOfImage();
  mlir::linalg::GenericOp dropUnits(mlir::linalg::GenericOp op);
  mlir::linalg::GenericOp withChannels(mlir::linalg::GenericOp each);
  void collapseRest();

  mlir::RewriterBase &b;
  mlir::ModuleOp kernel;
  const Target &target;
  mlir::func::FuncOp func;
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<mlir::linalg::LinalgOp> others; // in the order of the block
  /// Ops of channels, as those of a norm's statistics, that others read.
  llvm::SmallVector<mlir::linalg::LinalgOp> ofChannels;
  mlir::BlockArgument image;
  llvm::SmallVector<int64_t> low; // zeros before each side of the image
  bool isPadded = false;
  mlir::AffineMap input, filter, output;
  llvm::SmallVector<int64_t> extents;
  Dims loops, pixels, inner;
  unsigned channel = 0;
  bool channelsLast = false;
  WindowedMatrix window;
};

/// The product that a convolution of known sizes is, of its filters with places of the image;
/// images and groups are batches. None for others.
std::optional<MatmulProblem> productOf(mlir::linalg::LinalgOp convolution);

/// A map without its results that are no loops.
mlir::AffineMap withoutZeros(mlir::AffineMap map);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_PROGRAMS_UNFOLDCONVOLUTION_H
