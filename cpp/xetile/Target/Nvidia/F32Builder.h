//===- F32Builder.h - arithmetic of f32, on numbers or vectors -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_NVIDIA_F32BUILDER_H
#define XETILE_TARGET_NVIDIA_F32BUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xetile::hopper {

/// Builds ops of the type that `op` has: f32, or a vector of it.
struct F32Builder : mlir::ImplicitLocOpBuilder {
  F32Builder(mlir::Operation *op, mlir::OpBuilder &builder)
      : ImplicitLocOpBuilder(op->getLoc(), builder), type(op->getResult(0).getType()) {}
  explicit F32Builder(mlir::Operation *op)
      : ImplicitLocOpBuilder(op->getLoc(), op), type(op->getResult(0).getType()) {}

  mlir::Value number(float value) {
    mlir::TypedAttr one = getF32FloatAttr(value);
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      one = mlir::DenseElementsAttr::get(vector, value);
    return mlir::arith::ConstantOp::create(*this, one);
  }
  mlir::Value multiply(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulFOp::create(*this, a, b);
  }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) {
    return mlir::math::FmaOp::create(*this, a, b, c);
  }
  /// factors[0] + factors[1] x + ...
  mlir::Value polynomial(llvm::ArrayRef<float> factors, mlir::Value x) {
    mlir::Value sum = number(factors.back());
    for (float factor : llvm::reverse(factors.drop_back()))
      sum = fma(sum, x, number(factor));
    return sum;
  }

  /// 2^x by one instruction, with a relative error of 2^-22.5: 0 where that is below 2^-126.
  mlir::Value flushedPower(mlir::Value x) {
    return ofElements("llvm.nvvm.ex2.approx.ftz.f32", {x});
  }
  /// 1 / x by one instruction, with a relative error of 2^-23: 0 where that is below 2^-126, and
  /// infinite where x is.
  mlir::Value flushedReciprocal(mlir::Value x) {
    return ofElements("llvm.nvvm.rcp.approx.ftz.f", {x});
  }
  /// An intrinsic of numbers for each element of `operands`, which are of `type`.
  mlir::Value ofElements(llvm::StringRef intrinsic, mlir::ValueRange operands);

  mlir::Type type;
};

} // namespace xetile::hopper

#endif // XETILE_TARGET_NVIDIA_F32BUILDER_H
