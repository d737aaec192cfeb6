//===- RingPlan.cpp - find what a kernel multiplies ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a kernel of workgroup-level XeTile. Out: its k loop, its tiles in memory, its stores.
// Refused: kernels of another form; tiles of memory that the kernel does not take as argument.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/RingPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/Hopper.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

namespace {

/// The loop over k, which is the only one, with the only product.
FailureOr<TileMmaOp> findProduct(gpu::GPUFuncOp kernel) {
  TileMmaOp found;
  bool isOnly = true;
  kernel.walk([&](TileMmaOp mma) {
    isOnly &= !found;
    found = mma;
  });
  auto loop = found ? dyn_cast<scf::ForOp>(found->getParentOp()) : scf::ForOp();
  if (!found || !isOnly)
    return kernel.emitOpError("has ") << (found ? "several xetile.tile_mma" : "no xetile.tile_mma")
                                      << "; expected one, in a loop over k: " << kChip
                                      << " takes matmuls, each as a kernel of its own";
  if (!loop || loop->getParentOp() != kernel)
    return found.emitOpError("is in no loop of the kernel; expected a loop over k around it, "
                             "k_step of the schedule");
  return found;
}

LogicalResult checkLoop(scf::ForOp loop, TileMmaOp mma, int64_t k) {
  bool carriesSums = loop.getNumRegionIterArgs() == 1 && mma.getC() == loop.getRegionIterArg(0) &&
                     loop.getYieldedValues()[0] == mma.getResult();
  if (!carriesSums)
    return loop.emitOpError("carries other values than the sums of its xetile.tile_mma; expected "
                            "these alone");
  APInt lower, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) || !lower.isZero() ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || step.getSExtValue() != k)
    return loop.emitOpError("does not run from 0 in steps of ")
           << k << ", the k of its tiles; expected that";
  return success();
}

} // namespace

FailureOr<TilePlace> hopper::placeOfOperand(TileMmaOp mma, Value operand, StringRef name,
                                            Block *beside) {
  auto load = operand.getDefiningOp<LoadTileOp>();
  if (!load || load->getBlock() != beside)
    return mma.emitOpError("multiplies a value of ")
           << name << " that is no tile loaded in the loop; expected a load: what is computed of A "
           << "and B before the product has to be a kernel of its own";
  if (!load.hasZeroPadding())
    return load.emitOpError("pads with another number than zero, which TMA does not do; expected "
                            "no padding");
  return placeOfTile(load, load.getTile());
}

LogicalResult hopper::checkMoves(const TilePlace &place, bool kIsInner, scf::ForOp loop,
                                 StringRef name) {
  OpFoldResult alongK = kIsInner ? place.innerOffset : place.outerOffset;
  OpFoldResult other = kIsInner ? place.outerOffset : place.innerOffset;
  auto isInvariant = [&](OpFoldResult offset) {
    auto value = dyn_cast<Value>(offset);
    return !value || loop.isDefinedOutsideOfLoop(value);
  };
  if (dyn_cast<Value>(alongK) != loop.getInductionVar() || !isInvariant(other))
    return loop.emitOpError("loads a tile of ")
           << name << " at another place than its counter; expected the counter as offset along k, "
           << "and an offset that does not change along the other side";
  return success();
}

namespace {

/// True if an offset of a tile is known to be a multiple.
bool isMultipleOf(OpFoldResult offset, int64_t of, const RingPlan &plan) {
  if (std::optional<int64_t> known = getConstantIntValue(offset))
    return *known % of == 0;
  auto value = cast<Value>(offset);
  if (value == plan.loop.getInductionVar())
    return plan.tiling.kStep % of == 0;
  auto product = value.getDefiningOp<arith::MulIOp>();
  APInt factor;
  return product && matchPattern(product.getRhs(), m_ConstantInt(&factor)) &&
         factor.getSExtValue() % of == 0;
}

/// The most bytes, a power of 2, that rows and their ends are multiples of.
int64_t unitOf(const TilePlace &place, int64_t bytes, const RingPlan &plan) {
  if (place.isSwapped)
    return bytes;
  SmallVector<int64_t> strides, own;
  int64_t offset;
  auto type = cast<MemRefType>(place.source.getType());
  auto argument = cast<MemRefType>(place.matrix.getType());
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      failed(argument.getStridesAndOffset(own, offset)))
    return bytes;
  SmallVector<int64_t> numbers(own.begin(), own.end() - 1);
  numbers.append({strides[0], type.getDimSize(1), offset});
  if (llvm::any_of(numbers, ShapedType::isDynamic))
    return bytes;
  int64_t unit = 16;
  auto divides = [&](int64_t number) { return number * bytes % unit == 0; };
  while (unit > bytes &&
         (!llvm::all_of(numbers, divides) || !isMultipleOf(place.innerOffset, unit / bytes, plan)))
    unit /= 2;
  return unit;
}

