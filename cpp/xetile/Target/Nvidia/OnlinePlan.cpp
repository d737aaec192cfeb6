//===- OnlinePlan.cpp - find an attention in a kernel ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a kernel of workgroup-level XeTile with several products. Out: loops over keys, their scores,
// what these are multiplied with, the tiles in memory.
// Refused: other forms; tiles that wgmma, the registers or shared memory do not take.
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

bool hopper::isSplat(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat();
}

namespace {

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

/// Which product of a loop is which: scores of what is loaded before it, then of scores.
FailureOr<OnlineLoop> findRoles(scf::ForOp loop) {
  OnlineLoop online;
  online.loop = loop;
  for (auto mma : loop.getOps<TileMmaOp>()) {
    auto load = mma.getA().getDefiningOp<LoadTileOp>();
    TileMmaOp &role = load && load->getBlock() != mma->getBlock() ? online.scores
                      : isSplat(mma.getB())                       ? online.rowSums
                                                                  : online.values;
    if (role)
      return mma.emitOpError("is a further product of its kind in the kernel; expected queries * "
                             "keys, and what is computed of these scores * values");
    role = mma;
  }
  if (!online.scores || !online.values || !online.scores->isBeforeInBlock(online.values))
    return loop.emitOpError("has other products than an attention; expected queries * keys, and "
                            "what is computed of these scores * values");
  if (!online.scores.getC() || !isZero(online.scores.getC()))
    return online.scores.emitOpError("adds scores to others; expected zeros");
  if (online.rowSums && online.rowSums.getA() != online.values.getA())
    return online.rowSums.emitOpError(
        "sums other rows than those that are multiplied; expected them");
  return online;
}

/// All loops over keys, in order: each begins with what the one before gives.
LogicalResult findLoops(RingPlan &plan, gpu::GPUFuncOp kernel, ArrayRef<TileMmaOp> products) {
  llvm::SetVector<Operation *> loops;
  for (TileMmaOp mma : products) {
    if (!isa<scf::ForOp>(mma->getParentOp()))
      return mma.emitOpError("is in no loop over keys; expected one around the products of an "
                             "attention: make keys, those of a step, a divisor of all and less");
    loops.insert(mma->getParentOp());
  }
  for (Operation *op : loops) {
    auto loop = cast<scf::ForOp>(op);
    FailureOr<OnlineLoop> online = findRoles(loop);
    if (failed(online))
      return failure();
    bool goesOn = plan.online.empty() || loop.getInitArgs() == plan.online.back().loop.getResults();
    if (loop->getParentOp() != kernel || !goesOn)
      return kernel.emitOpError(
          "has several xetile.tile_mma; expected one in a loop over k, or an attention: queries * "
          "keys, and what is computed of these scores * values, in one loop over keys, or in "
          "several that go on with each other's results");
    if (!plan.online.empty() && bool(plan.online.back().rowSums) != bool(online->rowSums))
      return loop.emitOpError("sums rows by another operation than the loop before; expected the "
                              "same");
    plan.online.push_back(*online);
  }
  plan.loop = plan.online.back().loop;
  plan.mma = plan.online.back().scores;
  return success();
}

bool isSamePlace(const TilePlace &l, const TilePlace &r, const OnlineLoop &ofL,
                 const OnlineLoop &ofR) {
  auto isSame = [&](OpFoldResult one, OpFoldResult other) {
    bool isCounter = dyn_cast<Value>(one) == ofL.loop.getInductionVar() &&
                     dyn_cast<Value>(other) == ofR.loop.getInductionVar();
    return one == other || isCounter;
  };
  return l.matrix == r.matrix && l.isTransposed == r.isTransposed && l.outer == r.outer &&
         l.inner == r.inner && isSame(l.outerOffset, r.outerOffset) &&
         isSame(l.innerOffset, r.innerOffset) && llvm::equal(l.batch, r.batch);
}

/// The queries, and the keys and values of a step, which are the same in all loops.
LogicalResult findPlaces(RingPlan &plan) {
  for (const OnlineLoop &online : llvm::reverse(plan.online)) {
    Block *before = online.loop->getBlock(), *inside = online.loop.getBody();
    FailureOr<TilePlace> q = placeOfOperand(online.scores, online.scores.getA(), "queries", before);
    if (failed(q))
      return failure();
    FailureOr<TilePlace> k = placeOfOperand(online.scores, online.scores.getB(), "keys", inside);
    if (failed(k))
      return failure();
    FailureOr<TilePlace> v = placeOfOperand(online.values, online.values.getB(), "values", inside);
    if (failed(v))
      return failure();
    // Keys are columns of the one, and rows of the other.
    if (failed(checkMoves(*k, !k->isTransposed, online.loop, "keys")) ||
        failed(checkMoves(*v, v->isTransposed, online.loop, "values")))
      return failure();
    const OnlineLoop &last = plan.online.back();
    if (&online == &last) {
      plan.queries = *q;
      plan.a = *k;
      plan.b = *v;
    } else if (!isSamePlace(plan.queries, *q, last, online) ||
               !isSamePlace(plan.a, *k, last, online) || !isSamePlace(plan.b, *v, last, online)) {
      return online.loop.emitOpError("loads other tiles than the loop that goes on with its "
                                     "results; expected those of the next keys");
    }
  }
  for (const TilePlace *place : {&plan.queries, &plan.a, &plan.b})
    if (place->isPlain || plan.isAllPlain)
      return plan.mma.emitOpError("multiplies matrices whose rows are no multiples of 16 bytes "
                                  "apart; expected that of an attention's operands");
  if (plan.queries.isTransposed)
    return plan.mma.emitOpError("multiplies queries whose elements are not adjacent; expected "
                                "that");
  return success();
}

/// Registers of a thread: scores, what is multiplied of them, the output, the rest.
LogicalResult checkSizes(const RingPlan &plan) {
  auto refuse = [&]() { return plan.mma.emitOpError(); };
  TileMmaOp values = plan.online.back().values;
  auto scores = plan.mma.getResult().getType(), out = values.getResult().getType();
  int64_t m = scores.getDimSize(0), keys = scores.getDimSize(1), n = out.getDimSize(1);
  std::array<int64_t, 2> layout = layoutOf(plan.mma);
  Type input = plan.input(), power = cast<VectorType>(values.getA().getType()).getElementType();
  if ((!input.isF16() && !input.isBF16()) || power != input || !scores.getElementType().isF32())
    return refuse() << "multiplies " << input << " and then " << power
                    << "; expected f16 or bf16 in both products of an attention, and sums in f32";
  if (layout[1] != 1 || m != layout[0] * kWgmmaM)
    return refuse() << "gives " << m << " queries to " << layout[0] << " x " << layout[1]
                    << " subgroups; expected " << kWgmmaM << " for each warpgroup, in a row: "
                    << "workgroup_m = " << kWgmmaM << " * subgroups_m";
  // Keys whose elements are not adjacent have rows of keys.
  int64_t inner = plan.queries.inner, multiple = plan.a.isTransposed ? plan.wgmmaK() : 64;
  if (keys % 64 || n % 64 || inner % multiple || std::max({keys, n, inner}) > kWgmmaMaxN)
    return refuse() << "has tiles of " << keys << " keys, and elements of " << inner << " and " << n
                    << " in keys and values; expected multiples of 64, " << multiple << " and 64 "
                    << "of at most " << kWgmmaMaxN << ": the schedule's keys and workgroup_n";
  constexpr int64_t kOthers = 32;
  int64_t needed = keys / 2 + keys / 4 + n / 2 + kOthers;
  int64_t given = splitRegisters(layout[0], false).multiplying;
  int64_t all = given ? given : kThreadRegisters;
  if (needed > all)
    return refuse() << "needs " << needed << " registers of a thread for scores of " << keys
                    << " keys and values of " << n << " elements; expected at most " << all
                    << ": make keys smaller, or subgroups_m";
  return success();
}

/// That loops are steps of all keys from one to the next.
LogicalResult checkSteps(const RingPlan &plan, int64_t keys) {
  for (const OnlineLoop &online : plan.online) {
    APInt step;
    if (!matchPattern(online.loop.getStep(), m_ConstantInt(&step)) || step.getSExtValue() != keys)
      return online.loop.emitOpError("does not run in steps of ")
             << keys << ", the keys of its tiles; expected that";
  }
  return success();
}

/// How many steps ahead the ring is loaded: as prefetches say, or as was planned.
FailureOr<int64_t> findDistance(const RingPlan &plan, gpu::GPUFuncOp kernel, int64_t keys) {
  int64_t farthest = 1;
  for (const OnlineLoop &online : plan.online) {
    FailureOr<int64_t> distance = prefetchDistance(online.loop, keys);
    if (failed(distance))
      return failure();
    farthest = std::max(farthest, *distance);
  }
  if (auto ring = kernel->getAttrOfType<DictionaryAttr>(kRingAttr))
    if (auto stages = ring.getAs<IntegerAttr>("stages"))
      return stages.getInt() - 1;
  return farthest;
}

} // namespace

