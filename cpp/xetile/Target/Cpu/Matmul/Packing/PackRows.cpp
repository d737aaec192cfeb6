//===- PackRows.cpp - copies of blocks of A ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a matrix, m x k or k x m. Out: loops of vector transfers to a scratch tensor of rows.
// Nothing is refused: the rewrite packs plain operands only.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Cpu/Machine/Machine.h"
#include "xetile/Target/Cpu/Matmul/Packing/Copier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// Vectors copied together.
static constexpr int64_t kVectorsAtOnce = 4;

/// `vector` with the top bit of each integer flipped.
static Value flipSigns(OpBuilder &builder, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  auto flip = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, APInt::getSignMask(type.getElementTypeBitWidth())));
  return arith::XOrIOp::create(builder, loc, vector, flip);
}

int64_t xetile::rowScratchColumns(Type element, int64_t columns, int64_t vectorLength) {
  int64_t line = kCacheLineBytes * 8 / element.getIntOrFloatBitWidth();
  int64_t lines = llvm::divideCeil(llvm::alignTo(columns, vectorLength), line);
  return (lines | 1) * line;
}

Value xetile::createRowScratch(OpBuilder &builder, Location loc, Type element, int64_t rows,
                               int64_t columns, int64_t vectorLength) {
  return tensor::EmptyOp::create(
      builder, loc, {rows, rowScratchColumns(element, columns, vectorLength)}, element);
}

Value xetile::packRows(OpBuilder &builder, Location loc, const PackSource &source, Index rows,
                       Index columns, bool offset, Value scratch, int64_t vectorLength) {
  Copier copier(builder, loc, source, vectorLength);
  auto read = [&](Index row, Index column, bool inBounds) -> Value {
    Value vector = copier.read({row, column}, vectorLength, inBounds);
    return offset ? flipSigns(builder, loc, vector) : vector;
  };
  int64_t wide = kVectorsAtOnce * vectorLength;
  return copier.loop(builder.getIndexAttr(0), rows, 1, scratch, [&](Index row, Value outer) {
    Index whole = copier.wholeSteps(columns, wide);
    outer = copier.loop(builder.getIndexAttr(0), whole, wide, outer, [&](Index column, Value into) {
      for (int64_t part = 0; part < wide; part += vectorLength) {
        Index at = addIndex(builder, loc, column, builder.getIndexAttr(part));
        into = copier.write(read(row, at, true), into, {row, at});
      }
      return into;
    });
    return copier.loop(whole, columns, vectorLength, outer, [&](Index column, Value into) {
      return copier.write(read(row, column, false), into, {row, column});
    });
  });
}

Value xetile::packRowsTransposed(OpBuilder &builder, Location loc, const PackSource &source,
                                 Index m, Index k, int64_t group, bool offset, Value scratch,
                                 int64_t vectorLength) {
  Copier copier(builder, loc, source, vectorLength);
  // Squares of groups, each of them one integer, are transposed in registers.
  auto square = VectorType::get({vectorLength, vectorLength}, builder.getI32Type());
  auto units = VectorType::get({vectorLength}, builder.getI32Type());
  auto elements = VectorType::get({vectorLength * group}, copier.element);
  std::optional<int64_t> known = getConstantIntValue(k);
  bool whole = known && *known % (vectorLength * group) == 0;
  Index zero = builder.getIndexAttr(0), last = subIndex(builder, loc, m, builder.getIndexAttr(1));
  return copier.loop(zero, k, vectorLength * group, scratch, [&](Index first, Value outer) {
    return copier.loop(zero, m, vectorLength, outer, [&](Index column, Value into) {
      Value tile = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(square));
      Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(elements));
      for (int64_t i = 0; i < vectorLength; ++i) {
        Index row = addIndex(builder, loc, first, builder.getIndexAttr(i * group));
        Value groups;
        if (whole) {
          groups = copier.readGroup(row, vectorLength, group, std::nullopt, column, false);
        } else {
          // Groups past the end are zeros, too; they read a row that is there.
          Index least = subIndex(builder, loc, k, builder.getIndexAttr(1));
          groups = copier.readGroup(minIndex(builder, loc, row, least), vectorLength, group, k,
                                    column, false);
          Value isThere =
              arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                    asValue(builder, loc, row), asValue(builder, loc, k));
          groups = arith::SelectOp::create(builder, loc, isThere, groups, zeros);
        }
        if (offset)
          groups = flipSigns(builder, loc, groups);
        Value unit = vector::BitCastOp::create(builder, loc, units, groups);
        tile = vector::InsertOp::create(builder, loc, unit, tile, ArrayRef<int64_t>{i});
      }
      Value turned = vector::TransposeOp::create(builder, loc, tile, ArrayRef<int64_t>{1, 0});
      // Rows past the end write the last one once more, from its own column.
      for (int64_t i = vectorLength - 1; i >= 0; --i) {
        Value unit = vector::ExtractOp::create(builder, loc, turned, ArrayRef<int64_t>{i});
        Value row = vector::BitCastOp::create(builder, loc, elements, unit);
        Index at =
            minIndex(builder, loc, addIndex(builder, loc, column, builder.getIndexAttr(i)), last);
        into = copier.write(row, into, {at, first});
      }
      return into;
    });
  });
}