/// wgmma reads elements of 2 bytes in either order, others along k only: what is adjacent along the
/// other side is swapped on its way. Threads that split f32 read any order.
void chooseLoads(RingPlan &plan) {
  auto choose = [&](TilePlace &place, bool isAlongK) {
    place.isSwapped = plan.inputBytes() != 2 && !isAlongK && !plan.isSplit();
    place.isPlain |= place.isSwapped || plan.isAllPlain;
    if (place.isPlain)
      place.unitBytes = place.window ? unitOfWindow(*place.window, isAlongK)
                                     : unitOf(place, plan.inputBytes(), plan);
  };
  choose(plan.a, !plan.a.isTransposed);
  choose(plan.b, plan.b.isTransposed);
}

} // namespace

FailureOr<int64_t> hopper::prefetchDistance(scf::ForOp loop, int64_t k) {
  int64_t distance = 0;
  for (auto prefetch : loop.getOps<PrefetchTileOp>()) {
    auto tile = prefetch.getTile().getDefiningOp<InitTileOp>();
    int64_t ahead = 0;
    if (tile)
      for (OpFoldResult offset : tile.getMixedOffsets()) {
        auto value = dyn_cast<Value>(offset);
        auto sum = value ? value.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
        APInt by;
        if (sum && sum.getLhs() == loop.getInductionVar() &&
            matchPattern(sum.getRhs(), m_ConstantInt(&by)))
          ahead = by.getSExtValue();
      }
    if (ahead <= 0 || ahead % k || (distance && distance != ahead))
      return prefetch.emitOpError("is no whole number of steps ahead of the loop, or another one "
                                  "than the other prefetches; expected counter + distance * ")
             << k;
    distance = ahead;
  }
  return distance / k;
}

LogicalResult hopper::findStores(RingPlan &plan, gpu::GPUFuncOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<StoreTileOp>(op)) {
      if (store->getBlock() != plan.loop->getBlock() || !plan.loop->isBeforeInBlock(store)) {
        store.emitOpError("is not behind the loop over k; expected that");
        return WalkResult::interrupt();
      }
      plan.stores.push_back(store);
      return WalkResult::advance();
    }
    // Other accesses to memory have no lowering.
    bool isKnown = isa<LoadTileOp, PrefetchTileOp, InitTileOp, TileMmaOp, TileBroadcastOp>(op) ||
                   (plan.isOnline() && isa<TileReduceOp>(op)) ||
                   op->getDialect()->getNamespace() != "xetile";
    if (!isKnown) {
      op->emitOpError("has no lowering for ") << kChip << ": expected matmuls with elementwise "
                                              << "operations behind them";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (plan.stores.empty())
    return kernel.emitOpError("stores nothing; expected xetile.store_tile behind the loop");
  for (StoreTileOp store : plan.stores) {
    FailureOr<TilePlace> place = placeOfTile(store, store.getTile());
    if (failed(place))
      return failure();
    Type type = cast<VectorType>(store.getValue().getType()).getElementType();
    if (place->isTransposed)
      return store.emitOpError("stores to a matrix of order [0, 1]; expected one whose rows are "
                               "contiguous");
    if (!isStored(type))
      return store.emitOpError("stores ")
             << type << "; expected f32, f16, bf16 or i32 on " << kChip;
  }
  return success();
}

namespace {

LogicalResult checkStores(RingPlan &plan, gpu::GPUFuncOp kernel) {
  if (failed(findStores(plan, kernel)))
    return failure();
  for (StoreTileOp store : plan.stores)
    if (failed(checkFragment(plan, store.getValue())))
      return failure();
  return success();
}

} // namespace

