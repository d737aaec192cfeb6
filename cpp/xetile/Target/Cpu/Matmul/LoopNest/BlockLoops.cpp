//===- BlockLoops.cpp - the loops of one thread of a deep-tiled matmul ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the operands of a thread. Out: scf.for over blocks in the loop order, packed blocks, scf.for
// over innermost blocks around calls of the microkernel. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/BlockLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Epilogue.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/MicrokernelCall.h"
#include "xetile/Target/Cpu/Matmul/Packing/PackBlocks.h"

using namespace mlir;
using namespace xetile;

/// Loops carry the result, and behind it sums that are kept elsewhere and take several steps.
using Carried = SmallVector<Value>;
using Step = function_ref<Carried(Carried)>;

/// Where the sums of `block` are, of those that live as long as the loop over k.
static std::array<Index, 3> placeInSums(const ThreadNest &nest, const BlockPiece &block) {
  std::array<Index, 3> place = block.offsets;
  for (MatmulDim dim : {kM, kN, kK})
    if (nest.plan.blocks.knownAtK[dim])
      place[dim] = nest.space.zero;
  return place;
}

/// The body of a tiled loop: applies `body` to slices of `carried` and inserts the results.
static Carried onSlices(const ThreadNest &nest, const BlockPiece &block, const Carried &carried,
                        Step body) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  AffineMap resultMap = nest.plan.epilogue.resultMap;
  SmallVector<Index> offsets = nest.space.offsetsAt(block.offsets),
                     sizes = nest.space.sizesOf(block.sizes);
  Carried parts = {extractTile(b, loc, carried[0], resultMap, offsets, sizes)};
  SmallVector<Index> inSums;
  if (carried.size() > 1) {
    inSums = nest.space.offsetsAt(placeInSums(nest, block));
    parts.push_back(extractTile(b, loc, carried[1], nest.map(2), inSums, sizes));
  }
  Carried results = body(parts);
  results[0] = insertTile(b, loc, results[0], carried[0], resultMap, offsets, sizes);
  if (carried.size() > 1)
    results[1] = insertTile(b, loc, results[1], carried[1], nest.map(2), inSums, sizes);
  return results;
}

/// One call of the microkernel for `tile`, a piece of `block`, and what follows its sums.
static Carried emitTile(const ThreadNest &nest, const BlockPiece &block, const Piece &tile, Value a,
                        Value bBlock, Carried carried) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  const EpiloguePlan &plan = nest.plan.epilogue;
  bool severalSteps = nest.plan.blocks.severalSteps();
  SmallVector<Index> at = nest.space.offsetsAt(tile.offsets),
                     extent = nest.space.sizesOf(tile.sizes);
  Value sum;
  if (plan.inPlace) {
    sum = extractTile(b, loc, carried[0], plan.resultMap, at, extent);
  } else if (severalSteps) {
    sum = extractTile(b, loc, carried[1], nest.map(2), at, extent);
  } else {
    SmallVector<Index> zeros(at.size(), nest.space.zero);
    sum = extractTile(b, loc, nest.scratch.sums, nest.map(2), zeros, extent);
  }
  sum = multiplyTile(nest, block, tile, a, bBlock, sum);
  if (plan.inPlace && (!plan.finishes || severalSteps || finishesBlocks(nest.plan)))
    carried[0] = insertTile(b, loc, sum, carried[0], plan.resultMap, at, extent);
  if (plan.finishes && !finishesBlocks(nest.plan))
    carried[0] = finishInLastStep(nest, block, tile, sum, carried[0]);
  if (carried.size() > 1)
    carried[1] = insertTile(b, loc, sum, carried[1], nest.map(2), at, extent);
  return carried;
}

/// forEachTile where the last tile, of `rest`, is no whole one: it comes behind the loop, which may
/// be of whole tiles alone where a thread or block has other ones.
static Carried forEachOfTwoSizes(const ThreadNest &nest, Index extent, int64_t step, int64_t rest,
                                 ValueRange inits, TilesBody body) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  Index whole = mulIndex(b, loc, floorDivIndex(b, loc, extent, step), step);
  auto loop = [&](Index from, Index to, int64_t size, ValueRange carried) -> Carried {
    std::optional<int64_t> first = getConstantIntValue(from), last = getConstantIntValue(to);
    if (first && last && *first >= *last)
      return Carried(carried);
    if (first && last && *first + step >= *last)
      return body(from, b.getIndexAttr(size), carried);
    auto made = scf::ForOp::create(b, loc, asValue(b, loc, from), asValue(b, loc, to),
                                   arith::ConstantIndexOp::create(b, loc, step), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    scf::YieldOp::create(
        b, loc, body(made.getInductionVar(), b.getIndexAttr(size), made.getRegionIterArgs()));
    return llvm::to_vector_of<Value>(made.getResults());
  };
  Carried carried = loop(nest.space.zero, whole, step, inits);
  return loop(whole, extent, rest, carried);
}

