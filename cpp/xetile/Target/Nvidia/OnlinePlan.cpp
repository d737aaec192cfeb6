//===- OnlinePlan.cpp - find an attention in a kernel ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a kernel of workgroup-level XeTile with several products. Out: a loop over keys, its scores,
// what they are multiplied with, the tiles in memory.
// Refused: other forms, as masks; tiles that wgmma, the registers or shared memory do not take.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "xetile/Target/Nvidia/RingPlan.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

namespace {

bool isSplat(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat();
}

bool isZero(Value value) {
  return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat());
}

/// Subgroups along rows and columns; a single one has no map.
std::array<int64_t, 2> layoutOf(TileMmaOp mma) {
  if (!mma.getWgMap())
    return {1, 1};
  ArrayRef<int64_t> layout = mma.getWgMap()->getSgLayout();
  return {layout[0], layout[1]};
}

/// Which product is which: scores of what is loaded before the loop, then of scores.
LogicalResult findRoles(RingPlan &plan, gpu::GPUFuncOp kernel, ArrayRef<TileMmaOp> products) {
  for (TileMmaOp mma : products) {
    if (!isa<scf::ForOp>(mma->getParentOp()))
      return mma.emitOpError("is in no loop over keys; expected one around the products of an "
                             "attention: make keys, those of a step, a divisor of all and less");
    auto load = mma.getA().getDefiningOp<LoadTileOp>();
    TileMmaOp &role = load && load->getBlock() != mma->getBlock() ? plan.mma
                      : isSplat(mma.getB())                       ? plan.rowSums
                                                                  : plan.values;
    if (role)
      return mma.emitOpError("is a further product of its kind in the kernel; expected queries * "
                             "keys, and what is computed of these scores * values");
    role = mma;
  }
  auto loop = plan.mma ? dyn_cast<scf::ForOp>(plan.mma->getParentOp()) : scf::ForOp();
  bool isTogether = plan.mma && plan.values && loop && loop->getParentOp() == kernel &&
                    plan.values->getBlock() == plan.mma->getBlock() &&
                    plan.mma->isBeforeInBlock(plan.values) &&
                    (!plan.rowSums || plan.rowSums->getBlock() == plan.mma->getBlock());
  if (!isTogether)
    return kernel.emitOpError("has several xetile.tile_mma; expected one in a loop over k, or an "
                              "attention: queries * keys, and what is computed of these scores * "
                              "values, in one loop over keys");
  plan.loop = loop;
  if (!plan.mma.getC() || !isZero(plan.mma.getC()))
    return plan.mma.emitOpError("adds scores to others; expected zeros");
  if (plan.rowSums && plan.rowSums.getA() != plan.values.getA())
    return plan.rowSums.emitOpError(
        "sums other rows than those that are multiplied; expected them");
  return success();
}

LogicalResult findPlaces(RingPlan &plan) {
  Block *before = plan.loop->getBlock(), *inside = plan.loop.getBody();
  FailureOr<TilePlace> q = placeOfOperand(plan.mma, plan.mma.getA(), "queries", before);
  if (failed(q))
    return failure();
  FailureOr<TilePlace> k = placeOfOperand(plan.mma, plan.mma.getB(), "keys", inside);
  if (failed(k))
    return failure();
  FailureOr<TilePlace> v = placeOfOperand(plan.values, plan.values.getB(), "values", inside);
  if (failed(v))
    return failure();
  plan.queries = *q;
  plan.a = *k;
  plan.b = *v;
  for (const TilePlace *place : {&plan.queries, &plan.a, &plan.b})
    if (place->isPlain || plan.isAllPlain)
      return plan.mma.emitOpError("multiplies matrices whose rows are no multiples of 16 bytes "
                                  "apart; expected that of an attention's operands");
  if (plan.queries.isTransposed)
    return plan.mma.emitOpError("multiplies queries whose elements are not adjacent; expected "
                                "that");
  // Keys are columns of the one, and rows of the other.
  if (failed(checkMoves(plan.a, !plan.a.isTransposed, plan.loop, "keys")) ||
      failed(checkMoves(plan.b, plan.b.isTransposed, plan.loop, "values")))
    return failure();
  return success();
}

