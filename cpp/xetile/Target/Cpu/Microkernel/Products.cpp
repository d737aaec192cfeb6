//===- Products.cpp - one step of k of a register tile -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: rows and columns of C, a place in k. Out: multiply-adds of vectors, or dot products of groups
// of k. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"

using namespace mlir;
using namespace xetile;

/// Groups of one vector of columns, side by side in memory.
static Value loadGroups(const KernelBuilder &kernel, Value flat, Indices &place, Value mask) {
  RewriterBase &b = kernel.b;
  Location loc = kernel.loc;
  int64_t group = kernel.plan.group;
  auto vector = VectorType::get({group * kernel.plan.length}, kernel.plan.elementOf(1));
  Values indices = kernel.at(1, place);
  indices.pop_back();
  indices.back() = asValue(b, loc, mulIndex(b, loc, indices.back(), group));
  if (!mask)
    return vector::LoadOp::create(b, loc, vector, flat, indices);
  Value wide = mask;
  for (int64_t width = 1; width < group; width *= 2)
    wide = vector::InterleaveOp::create(b, loc, wide, wide);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vector));
  return vector::MaskedLoadOp::create(b, loc, vector, flat, indices, wide, zero);
}

/// The columns of one step: all of their groups in one vector where a dot product reads them, else
/// for each element of a group the vectors of n, widened.
static SmallVector<Values> loadColumns(const KernelBuilder &kernel, Indices &place,
                                       const RegisterPlaces &tile) {
  const KernelPlan &plan = kernel.plan;
  SmallVector<Values> parts(plan.usesDot ? 1 : plan.group);
  Value flat = plan.groupDim ? kernel.flatten(1) : Value();
  for (auto [column, mask] : llvm::zip_equal(tile.columns, tile.masks)) {
    place[plan.columnDim] = column;
    if (!plan.groupDim) {
      parts[0].push_back(kernel.widen(kernel.load(1, kernel.at(1, place), plan.length, mask), 1));
      continue;
    }
    Values split = {loadGroups(kernel, flat, place, mask)};
    // Even elements to the front, odd ones to the back: in the end vector i has element i of
    // groups.
    while (!plan.usesDot && split.size() < size_t(plan.group)) {
      Values even, odd;
      for (Value value : split) {
        auto halves = vector::DeinterleaveOp::create(kernel.b, kernel.loc, value);
        even.push_back(halves.getRes1());
        odd.push_back(halves.getRes2());
      }
      split = even;
      llvm::append_range(split, odd);
    }
    for (auto [number, value] : llvm::enumerate(split))
      parts[number].push_back(plan.usesDot ? value : kernel.widen(value, 1));
  }
  return parts;
}

/// An element of A, or a group of them, in all lanes.
static Value loadFactor(const KernelBuilder &kernel, Indices &place, Value row, unsigned part) {
  const KernelPlan &plan = kernel.plan;
  RewriterBase &b = kernel.b;
  Location loc = kernel.loc;
  int64_t length = plan.length, group = plan.group;
  place[plan.rowDim] = row;
  if (!plan.usesDot) {
    if (plan.groupDim)
      place[*plan.groupDim] = kernel.constant(part);
    Value scalar = memref::LoadOp::create(b, loc, plan.operands[0], kernel.at(0, place));
    return vector::BroadcastOp::create(b, loc, VectorType::get({length}, plan.sumType),
                                       kernel.widen(scalar, 0));
  }
  auto words = VectorType::get({length}, b.getI32Type());
  auto few = VectorType::get({group}, plan.elementOf(0));
  Value elements = vector::LoadOp::create(b, loc, few, plan.operands[0], kernel.at(0, place));
  Value bits = vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), elements);
  Value word = vector::ExtractOp::create(b, loc, bits, ArrayRef<int64_t>{0});
  // Flipped before it is in all lanes: LLVM 22 on x86 never ends selecting for a vector of 64 bytes
  // whose one use puts four of the bytes into all lanes, which it makes of a flip behind.
  if (plan.offsetsA) {
    Value flip =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(b.getI32Type(), APInt(32, 0x80808080u)));
    word = arith::XOrIOp::create(b, loc, word, flip);
  }
  Value factor = vector::BroadcastOp::create(b, loc, words, word);
  return vector::BitCastOp::create(b, loc, VectorType::get({group * length}, plan.elementOf(0)),
                                   factor);
}

Value xetile::multiplyAdd(const KernelBuilder &kernel, Value factor, Value column, Value sum) {
  const KernelPlan &plan = kernel.plan;
  RewriterBase &b = kernel.b;
  Location loc = kernel.loc;
  if (plan.usesDot && isa<FloatType>(plan.sumType))
    return x86vector::DotBF16Op::create(b, loc, sum.getType(), sum, factor, column);
  if (plan.usesDot)
    return plan.isUnsigned(1) ? addByteProducts(b, loc, column, factor, sum)
                              : addByteProducts(b, loc, factor, column, sum);
  if (isa<FloatType>(plan.sumType))
    return vector::FMAOp::create(b, loc, factor, column, sum);
  return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, factor, column));
}

Values xetile::addProducts(const KernelBuilder &kernel, Indices &place, const RegisterPlaces &tile,
                           ValueRange sums) {
  SmallVector<Values> columns = loadColumns(kernel, place, tile);
  Values results(sums);
  for (auto [number, vectors] : llvm::enumerate(columns))
    for (auto [rowNumber, row] : llvm::enumerate(tile.rows)) {
      Value factor = loadFactor(kernel, place, row, number);
      for (auto [column, vector] : llvm::enumerate(vectors)) {
        Value &sum = results[rowNumber * vectors.size() + column];
        sum = multiplyAdd(kernel, factor, vector, sum);
      }
    }
  return results;
}

/// The instruction multiplies unsigned by signed bytes. A with its top bits flipped is A + 128 as
/// unsigned or A - 128 as signed bytes: the sums are off by 128 times a column's sum of B, which a
/// loop of its own finds, as registers for it would be missing in the main one.
void xetile::correctOffset(const KernelBuilder &kernel, Index firstStep, Indices &place,
                           const RegisterPlaces &tile, Values &sums) {
  const KernelPlan &plan = kernel.plan;
  RewriterBase &b = kernel.b;
  Location loc = kernel.loc;
  auto sumVector = VectorType::get({plan.length}, plan.sumType);
  auto bytes = VectorType::get({plan.group * plan.length}, plan.elementOf(0));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(sumVector));
  Value offset = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(bytes, APInt(8, 0x80)));
  KSteps steps = kernel.stepsFrom(firstStep);
  Values excess = kernel.carry(steps, place, Values(tile.columns.size(), zero), [&](Values sum) {
    SmallVector<Values> columns = loadColumns(kernel, place, tile);
    for (auto [total, column] : llvm::zip_equal(sum, columns[0]))
      total = multiplyAdd(kernel, offset, column, total);
    return sum;
  });
  for (auto [number, sum] : llvm::enumerate(sums))
    sum = arith::SubIOp::create(b, loc, sum, excess[number % excess.size()]);
}
