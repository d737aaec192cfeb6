//===- ColumnSums.cpp - what undoes an offset of A's bytes -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: packed B of bytes in groups of four. Out: loops that sum its columns into a scratch tensor.
// Nothing is refused: only panels that packPanels made come here.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"
#include "xetile/Target/Cpu/Matmul/Packing/Copier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

Value xetile::createColumnScratch(OpBuilder &builder, Location loc, int64_t n, int64_t panel) {
  int64_t panels = llvm::divideCeil(n, panel);
  return tensor::EmptyOp::create(builder, loc, {panels, panel}, builder.getI32Type());
}

Value xetile::sumColumns(OpBuilder &builder, Location loc, Value packed, Index k, Index n,
                         bool isUnsigned, Value scratch, int64_t vectorLength) {
  constexpr int64_t kGroup = 4;
  PackSource source;
  source.inputs = {packed};
  Copier copier(builder, loc, source, vectorLength);
  int64_t panel = cast<RankedTensorType>(scratch.getType()).getDimSize(1);
  auto sums = VectorType::get({vectorLength}, builder.getI32Type());
  auto bytes = VectorType::get({kGroup * vectorLength}, builder.getI8Type());
  auto splat = [&](VectorType type, int64_t value) -> Value {
    APInt bits(type.getElementTypeBitWidth(), value, /*isSigned=*/true);
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, bits));
  };
  Value ones = splat(bytes, 1), factor = splat(sums, isUnsigned ? 128 : -128);
  // A chain of sums for each vector of the panel, as one would wait for each sum.
  SmallVector<Value> zeros(panel / vectorLength, splat(sums, 0));
  Value first = arith::ConstantIndexOp::create(builder, loc, 0);
  Value step = arith::ConstantIndexOp::create(builder, loc, 1);
  Value rows = asValue(builder, loc, ceilDivIndex(builder, loc, k, kGroup));
  return copier.loop(builder.getIndexAttr(0), n, panel, scratch, [&](Index column, Value into) {
    Index number = floorDivIndex(builder, loc, column, panel);
    auto addRow = [&](OpBuilder &, Location, Value row, ValueRange totals) {
      SmallVector<Value> results;
      for (auto [part, total] : llvm::enumerate(totals)) {
        Index place = builder.getIndexAttr(int64_t(part) * vectorLength * kGroup);
        Value groups = copier.read({number, row, place}, kGroup * vectorLength, true);
        results.push_back(isUnsigned ? addByteProducts(builder, loc, groups, ones, total)
                                     : addByteProducts(builder, loc, ones, groups, total));
      }
      scf::YieldOp::create(builder, loc, results);
    };
    auto loop = scf::ForOp::create(builder, loc, first, rows, step, zeros, addRow);
    for (auto [part, total] : llvm::enumerate(loop.getResults())) {
      Value correction = arith::MulIOp::create(builder, loc, total, factor);
      into = copier.write(correction, into,
                          {number, builder.getIndexAttr(int64_t(part) * vectorLength)});
    }
    return into;
  });
}
