//===- CutDimension.h - a dimension as parts ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_CUTDIMENSION_H
#define XETILE_LINALG_CUTDIMENSION_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xetile {

/// `tensor` with dimension `dim` as `count` parts of `size` elements, two dimensions in its place;
/// zeros behind its end, whose op is appended to `made`. All its sizes are known.
inline mlir::Value cutDimension(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                                unsigned dim, int64_t count, int64_t size,
                                llvm::SmallVectorImpl<mlir::Operation *> &made) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor.getType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  if (int64_t rest = count * size - shape[dim]) {
    llvm::SmallVector<mlir::OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
    high[dim] = b.getIndexAttr(rest);
    shape[dim] += rest;
    mlir::Value zero = mlir::arith::ConstantOp::create(
        b, loc, llvm::cast<mlir::TypedAttr>(b.getZeroAttr(type.getElementType())));
    auto pad = mlir::tensor::PadOp::create(b, loc, type.clone(shape), tensor, low, high, zero);
    made.push_back(pad);
    tensor = pad;
  }
  llvm::SmallVector<mlir::ReassociationIndices> groups;
  llvm::SmallVector<int64_t> parts;
  for (auto [each, extent] : llvm::enumerate(shape)) {
    groups.push_back({static_cast<int64_t>(parts.size())});
    if (each != dim) {
      parts.push_back(extent);
      continue;
    }
    groups.back().push_back(static_cast<int64_t>(parts.size()) + 1);
    llvm::append_values(parts, count, size);
  }
  return mlir::tensor::ExpandShapeOp::create(b, loc, type.clone(parts), tensor, groups);
}

} // namespace xetile

#endif // XETILE_LINALG_CUTDIMENSION_H
