//===- LaneBuilder.h - makes the operations of one lane ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_XE_LANES_LANEBUILDER_H
#define XETILE_TARGET_XE_LANES_LANEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xetile {

using Values = llvm::SmallVector<mlir::Value>;

/// Instructions that move elements.
struct LaneMoves {
  unsigned selects = 0, shuffles = 0, messages = 0;
};

/// Inserts before the operation that is lowered, at its location.
class LaneBuilder : public mlir::ImplicitLocOpBuilder {
public:
  explicit LaneBuilder(mlir::MLIRContext *context)
      : ImplicitLocOpBuilder(mlir::UnknownLoc::get(context), context) {}

  void setOp(mlir::Operation *op) {
    setInsertionPoint(op);
    setLoc(op->getLoc());
  }

  mlir::Value constant(mlir::Type type, int64_t value) {
    return mlir::arith::ConstantOp::create(*this, getIntegerAttr(type, value));
  }
  mlir::Value index(int64_t value) { return constant(getIndexType(), value); }
  mlir::Value add(mlir::Value left, mlir::Value right) {
    return createOrFold<mlir::arith::AddIOp>(left, right);
  }
  mlir::Value mul(mlir::Value left, mlir::Value right) {
    return createOrFold<mlir::arith::MulIOp>(left, right);
  }
  /// A register of a piece, and a piece of its registers.
  mlir::Value element(mlir::Value piece, unsigned reg) {
    return createOrFold<mlir::vector::ExtractOp>(piece, int64_t(reg));
  }
  mlir::Value build(mlir::VectorType type, llvm::ArrayRef<mlir::Value> elements) {
    return mlir::vector::FromElementsOp::create(*this, type, elements);
  }

  /// Pieces of the registers of all of them.
  Values buildAll(mlir::VectorType type, llvm::ArrayRef<mlir::Value> elements) {
    Values pieces;
    for (size_t registers = type.getNumElements(); !elements.empty();
         elements = elements.drop_front(registers))
      pieces.push_back(build(type, elements.take_front(registers)));
    return pieces;
  }

  /// The first operation of the function: what no operation decides, as numbers of the lane alone,
  /// is computed before it, once.
  mlir::Operation *top = nullptr;
  /// Of the operation that is lowered, for `print-costs`.
  LaneMoves moves;
};

} // namespace xetile

#endif // XETILE_TARGET_XE_LANES_LANEBUILDER_H