bool hopper::describesSource(InitTileOp init) {
  auto belongs = [&](OpFoldResult part) {
    auto value = dyn_cast<Value>(part);
    if (!value)
      return true;
    if (auto facts = value.getDefiningOp<memref::ExtractStridedMetadataOp>())
      return facts.getSource() == init.getSource();
    auto dim = value.getDefiningOp<memref::DimOp>();
    return dim && dim.getSource() == init.getSource();
  };
  return llvm::all_of(init.getMixedBaseShape(), belongs) &&
         llvm::all_of(init.getMixedBaseStrides(), belongs);
}

namespace {

/// False if TMA does not take rows, or matrices, as far apart as these. Sizes of a run are checked
/// then.
bool takesTma(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset, bytes = type.getElementTypeBitWidth() / 8;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return true;
  auto isMultiple = [&](int64_t number) {
    return ShapedType::isDynamic(number) || number * bytes % 16 == 0;
  };
  return llvm::all_of(ArrayRef<int64_t>(strides).drop_back(), isMultiple) && isMultiple(offset);
}

/// Which dimension of an array has the rows of one of its matrices, all of whose elements `view`
/// has; the columns are the innermost.
std::optional<int64_t> rowsInBatch(memref::SubViewOp view) {
  MemRefType from = view.getSourceType(), to = view.getType();
  int64_t last = from.getRank() - 1;
  if (last < 2 || to.getRank() != 2 || !view.hasUnitStride())
    return std::nullopt;
  SmallVector<OpFoldResult> offsets = view.getMixedOffsets(), sizes = view.getMixedSizes();
  auto isWhole = [&](int64_t dim) {
    if (!isConstantIntValue(offsets[dim], 0))
      return false;
    if (std::optional<int64_t> size = getConstantIntValue(sizes[dim]))
      return *size == from.getDimSize(dim);
    auto value = cast<Value>(sizes[dim]);
    if (auto facts = value.getDefiningOp<memref::ExtractStridedMetadataOp>())
      return facts.getSource() == view.getSource() && value == facts.getSizes()[dim];
    auto size = value.getDefiningOp<memref::DimOp>();
    return size && size.getSource() == view.getSource() && size.getConstantIndex() == dim;
  };
  if (!isWhole(last) || view.getDroppedDims().test(unsigned(last)))
    return std::nullopt;
  // Rows are what is left beside columns.
  std::optional<int64_t> rows;
  for (int64_t dim = 0; dim < last; ++dim)
    if (!view.getDroppedDims().test(unsigned(dim)))
      rows = dim;
  return rows && isWhole(*rows) ? rows : std::nullopt;
}

/// Of a view without dimensions of one element: the memory that has them, as dimensions of a batch.
void addUnitDimensions(TilePlace &place, Value &source) {
  auto collapse = source.getDefiningOp<memref::CollapseShapeOp>();
  if (!collapse)
    return;
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  int64_t last = int64_t(collapse.getResultType().getRank()) - 1, rows = last - place.outerDim;
  // Places of all dimensions but the innermost; none for rows.
  SmallVector<std::optional<OpFoldResult>> places;
  size_t next = 0;
  for (auto [number, group] : llvm::enumerate(collapse.getReassociationIndices())) {
    SmallVector<int64_t> live;
    for (int64_t dim : group)
      if (shape[dim] != 1)
        live.push_back(dim);
    // Of one element alone any may be it; of several live ones the places are quotients.
    if (live.size() > 1 || (int64_t(number) == last && group.size() > 1))
      return;
    int64_t at = live.empty() ? group.back() : live.front();
    if (int64_t(number) == last)
      continue;
    std::optional<OpFoldResult> own;
    if (int64_t(number) != rows)
      own = place.batch[next++];
    for (int64_t dim : group)
      places.push_back(dim == at ? own : OpFoldResult(Builder(collapse).getIndexAttr(0)));
  }
  place.batch.clear();
  for (auto [dim, each] : llvm::enumerate(places)) {
    if (each)
      place.batch.push_back(*each);
    else
      place.outerDim = int64_t(places.size()) - int64_t(dim);
  }
  source = collapse.getSrc();
}

} // namespace

