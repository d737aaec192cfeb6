//===- KernelBuilder.cpp - loops and places of one contraction ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: extents and operands of a contraction. Out: scf.for, vector loads; loops that run once are
// none. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Microkernel/KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/MicrokernelCall.h"

using namespace mlir;
using namespace xetile;

Value KernelBuilder::constant(int64_t value) const {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Index KernelBuilder::extentOf(unsigned dim) const {
  int64_t size = plan.kernel.sizes[dim];
  if (!ShapedType::isDynamic(size))
    return b.getIndexAttr(size);
  auto [operand, place] = *plan.indexedBy(dim); // planKernel has checked
  return memref::DimOp::create(b, loc, plan.operands[operand], place).getResult();
}

int64_t KernelBuilder::usualSize(Index extent, MatmulDim dim, int64_t unknown) const {
  auto limits = plan.kernel.op->getAttrOfType<DenseI64ArrayAttr>(kMicrokernelAttr);
  int64_t most = limits && limits.size() == 2 ? limits[dim] : unknown;
  return getConstantIntValue(extent).value_or(most);
}

int64_t KernelBuilder::usualRows(Index extent, int64_t unknown) const {
  return usualSize(extent, plan.swapped ? kN : kM, unknown);
}

int64_t KernelBuilder::usualColumns(Index extent, int64_t unknown) const {
  return usualSize(extent, plan.swapped ? kM : kN, unknown);
}

Values KernelBuilder::at(unsigned operand, const Indices &place) const {
  return llvm::map_to_vector(plan.maps[operand].getResults(), [&](AffineExpr expr) {
    return place[cast<AffineDimExpr>(expr).getPosition()];
  });
}

void KernelBuilder::loop(Index low, Index high, int64_t step,
                         function_ref<void(Value)> body) const {
  std::optional<int64_t> first = getConstantIntValue(low), last = getConstantIntValue(high);
  if (first && last && *first >= *last)
    return;
  if (first && last && *first + step >= *last)
    return body(constant(*first));
  auto loop =
      scf::ForOp::create(b, loc, asValue(b, loc, low), asValue(b, loc, high), constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void KernelBuilder::overDims(ArrayRef<unsigned> dims, Indices &place,
                             function_ref<void()> body) const {
  if (dims.empty())
    return body();
  loop(b.getIndexAttr(0), extentOf(dims[0]), 1, [&](Value index) {
    place[dims[0]] = index;
    overDims(dims.drop_front(), place, body);
  });
}

KSteps KernelBuilder::stepsFrom(Index first) const {
  SmallVector<unsigned> dims = plan.stepDims();
  return {first, dims.empty() ? Index(b.getIndexAttr(1)) : extentOf(dims.back())};
}

Values KernelBuilder::carry(const KSteps &steps, Indices &place, Values sums,
                            function_ref<Values(Values)> body) const {
  return carryDims(plan.stepDims(), steps, place, std::move(sums), body);
}

Values KernelBuilder::carryFetching(unsigned dim, const KSteps &steps, Indices &place, Values sums,
                                    function_ref<Values(Values)> body) const {
  int64_t stretch = fetched->steps * steps.by;
  auto loop = [&](Index low, Index high, int64_t step, Values carried,
                  function_ref<Values(Value, Values)> inside) {
    auto made = scf::ForOp::create(b, loc, asValue(b, loc, low), asValue(b, loc, high),
                                   constant(step), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    Values results = inside(made.getInductionVar(), Values(made.getRegionIterArgs()));
    scf::YieldOp::create(b, loc, results);
    return Values(made.getResults());
  };
  auto step = [&](Value index, Values carried) {
    place[dim] = index;
    return body(std::move(carried));
  };
  std::optional<int64_t> count = getConstantIntValue(subIndex(b, loc, steps.last, steps.first));
  return loop(steps.first, steps.last, stretch, sums, [&](Value from, Values carried) {
    Index distance = subIndex(b, loc, from, steps.first);
    Index number = floorDivIndex(b, loc, distance, stretch);
    number = mulIndex(b, loc, number, fetched->atOnce);
    for (int64_t line = 0; line < fetched->atOnce; ++line)
      fetched->fetch(b, loc, asValue(b, loc, addIndex(b, loc, number, b.getIndexAttr(line))));
    if (stretch == steps.by)
      return step(from, std::move(carried));
    Index to = addIndex(b, loc, from, b.getIndexAttr(stretch));
    if (!count || *count % stretch != 0)
      to = minIndex(b, loc, to, steps.last);
    return loop(from, to, steps.by, std::move(carried), step);
  });
}

Values KernelBuilder::carryDims(ArrayRef<unsigned> dims, const KSteps &steps, Indices &place,
                                Values sums, function_ref<Values(Values)> body) const {
  if (plan.groupDim)
    place[*plan.groupDim] = constant(0);
  if (dims.empty())
    return body(sums);
  bool innermost = dims.size() == 1;
  Index low = innermost ? steps.first : b.getIndexAttr(0);
  Index high = innermost ? steps.last : extentOf(dims[0]);
  int64_t stride = innermost ? steps.by : 1;
  std::optional<int64_t> first = getConstantIntValue(low), end = getConstantIntValue(high);
  if (first && end && *first < *end && *first + stride >= *end) {
    place[dims[0]] = constant(*first);
    return carryDims(dims.drop_front(), steps, place, sums, body);
  }
  if (innermost && fetched)
    return carryFetching(dims[0], steps, place, std::move(sums), body);
  auto loop = scf::ForOp::create(b, loc, asValue(b, loc, low), asValue(b, loc, high),
                                 constant(stride), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  place[dims[0]] = loop.getInductionVar();
  Values results =
      carryDims(dims.drop_front(), steps, place, Values(loop.getRegionIterArgs()), body);
  scf::YieldOp::create(b, loc, results);
  return Values(loop.getResults());
}

Value KernelBuilder::flatten(unsigned operand) const {
  auto type = cast<MemRefType>(plan.operands[operand].getType());
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    groups.push_back({dim});
  groups.back().push_back(type.getRank() - 1);
  return memref::CollapseShapeOp::create(b, loc, plan.operands[operand], groups);
}

Value KernelBuilder::load(unsigned operand, ValueRange indices, int64_t count, Value mask) const {
  auto type = VectorType::get({count}, plan.elementOf(operand));
  if (!mask)
    return vector::LoadOp::create(b, loc, type, plan.operands[operand], indices);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, loc, type, plan.operands[operand], indices, mask, zero);
}

Value KernelBuilder::widen(Value value, unsigned operand) const {
  Type type = plan.sumType;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), plan.sumType);
  return extendElement(b, loc, value, type, operand < 2 && plan.isUnsigned(operand));
}
