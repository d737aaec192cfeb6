//===- Epilogue.cpp - what follows a complete sum ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tiles of sums in the last step of k. Out: linalg.generic on the tile: the accumulator added,
// the cast, the consumer. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"

using namespace mlir;
using namespace xetile;

Value xetile::createSumScratch(OpBuilder &b, Location loc, const DeepTilePlan &plan,
                               const IterationSpace &space, const std::array<Index, 3> &extents) {
  if (plan.epilogue.inPlace)
    return {};
  std::array<Index, 3> limited = extents;
  for (MatmulDim dim : {kM, kN})
    if (std::optional<int64_t> limit = plan.epilogue.sumLimits[dim])
      limited[dim] = b.getIndexAttr(*limit);
  SmallVector<Index> sizes = space.sizesOf(limited), shape;
  for (AffineExpr expr : plan.threads.maps[2].getResults())
    shape.push_back(sizes[cast<AffineDimExpr>(expr).getPosition()]);
  return tensor::EmptyOp::create(b, loc, shape, plan.epilogue.sumType);
}

/// Clones the consumer's body for an `element` of the matmul's result; `rest` are elements of its
/// other inputs, `out` is that of its output.
static Value cloneConsumer(OpBuilder &b, linalg::GenericOp consumer, Value matmul, Value element,
                           ValueRange rest, Value out) {
  IRMapping map;
  for (OpOperand *input : consumer.getDpsInputOperands()) {
    BlockArgument argument = consumer.getMatchingBlockArgument(input);
    if (input->get() == matmul) {
      map.map(argument, element);
      continue;
    }
    map.map(argument, rest.front());
    rest = rest.drop_front();
  }
  map.map(consumer.getBody()->getArguments().back(), out);
  for (Operation &op : consumer.getBody()->without_terminator())
    b.clone(op, map);
  return map.lookupOrDefault(consumer.getBody()->getTerminator()->getOperand(0));
}

/// Work on a complete sum, written to `into`; `at` are offsets in the thread's part.
static Value finish(const ThreadNest &nest, Value sum, Value into, const Piece &at) {
  OpBuilder &b = nest.b;
  const EpiloguePlan &plan = nest.plan.epilogue;
  SmallVector<Index> offsets = nest.space.offsetsAt(at.offsets),
                     sizes = nest.space.sizesOf(at.sizes);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  if (!plan.inPlace) {
    inputs.push_back(sum);
    maps.push_back(nest.map(2));
  }
  for (const IndexedValue &input : nest.operands.epilogue) {
    bool isTensor = isa<RankedTensorType>(input.value.getType());
    inputs.push_back(isTensor ? extractTile(b, nest.loc, input.value, input.map, offsets, sizes)
                              : input.value);
    maps.push_back(input.map);
  }
  maps.push_back(plan.resultMap);
  // Batch dimensions are gone from the tiles, those of k from the sums.
  llvm::SmallBitVector unused(sizes.size(), true);
  for (AffineExpr expr : plan.resultMap.getResults())
    unused.reset(cast<AffineDimExpr>(expr).getPosition());
  for (AffineMap &map : maps)
    map = compressDims(map, unused);
  SmallVector<utils::IteratorType> iterators(maps[0].getNumDims(), utils::IteratorType::parallel);
  auto work = linalg::GenericOp::create(
      b, nest.loc, TypeRange(into.getType()), inputs, ValueRange(into), maps, iterators,
      [&](OpBuilder &builder, Location where, ValueRange args) {
        ValueRange rest = plan.inPlace ? args : args.drop_front();
        Value value = plan.inPlace ? args.back() : args.front();
        if (plan.addsAccumulator) {
          Value start = plan.consumer ? rest.front() : args.back();
          if (plan.consumer)
            rest = rest.drop_front();
          start = extendElement(builder, where, start, value.getType(), false);
          value = addElements(builder, where, start, value);
        }
        value = narrowElement(builder, where, value, plan.elementType);
        if (plan.consumer)
          value = cloneConsumer(builder, plan.consumer, nest.plan.matmul.op->getResult(0), value,
                                rest, args.back());
        linalg::YieldOp::create(builder, where, value);
      });
  return work.getResult(0);
}

/// A microkernel whose vectors run along k leaves tiles a few elements wide, of which functions on
/// vectors would use a few lanes. What is in place and complete waits for the whole block.
bool xetile::finishesBlocks(const DeepTilePlan &plan) {
  constexpr int64_t kLanes = 16;
  const EpiloguePlan &epilogue = plan.epilogue;
  if (!epilogue.finishes || !epilogue.inPlace || plan.blocks.severalSteps())
    return false;
  auto inner = cast<AffineDimExpr>(epilogue.resultMap.getResults().back());
  for (MatmulDim dim : {kM, kN})
    if (plan.matmul.tiled(dim) == inner.getPosition() && plan.matmul.roles[dim].size() == 1)
      return plan.blocks.innermost[dim] < std::min(kLanes, plan.blocks.sizes[dim]);
  return false;
}

Value xetile::finishBlock(const ThreadNest &nest, const BlockPiece &block, Value result) {
  return finish(nest, {}, result, {block.offsets, block.sizes});
}

Value xetile::finishInLastStep(const ThreadNest &nest, const BlockPiece &block, const Piece &tile,
                               Value sum, Value result) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  bool inPlace = nest.plan.epilogue.inPlace;
  SmallVector<Index> inBlock = nest.space.offsetsAt(tile.offsets),
                     sizes = nest.space.sizesOf(tile.sizes);
  Piece at = {block.offsets, tile.sizes};
  for (MatmulDim dim : {kM, kN})
    at.offsets[dim] = addIndex(b, loc, block.offsets[dim], tile.offsets[dim]);
  AffineMap map = nest.plan.epilogue.resultMap;
  auto put = [&](Value whole, Value into) {
    Value done = finish(nest, inPlace ? into : sum, into, at);
    return insertTile(b, loc, done, whole, map, inBlock, sizes);
  };
  auto take = [&](Value whole) { return extractTile(b, loc, whole, map, inBlock, sizes); };
  if (!nest.plan.blocks.severalSteps())
    return put(result, inPlace ? sum : take(result));
  // A loop of one step or none, as bufferization sees that it updates what it carries in place.
  // Branches that hand on the result of other branches it would copy.
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = asValue(b, loc, addIndex(b, loc, block.offsets[kK], block.sizes[kK]));
  Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, end,
                                     asValue(b, loc, nest.extents[kK]));
  Value times = arith::SelectOp::create(b, loc, last, one, zero);
  auto loop = scf::ForOp::create(b, loc, zero, times, one, ValueRange(result));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value carried = loop.getRegionIterArg(0);
  scf::YieldOp::create(b, loc, put(carried, take(carried)));
  return loop.getResult(0);
}