FailureOr<RingPlan> hopper::planOnline(gpu::GPUFuncOp kernel, ArrayRef<TileMmaOp> products) {
  RingPlan plan;
  plan.isSpecialized = true;
  auto ring = kernel->getAttrOfType<DictionaryAttr>(kRingAttr);
  if (ring) {
    auto loads = ring.getAs<StringAttr>("loads");
    plan.isAllPlain = loads && loads == "plain";
  }
  if (failed(findLoops(plan, kernel, products)))
    return failure();
  for (TileMmaOp mma : products)
    if (mma.getResult().getType().getRank() != 2)
      return mma.emitOpError("works on blocks; expected a product of workgroup tiles");
  int64_t keys = plan.mma.getResult().getType().getDimSize(1);
  plan.tiling.kStep = keys;
  if (failed(findPlaces(plan)) || failed(checkSizes(plan)) || failed(checkSteps(plan, keys)) ||
      failed(findCarried(plan)))
    return failure();
  FailureOr<int64_t> distance = findDistance(plan, kernel, keys);
  if (failed(distance))
    return failure();
  plan.tiling = {int64_t(llvm::alignTo(plan.queries.inner, plan.rowElements())),
                 plan.online.back().values.getResult().getType().getDimSize(1),
                 layoutOf(plan.mma)[0],
                 1,
                 keys,
                 *distance};
  // Prefetches are a hint; a step of an attention is long.
  while (plan.tiling.prefetch > 1 && onlineSharedBytes(plan) > kSharedBytes)
    --plan.tiling.prefetch;
  if (int64_t bytes = onlineSharedBytes(plan); bytes > kSharedBytes)
    return plan.mma.emitOpError("needs ")
           << bytes << " bytes of shared memory for queries and two steps of " << keys
           << " keys and values; expected at most " << kSharedBytes << ": make keys smaller";
  if (failed(findStores(plan, kernel)) || failed(checkOnlineValues(plan)))
    return failure();
  auto isWanted = [&](StringRef name) {
    auto given = ring ? ring.getAs<BoolAttr>(name) : BoolAttr();
    return !given || given.getValue();
  };
  plan.overlaps = isWanted("overlap") && canOverlap(plan);
  // Measured on an H200 (test/device): a gain of 0 to 4 % where a mask ends the keys of each tile,
  // a loss of 1 to 4 % elsewhere.
  bool isEnded = !getConstantIntValue(plan.loop.getUpperBound());
  bool isLazy = ring && ring.get("lazy") ? isWanted("lazy") : isEnded;
  plan.isLazy = isLazy && canBeLazy(plan);
  plan.drawsTiles = isWanted("counter");
  findUnseen(plan);
  return plan;
}

int64_t hopper::onlineSharedBytes(const RingPlan &plan) {
  // Barriers of keys and values, full and empty; two of queries; one that is over; a tile's number.
  return plan.ringBytes() + storeBytes(plan.tiling) + 32 * plan.stages() + 32;
}
