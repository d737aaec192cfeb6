//===- ThreadLoop.cpp - the parallel loop of a deep-tiled matmul -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a contraction on tensors and its plans. Out: scf.forall over batches and threads around the
// loops of one thread, with slices of its operands. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/ThreadLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/BlockLoops.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Epilogue.h"
#include "xetile/Target/Cpu/Matmul/Packing/PackBlocks.h"

using namespace mlir;
using namespace xetile;

namespace {
/// The parallel loop's bounds, and which of them counts batches of a dimension or threads of m, n,
/// k; bounds of one leave no induction variable.
struct Bounds {
  SmallVector<Index> values;
  SmallVector<std::optional<unsigned>> batch;
  std::array<std::optional<unsigned>, 3> threads;
};

/// Where one thread is in the iteration space and in the tensor that it writes to.
struct Place {
  /// Of all dimensions, and of the one more that partial results have.
  SmallVector<Index> offsets, sizes;
  /// How the tensor is indexed, and the dimensions that a thread's result does not have.
  AffineMap map;
  SmallVector<unsigned> dropped;
};
} // namespace

static Bounds boundsOf(const DeepTilePlan &plan, const IterationSpace &space) {
  Bounds bounds;
  auto add = [&](Index bound) -> std::optional<unsigned> {
    if (getConstantIntValue(bound) == 1)
      return std::nullopt;
    bounds.values.push_back(bound);
    return bounds.values.size() - 1;
  };
  for (unsigned dim : plan.matmul.batch)
    bounds.batch.push_back(add(space.sizes[dim]));
  Builder b(plan.matmul.op->getContext());
  for (MatmulDim dim : {kM, kN, kK})
    bounds.threads[dim] = add(b.getIndexAttr(plan.threads.counts[dim]));
  return bounds;
}

/// The offset and the size of thread `id`'s part of `dim`.
static std::pair<Index, Index> partOf(OpBuilder &b, Location loc, const ThreadPlan &plan,
                                      MatmulDim dim, Index extent, Index id) {
  int64_t count = plan.counts[dim], step = plan.steps[dim], part = plan.parts[dim];
  if (count == 1)
    return {b.getIndexAttr(0), extent};
  if (!ShapedType::isDynamic(part))
    return {mulIndex(b, loc, id, part), b.getIndexAttr(part)};
  // Steps [id * blocks / count, (id + 1) * blocks / count): shares differ by one at most.
  Index blocks = ceilDivIndex(b, loc, extent, step);
  auto share = [&](Index number) -> Index {
    Value product = arith::MulIOp::create(b, loc, asValue(b, loc, number), asValue(b, loc, blocks));
    Index first = floorDivIndex(b, loc, product, count);
    return minIndex(b, loc, mulIndex(b, loc, first, step), extent);
  };
  Index low = share(id), high = share(addIndex(b, loc, id, b.getIndexAttr(1)));
  return {low, subIndex(b, loc, high, low)};
}

static Place placeOf(OpBuilder &b, const DeepTilePlan &plan, const IterationSpace &space,
                     const Bounds &bounds, ValueRange ids) {
  const Contraction &matmul = plan.matmul;
  auto idOf = [&](std::optional<unsigned> number) {
    return number ? Index(ids[*number]) : space.zero;
  };
  unsigned dims = space.sizes.size();
  Place place;
  place.offsets.assign(dims, space.zero);
  place.sizes = space.sizes;
  for (auto [dim, number] : llvm::zip_equal(matmul.batch, bounds.batch)) {
    place.offsets[dim] = idOf(number);
    place.sizes[dim] = space.one;
  }
  for (MatmulDim dim : {kM, kN, kK}) {
    unsigned tiled = matmul.tiled(dim);
    std::tie(place.offsets[tiled], place.sizes[tiled]) = partOf(
        b, matmul.op.getLoc(), plan.threads, dim, space.sizes[tiled], idOf(bounds.threads[dim]));
  }
  place.map = plan.epilogue.destination.map;
  place.dropped = SmallVector<unsigned>(matmul.batch);
  if (!plan.threads.splitsK())
    return place;
  // The partial results' leading dimension is one more batch dimension, of C alone.
  place.offsets.push_back(idOf(bounds.threads[kK]));
  place.sizes.push_back(space.one);
  SmallVector<AffineExpr> results = {b.getAffineDimExpr(dims)};
  llvm::append_range(results, place.map.getResults());
  place.map = AffineMap::get(dims + 1, 0, results, b.getContext());
  place.dropped.push_back(dims);
  return place;
}

