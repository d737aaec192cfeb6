//===- TileExchange.h - exchanges between subgroups, by tiles -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TRANSFORMS_TILEEXCHANGE_H
#define XETILE_TRANSFORMS_TILEEXCHANGE_H

#include "xetile/Transforms/Exchange.h"

namespace xetile {

/// Tiles in shared local memory, column-major where they are transposed.
struct TileExchange final : ExchangeBuilder {
  using ExchangeBuilder::ExchangeBuilder;

protected:
  void storeTo(mlir::Value buffer, mlir::Value vector,
               llvm::ArrayRef<mlir::OpFoldResult> offsets) const override;
  mlir::Value loadFrom(mlir::Value buffer, mlir::VectorType type,
                       llvm::ArrayRef<mlir::OpFoldResult> offsets) const override;
  mlir::Value permute(mlir::Value vector, llvm::ArrayRef<int64_t> permutation) const override;
};

} // namespace xetile

#endif // XETILE_TRANSFORMS_TILEEXCHANGE_H
