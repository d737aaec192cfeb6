//===- ColumnSums.cpp - what undoes an offset of A's bytes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: packed B of bytes in groups of four. Out: loops that sum its columns into a scratch tensor.
// Nothing is refused: only panels that packPanels made come here.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Cpu/Packing/Copier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

Value xetile::createColumnScratch(OpBuilder &builder, Location loc, int64_t n, int64_t panel) {
  int64_t panels = llvm::divideCeil(n, panel);
  return tensor::EmptyOp::create(builder, loc, {panels, panel}, builder.getI32Type());
}

/// Sums of neighbours in `vector`, half as many and twice as wide.
static Value sumNeighbours(OpBuilder &builder, Location loc, Value vector, bool isUnsigned) {
  auto type = cast<VectorType>(vector.getType());
  int64_t bits = type.getElementTypeBitWidth();
  auto wide = VectorType::get({type.getDimSize(0) / 2}, builder.getIntegerType(2 * bits));
  Value both = vector::BitCastOp::create(builder, loc, wide, vector);
  Value count =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(wide, APInt(2 * bits, bits)));
  auto down = [&](Value value) -> Value {
    if (isUnsigned)
      return arith::ShRUIOp::create(builder, loc, value, count);
    return arith::ShRSIOp::create(builder, loc, value, count);
  };
  Value low = down(arith::ShLIOp::create(builder, loc, both, count));
  return arith::AddIOp::create(builder, loc, low, down(both));
}

Value xetile::sumColumns(OpBuilder &builder, Location loc, Value packed, Index k, Index n,
                         bool isUnsigned, Value scratch, int64_t vectorLength) {
  constexpr int64_t kGroup = 4;
  PackSource source;
  source.inputs = {packed};
  Copier copier(builder, loc, source, vectorLength);
  int64_t panel = cast<RankedTensorType>(scratch.getType()).getDimSize(1);
  auto sums = VectorType::get({vectorLength}, builder.getI32Type());
  Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(sums));
  Value factor = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(sums, APInt(32, isUnsigned ? 128 : -128, /*isSigned=*/true)));
  Index zero = builder.getIndexAttr(0), rows = ceilDivIndex(builder, loc, k, kGroup);
  return copier.loop(zero, n, vectorLength, scratch, [&](Index column, Value into) {
    Index number = floorDivIndex(builder, loc, column, panel);
    Index place = subIndex(builder, loc, column, mulIndex(builder, loc, number, panel));
    Value total = copier.loop(zero, rows, 1, zeros, [&](Index row, Value sum) -> Value {
      Value groups = copier.read({number, row, mulIndex(builder, loc, place, kGroup)},
                                 kGroup * vectorLength, true);
      Value halves = sumNeighbours(builder, loc, groups, isUnsigned);
      return arith::AddIOp::create(builder, loc, sum,
                                   sumNeighbours(builder, loc, halves, isUnsigned));
    });
    return copier.write(arith::MulIOp::create(builder, loc, total, factor), into, {number, place});
  });
}