/// Registers of a thread: scores, what is multiplied of them, the output, the rest.
LogicalResult checkSizes(const RingPlan &plan) {
  auto refuse = [&]() { return plan.mma.emitOpError(); };
  auto scores = plan.mma.getResult().getType(), out = plan.values.getResult().getType();
  int64_t m = scores.getDimSize(0), keys = scores.getDimSize(1), n = out.getDimSize(1);
  std::array<int64_t, 2> layout = layoutOf(plan.mma);
  Type input = plan.input(),
       power = cast<VectorType>(plan.values.getA().getType()).getElementType();
  if ((!input.isF16() && !input.isBF16()) || power != input || !scores.getElementType().isF32())
    return refuse() << "multiplies " << input << " and then " << power
                    << "; expected f16 or bf16 in both products of an attention, and sums in f32";
  if (layout[1] != 1 || m != layout[0] * kWgmmaM)
    return refuse() << "gives " << m << " queries to " << layout[0] << " x " << layout[1]
                    << " subgroups; expected " << kWgmmaM << " for each warpgroup, in a row: "
                    << "workgroup_m = " << kWgmmaM << " * subgroups_m";
  for (int64_t size : {keys, n, plan.queries.inner})
    if (size % 64 || size > kWgmmaMaxN)
      return refuse() << "has tiles of " << keys << " keys, and elements of " << plan.queries.inner
                      << " and " << n << " in keys and values; expected multiples of 64 of at most "
                      << kWgmmaMaxN;
  constexpr int64_t kOthers = 48;
  int64_t needed = keys / 2 + keys / 4 + n / 2 + kOthers;
  int64_t all = splitRegisters(layout[0], false).multiplying;
  if (needed > (all ? all : kThreadRegisters))
    return refuse() << "needs " << needed << " registers of a thread for scores of " << keys
                    << " keys and values of " << n << " elements; expected at most " << all
                    << ": make keys smaller, or subgroups_m";
  return success();
}

/// That pairs of a value follow from those of its operands. Emits an error otherwise.
LogicalResult checkValue(const RingPlan &plan, Value value, bool &isLeaf) {
  auto type = cast<VectorType>(value.getType());
  Operation *op = value.getDefiningOp();
  isLeaf = true;
  int64_t columns = type.getRank() == 2 ? type.getDimSize(1) : 0;
  int64_t keys = plan.tiling.kStep, n = plan.tiling.workgroupN;
  bool isSame = columns == 1 || columns == plan.sameColumns();
  auto refuse = [&]() {
    return (op ? op->emitOpError() : emitError(value.getLoc()))
           << "gives " << type << " to an attention; ";
  };
  if (!columns || (type.getDimSize(0) != plan.rows() && type.getDimSize(0) != 1) ||
      (!isSame && columns != keys && columns != n))
    return refuse() << "expected vectors of its queries, with keys, elements or one column";
  if (!op || op == plan.loop || isa<TileMmaOp>(op) || isSplat(value))
    return success();
  if (auto reduce = dyn_cast<TileReduceOp>(op)) {
    auto from = cast<VectorType>(reduce.getVector().getType());
    bool isMaximum = reduce.getKind() == vector::CombiningKind::MAXNUMF ||
                     reduce.getKind() == vector::CombiningKind::MAXIMUMF;
    bool isSum = reduce.getKind() == vector::CombiningKind::ADD;
    if (reduce.getReductionDims() != ArrayRef<int64_t>{1} || (!isMaximum && !isSum) ||
        (isSum && from.getDimSize(1) == plan.sameColumns()))
      return refuse() << "expected maxima and sums along rows";
    isLeaf = false;
    return success();
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    if (!isa<VectorType>(broadcast.getSource().getType()))
      return success();
  isLeaf = false;
  if (auto broadcast = dyn_cast<TileBroadcastOp>(op); broadcast && type.getDimSize(0) != 1)
    return success();
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 && !op->getNumRegions())
    return success();
  return refuse()
         << "expected elementwise operations, broadcasts, maxima and sums along rows; masks "
         << "and keys that do not fill whole steps have no lowering for " << kChip;
}

LogicalResult checkValues(const RingPlan &plan) {
  llvm::SetVector<Value> values;
  for (StoreTileOp store : plan.stores)
    values.insert(store.getValue());
  values.insert_range(plan.loop.getInitArgs());
  values.insert_range(plan.loop.getYieldedValues());
  values.insert(plan.values.getA());
  values.insert(plan.values.getC());
  if (plan.rowSums)
    values.insert(plan.rowSums.getC());
  for (unsigned at = 0; at < values.size(); ++at) {
    Value value = values[at];
    if (!isa<VectorType>(value.getType()))
      return plan.loop.emitOpError("carries ") << value.getType() << "; expected vectors";
    bool isLeaf = false;
    if (failed(checkValue(plan, value, isLeaf)))
      return failure();
    if (!isLeaf)
      for (Value operand : value.getDefiningOp()->getOperands())
        if (isa<VectorType>(operand.getType()))
          values.insert(operand);
  }
  for (Value first : plan.loop.getInitArgs())
    if (!isSplat(first))
      return plan.loop.emitOpError("begins with other values than constants; expected these");
  return success();
}

} // namespace

