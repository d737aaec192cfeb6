//===- AxisOp.h - linalg ops by the axes of tensors ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_ONLINE_AXISOP_H
#define XETILE_LINALG_ONLINE_AXISOP_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Online/Online.h"

namespace xetile {

/// Writes a linalg.generic whose loops are axes, and that reads each tensor by those of its
/// dimensions.
class AxisOp {
public:
  /// Gives the element of a tensor that was added.
  using Get = llvm::function_ref<mlir::Value(mlir::Value)>;

  explicit AxisOp(llvm::ArrayRef<OnlineAxis> axes) : axes(axes) {}

  void add(mlir::Value tensor, llvm::ArrayRef<OnlineAxis> of);

  /// An elementwise op; its result is as large as all axes.
  mlir::Value create(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> shape,
                     mlir::Type element,
                     llvm::function_ref<mlir::Value(mlir::OpBuilder &, Get)> body,
                     mlir::Value empty = {});

  /// A reduction into `init`, whose dimensions are the first axes.
  mlir::Value
  reduce(mlir::OpBuilder &b, mlir::Location loc, mlir::Value init,
         llvm::function_ref<mlir::Value(mlir::OpBuilder &, Get, mlir::Value total)> body);

private:
  mlir::Value write(mlir::OpBuilder &b, mlir::Location loc, mlir::Value init,
                    llvm::function_ref<mlir::Value(mlir::OpBuilder &, Get, mlir::Value)> body);

  llvm::SmallVector<OnlineAxis> axes;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
};

} // namespace xetile

#endif // XETILE_LINALG_ONLINE_AXISOP_H
