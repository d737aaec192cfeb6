//===- Epilogue.cpp - what follows a complete sum ----------------------------===//
// In: tiles of sums in the last step of k. Out: linalg.generic on the tile: the accumulator added,
// the cast, the consumer. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/Target/Cpu/LoopNest/DeepTiler.h"

using namespace mlir;
using namespace xetile;

void DeepTiler::planEpilogue(const std::array<bool, 3> &known) {
  Type cElement = matmul.elementType(2);
  auto resultType = cast<RankedTensorType>(thread.result.value.getType());
  if (!consumer)
    cElement = resultType.getElementType(); // f32 for the partial results of K threads
  // Sums that go through memory between steps of k stay in f32 there and are rounded once.
  sumType = isLowPrecision(cElement) && severalSteps ? Type(b.getF32Type()) : cElement;
  finishes = consumer || sumType != cElement;
  inPlace = true;
  if (!finishes)
    return;
  addsStart = !initial;
  if (!initial)
    initial = cast<TypedAttr>(b.getZeroAttr(sumType));
  else if (auto value = dyn_cast<FloatAttr>(initial); value && value.getType() != sumType)
    initial = b.getF32FloatAttr(value.getValueAsDouble());
  bool readsResult =
      consumer && consumer.payloadUsesValueFromOperand(consumer.getDpsInitOperand(0));
  inPlace =
      resultType.getElementType() == sumType && thread.result.map == thread.maps[2] && !readsResult;
  if (inPlace)
    return;
  // One tile, or, between steps of k, all that the loop over k goes through.
  std::array<Index, 3> extents = threadExtents;
  bool insideK = !severalSteps;
  for (MatmulDim dim : config.middleLoops()) {
    insideK |= dim == kK;
    if (dim == kK)
      continue;
    int64_t most = severalSteps ? blockSteps(dim) : innerSteps[dim];
    std::optional<int64_t> extent = getConstantIntValue(extents[dim]);
    bool blockOnly = !severalSteps || !insideK || known[dim];
    if (blockOnly && (!extent || *extent > most))
      extents[dim] = b.getIndexAttr(most);
  }
  SmallVector<Index> sizes = full(extents, false), shape;
  for (AffineExpr expr : thread.maps[2].getResults())
    shape.push_back(sizes[cast<AffineDimExpr>(expr).getPosition()]);
  sumScratch = tensor::EmptyOp::create(b, loc, shape, sumType);
}

std::array<Index, 3> DeepTiler::placeInSums(const Tile &block) const {
  std::array<Index, 3> place = block.offsets;
  for (MatmulDim dim : {kM, kN, kK})
    if (knownAtStart[dim])
      place[dim] = b.getIndexAttr(0);
  return place;
}

Value DeepTiler::finishInLastStep(const Tile &block, const Tile &tile, Value sum, Value carried) {
  SmallVector<Index> inBlock = full(tile.offsets, true), sizes = full(tile.sizes, false);
  std::array<Index, 3> at = block.offsets;
  for (MatmulDim dim : {kM, kN})
    at[dim] = addIndex(b, loc, block.offsets[dim], tile.offsets[dim]);
  auto put = [&](Value result, Value into) {
    Value done = finish(inPlace ? into : sum, into, at, tile.sizes);
    return insertTile(b, loc, done, result, thread.result.map, inBlock, sizes);
  };
  auto take = [&](Value result) {
    return extractTile(b, loc, result, thread.result.map, inBlock, sizes);
  };
  if (!severalSteps)
    return put(carried, inPlace ? sum : take(carried));
  // A loop of one step or none, as bufferization sees that it updates what it carries in place.
  // Branches that hand on the result of other branches it would copy.
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = asValue(b, loc, addIndex(b, loc, block.offsets[kK], block.sizes[kK]));
  Value last = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, end,
                                     asValue(b, loc, threadExtents[kK]));
  Value times = arith::SelectOp::create(b, loc, last, one, zero);
  auto loop = scf::ForOp::create(b, loc, zero, times, one, ValueRange(carried));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value result = loop.getRegionIterArg(0);
  scf::YieldOp::create(b, loc, put(result, take(result)));
  return loop.getResult(0);
}

Value DeepTiler::finish(Value sum, Value into, const std::array<Index, 3> &at,
                        const std::array<Index, 3> &tileSizes) {
  SmallVector<Index> offsets = full(at, true), sizes = full(tileSizes, false);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  if (!inPlace) {
    inputs.push_back(sum);
    maps.push_back(thread.maps[2]);
  }
  for (const Input &input : thread.epilogue) {
    bool isTensor = isa<RankedTensorType>(input.value.getType());
    inputs.push_back(isTensor ? extractTile(b, loc, input.value, input.map, offsets, sizes)
                              : input.value);
    maps.push_back(input.map);
  }
  maps.push_back(thread.result.map);
  // Batch dimensions are gone from the tiles, those of k from the sums.
  llvm::SmallBitVector unused(matmul.sizes.size(), true);
  for (AffineExpr expr : thread.result.map.getResults())
    unused.reset(cast<AffineDimExpr>(expr).getPosition());
  for (AffineMap &map : maps)
    map = compressDims(map, unused);
  SmallVector<utils::IteratorType> iterators(maps[0].getNumDims(), utils::IteratorType::parallel);
  Type cElement = matmul.elementType(2);
  auto work = linalg::GenericOp::create(
      b, loc, TypeRange(into.getType()), inputs, ValueRange(into), maps, iterators,
      [&](OpBuilder &builder, Location where, ValueRange args) {
        ValueRange rest = inPlace ? args : args.drop_front();
        Value value = inPlace ? args.back() : args.front();
        if (addsStart) {
          Value start = consumer ? rest.front() : args.back();
          if (consumer)
            rest = rest.drop_front();
          start = extendElement(builder, where, start, value.getType(), false);
          value = isa<FloatType>(value.getType())
                      ? arith::AddFOp::create(builder, where, start, value).getResult()
                      : arith::AddIOp::create(builder, where, start, value).getResult();
        }
        value = narrowElement(builder, where, value, cElement);
        if (consumer) {
          IRMapping map;
          for (OpOperand *input : consumer.getDpsInputOperands()) {
            BlockArgument argument = consumer.getMatchingBlockArgument(input);
            if (input->get() == matmul.op->getResult(0)) {
              map.map(argument, value);
              continue;
            }
            map.map(argument, rest.front());
            rest = rest.drop_front();
          }
          map.map(consumer.getBody()->getArguments().back(), args.back());
          for (Operation &op : consumer.getBody()->without_terminator())
            builder.clone(op, map);
          value = map.lookupOrDefault(consumer.getBody()->getTerminator()->getOperand(0));
        }
        linalg::YieldOp::create(builder, where, value);
      });
  return work.getResult(0);
}
