//===- EpiloguePlan.cpp - where sums are kept and what follows them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction, the work before and after it, threads and blocks. Out: types, starts and
// places of sums. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/EpiloguePlan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"

using namespace mlir;
using namespace xetile;

/// The accumulator, and where the matmul writes to without a consumer.
static void planDestination(const Contraction &matmul, EpiloguePlan &plan) {
  Value destination = matmul.op.getDpsInits()[0];
  auto fill = destination.getDefiningOp<linalg::FillOp>();
  TypedAttr value;
  if (fill && matchPattern(fill.getInputs()[0], m_Constant(&value))) {
    plan.accumulator = value;
    destination = fill.getOutputs()[0];
  }
  plan.destination = {destination, matmul.map(2)};
}

/// Plans the loops' part of `consumer`.
static void planConsumer(const Contraction &matmul, linalg::GenericOp consumer,
                         EpiloguePlan &plan) {
  plan.consumer = consumer;
  Value result = matmul.op->getResult(0);
  // The consumer's dimensions by those of the matmul.
  AffineMap dims;
  for (OpOperand *input : consumer.getDpsInputOperands())
    if (input->get() == result)
      dims = inversePermutation(consumer.getMatchingIndexingMap(input)).compose(matmul.map(2));
  auto indexed = [&](OpOperand *operand) -> IndexedValue {
    return {operand->get(), consumer.getMatchingIndexingMap(operand).compose(dims)};
  };
  plan.destination = indexed(consumer.getDpsInitOperand(0));
  if (!plan.accumulator)
    plan.inputs.push_back({matmul.op->getOperand(2), matmul.map(2)});
  for (OpOperand *input : consumer.getDpsInputOperands())
    if (input->get() != result)
      plan.inputs.push_back(indexed(input));
}

/// The type of sums and what they start from.
static void planSums(const ThreadPlan &threads, const BlockPlan &blocks, EpiloguePlan &plan) {
  Builder b(plan.elementType.getContext());
  Type element = threads.splitsK() ? plan.resultType : plan.elementType;
  // Sums that go through memory between steps of k stay in f32 there and are rounded once.
  bool widens = isLowPrecision(element) && blocks.severalSteps();
  plan.sumType = widens ? Type(b.getF32Type()) : element;
  plan.start = threads.splitsK() ? cast<TypedAttr>(b.getZeroAttr(element)) : plan.accumulator;
  plan.finishes = plan.consumer || plan.sumType != element;
  if (!plan.finishes)
    return;
  plan.addsAccumulator = !plan.start;
  if (!plan.start)
    plan.start = cast<TypedAttr>(b.getZeroAttr(plan.sumType));
  else if (auto value = dyn_cast<FloatAttr>(plan.start); value && value.getType() != plan.sumType)
    plan.start = b.getF32FloatAttr(float(value.getValueAsDouble()));
}

/// Decides if sums accumulate in the result's buffer, or else the size of their own.
static void planPlace(const ThreadPlan &threads, const BlockPlan &blocks, EpiloguePlan &plan) {
  if (!plan.finishes)
    return;
  bool readsResult = plan.consumer &&
                     plan.consumer.payloadUsesValueFromOperand(plan.consumer.getDpsInitOperand(0));
  plan.inPlace =
      plan.resultType == plan.sumType && plan.resultMap == threads.maps[2] && !readsResult;
  if (plan.inPlace)
    return;
  for (MatmulDim dim : {kM, kN}) {
    int64_t most = blocks.severalSteps() ? blocks.sizes[dim] : blocks.innermost[dim];
    bool blockOnly = !blocks.severalSteps() || blocks.knownAtK[dim];
    int64_t part = threads.parts[dim];
    if (blockOnly && (ShapedType::isDynamic(part) || part > most))
      plan.sumLimits[dim] = most;
  }
}

EpiloguePlan xetile::planEpilogue(const Contraction &matmul, const Fusion &fusion,
                                  const ThreadPlan &threads, const BlockPlan &blocks) {
  EpiloguePlan plan;
  planDestination(matmul, plan);
  if (fusion.consumer && !threads.splitsK())
    planConsumer(matmul, fusion.consumer, plan);
  plan.resultMap = matmul.dropBatch(plan.destination.map);
  plan.elementType = matmul.elementType(2);
  plan.resultType = getElementTypeOrSelf(plan.destination.value.getType());
  // Partial results are f32 at least.
  if (threads.splitsK() && isLowPrecision(plan.resultType))
    plan.resultType = Float32Type::get(plan.resultType.getContext());
  planSums(threads, blocks, plan);
  planPlace(threads, blocks, plan);
  return plan;
}
