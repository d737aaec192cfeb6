//===- WindowedMatrix.h - an image as a matrix of its windows ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_IR_WINDOWEDMATRIX_H
#define XETILE_IR_WINDOWEDMATRIX_H

#include "mlir/IR/BuiltinAttributes.h"

namespace xetile {

/// Of a function, and of the kernel that it launches: an operand of its product is an image in
/// memory, whose columns of k are what a window sees. The kernel's argument has the sizes of the
/// matrix, and the elements are where `WindowedMatrix` says.
inline constexpr llvm::StringLiteral kWindowAttr = "xetile.window";

/// A matrix of k by pixels, in either order, or a batch of them. Numbers of k, and of pixels, are
/// written in digits, the last one the least; each digit is a distance in memory.
struct WindowedMatrix {
  /// `stride` is in elements. `axis` is the side of the image that the digit moves along by `step`,
  /// -1 where no place is beyond the image.
  struct Digit {
    int64_t size, stride, axis, step;
  };
  /// A side of the image, and the zeros before its first element.
  struct Axis {
    int64_t size, low, stride;
  };
  int64_t operand = 0;                // of the product: 0 is A, 1 is B
  llvm::SmallVector<int64_t> batches; // elements from one matrix to the next, outermost first
  llvm::SmallVector<Digit> k, pixels;
  llvm::SmallVector<Axis> axes;

  mlir::DictionaryAttr toAttr(mlir::MLIRContext *context) const;
  /// None where `attr` is no such dictionary.
  static std::optional<WindowedMatrix> from(mlir::Attribute attr);
  static int64_t count(llvm::ArrayRef<Digit> digits);
};

} // namespace xetile

#endif // XETILE_IR_WINDOWEDMATRIX_H