/// Loops over the innermost blocks of m and n, in the order of those over blocks.
static Carried emitInnerLoops(const ThreadNest &nest, const BlockPiece &block,
                              const Carried &carried) {
  SmallVector<Index> offsets = nest.space.offsetsAt(block.offsets),
                     sizes = nest.space.sizesOf(block.sizes);
  auto slice = [&](unsigned operand) {
    return extractTile(nest.b, nest.loc, nest.operands.values[operand], nest.map(operand), offsets,
                       sizes);
  };
  Value a = block.packedA ? block.packedA : slice(0);
  Value bBlock = block.packedB ? block.packedB : slice(1);

  SmallVector<MatmulDim> order;
  for (MatmulDim dim : nest.plan.blocks.order)
    if (dim != kK)
      order.push_back(dim);
  Index zero = nest.space.zero;
  auto loop = [&](MatmulDim dim, const Piece &outer, ValueRange values,
                  function_ref<Carried(const Piece &, Carried)> body) {
    const BlockPlan &plan = nest.plan.blocks;
    auto step = [&](Index offset, Index size, ValueRange inner) {
      Piece tile = outer;
      tile.offsets[dim] = offset;
      tile.sizes[dim] = size;
      return body(tile, Carried(inner));
    };
    if (std::optional<int64_t> rest = plan.rest[dim])
      return forEachOfTwoSizes(nest, block.sizes[dim], plan.innermost[dim], *rest, values, step);
    return forEachTile(nest.b, nest.loc, block.sizes[dim], plan.innermost[dim], values, step);
  };
  return onSlices(nest, block, carried, [&](Carried parts) {
    Carried results =
        loop(order[0], {{zero, zero, zero}, block.sizes}, parts,
             [&](const Piece &row, const Carried &outer) {
               return loop(order[1], row, outer, [&](const Piece &tile, Carried inner) {
                 return emitTile(nest, block, tile, a, bBlock, std::move(inner));
               });
             });
    if (finishesBlocks(nest.plan))
      results[0] = finishBlock(nest, block, results[0]);
    return results;
  });
}

/// The loop over blocks at place `level` of the order, and those in it.
static Carried emitMiddleLoop(const ThreadNest &nest, unsigned level, const BlockPiece &outer,
                              Carried carried) {
  BlockPiece block = packWhereKnown(nest, outer);
  const BlockPlan &plan = nest.plan.blocks;
  if (level == plan.order.size())
    return emitInnerLoops(nest, block, carried);
  MatmulDim dim = plan.order[level];
  // Sums of several steps live as long as the loop over k.
  bool startsSums = dim == kK && nest.plan.epilogue.carriesSums(plan);
  if (startsSums) {
    Index zero = nest.space.zero;
    carried.push_back(extractTile(nest.b, nest.loc, nest.scratch.sums, nest.map(2),
                                  nest.space.offsetsAt({zero, zero, zero}),
                                  nest.space.sizesOf(block.sizes)));
  }
  auto step = [&](Index offset, Index size, ValueRange values) {
    BlockPiece next = block;
    next.offsets[dim] = offset;
    next.sizes[dim] = size;
    next.known[dim] = true;
    return emitMiddleLoop(nest, level + 1, next, Carried(values));
  };
  // Sums start in the first step of k and are finished in the last: there has to be one, although
  // a k of run-time size may leave a thread without work.
  Carried results =
      forEachTile(nest.b, nest.loc, nest.extents[dim], plan.sizes[dim], ValueRange(carried), step,
                  /*atLeastOnce=*/dim == kK && plan.mayLackK);
  if (startsSums)
    results.pop_back();
  return results;
}

Value xetile::emitBlockLoops(const ThreadNest &nest) {
  BlockPiece all;
  all.offsets.fill(nest.space.zero);
  all.sizes = nest.extents;
  all.known = nest.plan.blocks.whole;
  return emitMiddleLoop(nest, 0, all, {nest.operands.result})[0];
}