FailureOr<RingPlan> hopper::planOnline(gpu::GPUFuncOp kernel, ArrayRef<TileMmaOp> products) {
  RingPlan plan;
  plan.isSpecialized = true;
  if (auto ring = kernel->getAttrOfType<DictionaryAttr>(kRingAttr)) {
    auto loads = ring.getAs<StringAttr>("loads");
    plan.isAllPlain = loads && loads == "plain";
  }
  if (failed(findRoles(plan, kernel, products)))
    return failure();
  for (TileMmaOp mma : products)
    if (mma.getResult().getType().getRank() != 2)
      return mma.emitOpError("works on blocks; expected a product of workgroup tiles");
  int64_t keys = plan.mma.getResult().getType().getDimSize(1);
  plan.tiling.kStep = keys;
  if (failed(findPlaces(plan)) || failed(checkSizes(plan)))
    return failure();
  FailureOr<int64_t> distance = prefetchDistance(plan.loop, keys);
  if (failed(distance))
    return failure();
  APInt lower, step;
  if (!matchPattern(plan.loop.getLowerBound(), m_ConstantInt(&lower)) || !lower.isZero() ||
      !matchPattern(plan.loop.getStep(), m_ConstantInt(&step)) || step.getSExtValue() != keys)
    return plan.loop.emitOpError("does not run from 0 in steps of ")
           << keys << ", the keys of its tiles; expected that";
  plan.tiling = {plan.queries.inner,
                 plan.values.getResult().getType().getDimSize(1),
                 layoutOf(plan.mma)[0],
                 1,
                 keys,
                 std::max<int64_t>(*distance, 1)};
  if (auto ring = kernel->getAttrOfType<DictionaryAttr>(kRingAttr))
    if (auto stages = ring.getAs<IntegerAttr>("stages"))
      plan.tiling.prefetch = stages.getInt() - 1;
  // Prefetches are a hint; a step of an attention is long.
  while (plan.tiling.prefetch > 1 && onlineSharedBytes(plan) > kSharedBytes)
    --plan.tiling.prefetch;
  if (int64_t bytes = onlineSharedBytes(plan); bytes > kSharedBytes)
    return plan.mma.emitOpError("needs ")
           << bytes << " bytes of shared memory for queries and two steps of " << keys
           << " keys and values; expected at most " << kSharedBytes << ": make keys smaller";
  if (failed(findStores(plan, kernel)) || failed(checkValues(plan)))
    return failure();
  auto ring = kernel->getAttrOfType<DictionaryAttr>(kRingAttr);
  auto overlap = ring ? ring.getAs<BoolAttr>("overlap") : BoolAttr();
  // Measured on an H100 (test/device): 1 to 4 % for values of 128 elements, a loss of 8 to 11 % for
  // 64, whose powers wait for the others' turns.
  constexpr int64_t kGains = 128;
  plan.overlaps =
      (!overlap || overlap.getValue()) && plan.tiling.workgroupN >= kGains && canOverlap(plan);
  return plan;
}

int64_t hopper::onlineSharedBytes(const RingPlan &plan) {
  return plan.ringBytes() + storeBytes(plan.tiling) + 32 * plan.stages() + 16;
}

unsigned hopper::outputOf(const RingPlan &plan) {
  auto yields = plan.loop.getYieldedValues();
  return unsigned(llvm::find(yields, plan.values.getResult()) - yields.begin());
}

bool hopper::canOverlap(const RingPlan &plan) {
  unsigned output = outputOf(plan);
  APInt keys;
  if (output == plan.loop.getNumRegionIterArgs() ||
      !matchPattern(plan.loop.getUpperBound(), m_ConstantInt(&keys)) || !keys.isStrictlyPositive())
    return false;
  llvm::SetVector<Value> values;
  values.insert(plan.values.getA());
  if (plan.rowSums)
    values.insert(plan.rowSums.getC());
  for (auto [number, value] : llvm::enumerate(plan.loop.getYieldedValues()))
    if (number != output)
      values.insert(value);
  for (unsigned at = 0; at < values.size(); ++at) {
    Value value = values[at];
    if (value == plan.loop.getRegionIterArg(output) || value == plan.values.getResult())
      return false;
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == plan.loop.getBody() && !isa<TileMmaOp>(op))
      values.insert_range(op->getOperands());
  }
  return true;
}
