//===- WindowProducts.h - convolutions as products of matrices -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_WINDOWPRODUCTS_H
#define XETILE_LINALG_WINDOWPRODUCTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <optional>

namespace xetile {

/// A convolution with channels before the image, whose windows do not overlap, as in NCHW and FCHW.
struct WindowProduct {
  mlir::linalg::LinalgOp op;
  unsigned filter = 0, channel = 0;
  llvm::SmallVector<unsigned> batches, pixels, taps;
  llvm::SmallVector<int64_t> extents;
  /// True if a window is one pixel, and all are read: the image is a matrix as it is.
  bool isInPlace = false;
  /// The elements of all these loops.
  int64_t count(llvm::ArrayRef<unsigned> loops) const;
};

/// Nothing for other ops, among them convolutions in groups, and of sizes that a run knows.
std::optional<WindowProduct> matchWindowProduct(mlir::Operation *op);

/// A product, and the convolution's result as a reshape of what is computed of it.
struct Multiplied {
  mlir::Operation *product = nullptr;
  mlir::Value result;
};

/// The result of the same shape, by a product of the filter and the image in place.
Multiplied multiplyInPlace(mlir::OpBuilder &b, const WindowProduct &product);

/// The result with filters last, by a product of patches of the image, a row each, and the filter.
Multiplied multiplyPatches(mlir::OpBuilder &b, const WindowProduct &product);

/// Patterns by which elementwise ops behind `products` have their dimensions.
void populateBehindProducts(mlir::RewritePatternSet &patterns,
                            const llvm::SmallPtrSetImpl<mlir::Operation *> &products);

} // namespace xetile

#endif // XETILE_LINALG_WINDOWPRODUCTS_H
