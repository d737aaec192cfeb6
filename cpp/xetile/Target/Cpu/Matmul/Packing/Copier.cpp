//===- Copier.cpp - vectors from one tensor to another -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a matrix, one tensor or computed from several. Out: vector transfers in loops.
// Nothing is refused: callers ask for rows and columns that there are, or for zeros past them.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/Packing/Copier.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Fusion.h"

using namespace mlir;
using namespace xetile;

Copier::Copier(OpBuilder &builder, Location loc, const PackSource &source, int64_t vectorLength)
    : builder(builder), loc(loc), source(source),
      element(source.element ? source.element
              : source.body  ? source.body->getTerminator()->getOperand(0).getType()
                             : getElementTypeOrSelf(source.inputs[0].getType())),
      length(vectorLength) {}

Value Copier::loop(Index first, Index last, int64_t step, Value init,
                   function_ref<Value(Index, Value)> body) {
  std::optional<int64_t> low = getConstantIntValue(first), high = getConstantIntValue(last);
  if (low && high && *low >= *high)
    return init;
  if (low && high && *low + step >= *high)
    return body(first, init);
  Value stride = arith::ConstantIndexOp::create(builder, loc, step);
  auto loop = scf::ForOp::create(builder, loc, asValue(builder, loc, first),
                                 asValue(builder, loc, last), stride, ValueRange(init));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value result = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(builder, loc, result);
  return loop.getResult(0);
}

Value Copier::read(ArrayRef<Index> at, int64_t count, bool inBounds) {
  Value vector = source.body ? compute(at, count, inBounds)
                             : readTensor(source.inputs[0], at, count, inBounds);
  return extendElement(builder, loc, vector, VectorType::get({count}, element),
                       /*isUnsigned=*/false);
}

Value Copier::write(Value vector, Value destination, ArrayRef<Index> at) {
  return vector::TransferWriteOp::create(builder, loc, vector, destination, values(at),
                                         ArrayRef<bool>{true})
      .getResult();
}

Index Copier::wholeSteps(Index extent, int64_t step) {
  return mulIndex(builder, loc, floorDivIndex(builder, loc, extent, step), step);
}

/// Vectors of rows one after the other: element i of each, then element i + 1.
static Value interleaveRows(OpBuilder &builder, Location loc, ArrayRef<Value> rows) {
  if (rows.size() == 1)
    return rows[0];
  SmallVector<Value> even, odd;
  for (auto [number, row] : llvm::enumerate(rows))
    (number % 2 ? odd : even).push_back(row);
  return vector::InterleaveOp::create(builder, loc, interleaveRows(builder, loc, even),
                                      interleaveRows(builder, loc, odd));
}

Value Copier::readGroup(Index k, int64_t count, int64_t group, std::optional<Index> end, Index from,
                        bool inBounds) {
  auto type = VectorType::get({count}, element);
  SmallVector<Value> rows;
  for (int64_t row = 0; row < group; ++row) {
    Index at = addIndex(builder, loc, k, builder.getIndexAttr(row));
    if (!end || row == 0) {
      rows.push_back(read({at, from}, count, inBounds));
      continue;
    }
    Index last = subIndex(builder, loc, *end, builder.getIndexAttr(1));
    Value vector = read({minIndex(builder, loc, at, last), from}, count, inBounds);
    Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    Value isRow = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        asValue(builder, loc, at), asValue(builder, loc, *end));
    rows.push_back(arith::SelectOp::create(builder, loc, isRow, vector, zeros));
  }
  return interleaveRows(builder, loc, rows);
}

Value Copier::readTensor(Value tensor, ArrayRef<Index> at, int64_t count, bool inBounds) {
  Type type = getElementTypeOrSelf(tensor.getType());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return vector::TransferReadOp::create(builder, loc, VectorType::get({count}, type), tensor,
                                        values(at), zero, ArrayRef<bool>{inBounds});
}

Value Copier::compute(ArrayRef<Index> at, int64_t count, bool inBounds) {
  SmallVector<Value> arguments;
  for (auto [input, map] : llvm::zip_equal(source.inputs, source.maps)) {
    if (!isa<RankedTensorType>(input.getType())) {
      arguments.push_back(input);
      continue;
    }
    SmallVector<Index> places;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      places.push_back(dim ? at[dim.getPosition()] : builder.getIndexAttr(0));
    }
    bool alongRow = map.isFunctionOfDim(1);
    arguments.push_back(alongRow ? readTensor(input, places, count, inBounds)
                                 : tensor::ExtractOp::create(builder, loc, input, values(places)));
  }
  for (unsigned number = arguments.size(); number < source.body->getNumArguments(); ++number)
    arguments.push_back(arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(source.body->getArgument(number).getType())));
  Value result = cloneOnVectors(builder, loc, *source.body, arguments, count);
  if (inBounds)
    return result;
  // Past the edge there are zeros, whatever is computed from the inputs' padding.
  Value left = asValue(builder, loc, subIndex(builder, loc, source.columns, at[1]));
  auto mask = vector::CreateMaskOp::create(builder, loc,
                                           VectorType::get({count}, builder.getI1Type()), left);
  Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(result.getType()));
  return arith::SelectOp::create(builder, loc, mask, result, zeros);
}

SmallVector<Value> Copier::values(ArrayRef<Index> indices) {
  return llvm::map_to_vector(indices, [&](Index index) { return asValue(builder, loc, index); });
}