FailureOr<TilePlace> hopper::placeOfTile(Operation *user, Value tile) {
  auto init = tile.getDefiningOp<InitTileOp>();
  if (!init)
    return user->emitOpError("accesses a tile that no xetile.init_tile beside it describes; "
                             "expected one");
  Value source = init.getSource();
  TilePlace place;
  while (auto transpose = source.getDefiningOp<memref::TransposeOp>()) {
    source = transpose.getIn();
    place.isTransposed = !place.isTransposed;
  }
  auto type = dyn_cast<MemRefType>(source.getType());
  auto view = source.getDefiningOp<memref::SubViewOp>();
  if (std::optional<int64_t> rows = view ? rowsInBatch(view) : std::nullopt) {
    source = view.getSource();
    place.batch = view.getMixedOffsets();
    place.outerDim = int64_t(place.batch.size()) - 1 - *rows;
    place.batch.pop_back();
    place.batch.erase(place.batch.begin() + *rows);
  }
  addUnitDimensions(place, source);
  auto argument = dyn_cast<BlockArgument>(source);
  int64_t rank = 2 + int64_t(place.batch.size());
  if (!argument || !type || type.getRank() != 2 || rank > kMaxMapRank ||
      cast<MemRefType>(argument.getType()).getRank() != rank ||
      !isa<gpu::GPUFuncOp>(argument.getOwner()->getParentOp()))
    return user->emitOpError("accesses a tile of ")
           << source.getType() << " that is no matrix among the kernel's arguments; expected a "
           << "memref of two dimensions, or of up to " << kMaxMapRank << " with the outer ones as "
           << "a batch, which TMA can describe";
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides[1] != 1) {
    // A memref of columns is one of rows, transposed.
    if (strides.size() != 2 || strides[0] != 1)
      return user->emitOpError("accesses ")
             << type << ", whose rows and columns are strided; expected contiguous rows";
    return user->emitOpError("accesses ")
           << type << ": expected a row-major argument, transposed by memref.transpose";
  }
  if (!describesSource(init))
    return user->emitOpError("accesses a part of ")
           << type << " that it describes itself; expected the sizes and strides of the memref";
  auto tileType = cast<TileType>(tile.getType());
  if (tileType.isColumnMajor() != place.isTransposed)
    return user->emitOpError("accesses a tile of an order other than its matrix; expected both "
                             "alike");
  SmallVector<OpFoldResult> offsets = init.getMixedOffsets();
  unsigned inner = place.isTransposed ? 0 : 1;
  place.matrix = argument;
  place.source = init.getSource();
  while (auto transpose = place.source.getDefiningOp<memref::TransposeOp>())
    place.source = transpose.getIn();
  place.isPlain = !takesTma(cast<MemRefType>(argument.getType()));
  place.inner = tileType.getShape()[inner];
  place.outer = tileType.getShape()[1 - inner];
  place.innerOffset = offsets[inner];
  place.outerOffset = offsets[1 - inner];
  return place;
}