/// Slices of what a thread reads and of `into`.
static ThreadOperands sliceOperands(OpBuilder &b, const DeepTilePlan &plan, const Place &place,
                                    Value into) {
  const Contraction &matmul = plan.matmul;
  Location loc = matmul.op.getLoc();
  auto slice = [&](Value source, AffineMap map) -> IndexedValue {
    if (isa<RankedTensorType>(source.getType()))
      source = extractTile(b, loc, source, map, place.offsets, place.sizes, matmul.batch);
    return {source, matmul.dropBatch(map)};
  };
  ThreadOperands operands;
  for (unsigned number : {0, 1}) {
    linalg::GenericOp producer = plan.fusion.producers[number];
    if (!producer) {
      operands.values[number] = slice(matmul.op->getOperand(number), matmul.map(number)).value;
      continue;
    }
    AffineMap fromResult =
        inversePermutation(producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)))
            .compose(matmul.map(number));
    for (OpOperand *input : producer.getDpsInputOperands())
      operands.produced[number].push_back(
          slice(input->get(), producer.getMatchingIndexingMap(input).compose(fromResult)));
  }
  operands.result = extractTile(b, loc, into, place.map, place.offsets, place.sizes, place.dropped);
  for (const IndexedValue &input : plan.epilogue.inputs)
    operands.epilogue.push_back(slice(input.value, input.map));
  return operands;
}

static Value emitThread(RewriterBase &b, const DeepTilePlan &plan, const IterationSpace &space,
                        const PackedConstants &constants, const Place &place, Value into) {
  Location loc = plan.matmul.op.getLoc();
  std::array<Index, 3> offsets, extents;
  for (MatmulDim dim : {kM, kN, kK}) {
    offsets[dim] = place.offsets[plan.matmul.tiled(dim)];
    extents[dim] = place.sizes[plan.matmul.tiled(dim)];
  }
  ThreadOperands operands = sliceOperands(b, plan, place, into);
  Scratch scratch = createPackScratch(b, loc, plan);
  scratch.sums = createSumScratch(b, loc, plan, space, extents);
  const ThreadNest nest = {b, loc, plan, space, constants, offsets, extents, operands, scratch};
  return emitBlockLoops(nest);
}

Value xetile::emitThreadLoop(RewriterBase &b, const DeepTilePlan &plan, const IterationSpace &space,
                             const PackedConstants &constants, Value into) {
  Location loc = plan.matmul.op.getLoc();
  Bounds bounds = boundsOf(plan, space);
  if (bounds.values.empty()) {
    Place place = placeOf(b, plan, space, bounds, {});
    Value tile = emitThread(b, plan, space, constants, place, into);
    return insertTile(b, loc, tile, into, place.map, place.offsets, place.sizes);
  }
  auto forall = scf::ForallOp::create(b, loc, bounds.values, ValueRange(into), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  Value shared = forall.getRegionIterArgs()[0];
  Place place = placeOf(b, plan, space, bounds, forall.getInductionVars());
  Value tile = emitThread(b, plan, space, constants, place, shared);
  SmallVector<Index> at, extent, strides(place.map.getNumResults(), space.one);
  for (AffineExpr expr : place.map.getResults()) {
    at.push_back(place.offsets[cast<AffineDimExpr>(expr).getPosition()]);
    extent.push_back(place.sizes[cast<AffineDimExpr>(expr).getPosition()]);
  }
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, tile, shared, at, extent, strides);
  return forall.getResult(0);
}