FailureOr<RingPlan> hopper::planRing(gpu::GPUFuncOp kernel) {
  SmallVector<TileMmaOp> products;
  kernel.walk([&](TileMmaOp mma) { products.push_back(mma); });
  if (products.size() > 1)
    return planOnline(kernel, products);
  FailureOr<TileMmaOp> mma = findProduct(kernel);
  if (failed(mma))
    return failure();
  RingPlan plan;
  plan.mma = *mma;
  plan.loop = cast<scf::ForOp>((*mma)->getParentOp());
  auto aType = cast<VectorType>(mma->getA().getType()), dType = mma->getResult().getType();
  if (aType.getRank() != 2 || !mma->getWgMap())
    return mma->emitOpError("has no wg_map or works on blocks; expected a product of workgroup "
                            "tiles");
  ArrayRef<int64_t> layout = mma->getWgMap()->getSgLayout();
  int64_t k = aType.getDimSize(1);
  FailureOr<int64_t> distance = prefetchDistance(plan.loop, k);
  if (failed(distance) || failed(checkLoop(plan.loop, *mma, k)))
    return failure();
  if (auto ring = kernel->getAttrOfType<DictionaryAttr>(kRingAttr)) {
    if (auto stages = ring.getAs<IntegerAttr>("stages"))
      distance = stages.getInt() - 1;
    auto pipeline = ring.getAs<StringAttr>("pipeline");
    plan.isSpecialized = pipeline && pipeline == "specialized";
    auto loads = ring.getAs<StringAttr>("loads");
    plan.isAllPlain = loads && loads == "plain";
  }
  auto sums = cast<VectorType>(dType);
  plan.tiling = {sums.getDimSize(0), sums.getDimSize(1), layout[0], layout[1], k, *distance};
  Problem why = checkTiling(plan.tiling, aType.getElementType(), sums.getElementType());
  if (!why && plan.isSplit())
    why = checkSplit(plan.tiling);
  if (why)
    return mma->emitOpError() << *why;
  if (mma->getB() &&
      cast<VectorType>(mma->getB().getType()).getElementType() != aType.getElementType())
    return mma->emitOpError("multiplies two types; expected one");
  FailureOr<TilePlace> a = placeOfOperand(*mma, mma->getA(), "A", (*mma)->getBlock());
  if (failed(a))
    return failure();
  FailureOr<TilePlace> b = placeOfOperand(*mma, mma->getB(), "B", (*mma)->getBlock());
  if (failed(b))
    return failure();
  plan.a = *a;
  plan.b = *b;
  if (failed(takeWindow(plan, kernel)))
    return failure();
  chooseLoads(plan);
  if (failed(checkMoves(plan.a, !plan.a.isTransposed, plan.loop, "A")) ||
      failed(checkMoves(plan.b, plan.b.isTransposed, plan.loop, "B")) ||
      failed(checkFragment(plan, plan.loop.getInitArgs()[0])) || failed(checkStores(plan, kernel)))
    return failure();
  return plan;
}

/// That one operation's pairs follow from those of its operands. Emits an error otherwise.
static LogicalResult checkPair(const RingPlan &plan, Value value, bool &isLeaf) {
  Operation *op = value.getDefiningOp();
  auto refuse = [&]() -> InFlightDiagnostic {
    return op ? op->emitOpError() : emitError(value.getLoc());
  };
  auto type = cast<VectorType>(value.getType());
  int64_t m = plan.tiling.workgroupM, n = plan.tiling.workgroupN;
  if (!op || type.getRank() != 2 || (type.getDimSize(0) != m && type.getDimSize(0) != 1) ||
      (type.getDimSize(1) != n && type.getDimSize(1) != 1))
    return refuse() << "gives " << type << " to the results of the product; expected vectors of "
                    << m << " x " << n << ", or of 1 along a side, on " << kChip;
  isLeaf = true;
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    if (constant.isSplat())
      return success();
    return refuse() << "has different elements; expected the same in all";
  }
  if (auto load = dyn_cast<LoadTileOp>(op)) {
    auto init = load.getTile().getDefiningOp<InitTileOp>();
    if (init && isa<MemRefType>(init.getSource().getType()) && load.hasZeroPadding() &&
        load->getParentOp() == plan.loop->getParentOp())
      return success();
    return refuse() << "loads from elsewhere than a memref, or in a loop; expected a memref that "
                    << "is there behind the loop over k";
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    if (!isa<VectorType>(broadcast.getSource().getType()))
      return success();
  isLeaf = false;
  if (!isa<TileBroadcastOp>(op) && !(OpTrait::hasElementwiseMappableTraits(op) &&
                                     op->getNumResults() == 1 && op->getNumRegions() == 0))
    return refuse() << "needs values of other threads, or several; expected elementwise operations "
                    << "and broadcasts behind a matmul on " << kChip;
  return success();
}

LogicalResult hopper::checkFragment(const RingPlan &plan, Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (unsigned at = 0; at < values.size(); ++at) {
    Value next = values[at];
    if (next == plan.loop.getResult(0) || !isa<VectorType>(next.getType()))
      continue;
    bool isLeaf = false;
    if (failed(checkPair(plan, next, isLeaf)))
      return failure();
    if (!isLeaf)
      values.insert_range(next.getDefiningOp()->getOperands());
  }
  return success();
}
