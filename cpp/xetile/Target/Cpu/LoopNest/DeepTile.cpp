//===- DeepTile.cpp - the thread loop of a deep-tiled matmul ----------------===//
// In: a contraction on tensors. Out: scf.forall over batches and threads around the loops of one
// thread, and the reduction of K threads. Refused by checkConfig before: illegal configurations.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Cpu/LoopNest/DeepTiler.h"

using namespace mlir;
using namespace xetile;

void DeepTiler::findExtents() {
  extentOf.resize(matmul.sizes.size());
  zeros.assign(matmul.sizes.size(), b.getIndexAttr(0));
  for (unsigned dim = 0; dim < matmul.sizes.size(); ++dim) {
    if (!ShapedType::isDynamic(matmul.sizes[dim])) {
      extentOf[dim] = b.getIndexAttr(matmul.sizes[dim]);
      continue;
    }
    for (unsigned operand = 0; operand < 3; ++operand)
      if (std::optional<unsigned> place =
              matmul.map(operand).getResultPosition(b.getAffineDimExpr(dim))) {
        Value source = matmul.op->getOperand(operand);
        // A producer is gone in the end; where it would write to has the same sizes.
        if (operand < 2 && fusion.producers[operand])
          source = fusion.producers[operand].getDpsInits()[0];
        extentOf[dim] = tensor::DimOp::create(b, loc, source, *place).getResult();
      }
  }
}

void DeepTiler::findInit() {
  destination = matmul.op.getDpsInits()[0];
  auto fill = destination.getDefiningOp<linalg::FillOp>();
  TypedAttr value;
  if (fill && matchPattern(fill.getInputs()[0], m_Constant(&value))) {
    initial = value;
    destination = fill.getOutputs()[0];
  }
  if (config.threads[kK] > 1)
    return;
  consumer = fusion.consumer;
  if (!consumer)
    return;
  destination = consumer.getDpsInits()[0];
  for (OpOperand *input : consumer.getDpsInputOperands())
    if (input->get() == matmul.op->getResult(0))
      consumerDims =
          inversePermutation(consumer.getMatchingIndexingMap(input)).compose(matmul.map(2));
}

AffineMap DeepTiler::consumerMap(OpOperand &operand) {
  return consumer.getMatchingIndexingMap(&operand).compose(consumerDims);
}

AffineMap DeepTiler::dropBatch(AffineMap map) const {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim < matmul.sizes.size() && !llvm::is_contained(matmul.batch, dim))
      results.push_back(expr);
  }
  return AffineMap::get(matmul.sizes.size(), 0, results, b.getContext());
}

std::pair<Index, Index> DeepTiler::threadRange(MatmulDim dim, Index id, int64_t count) {
  Index extent = extentOf[matmul.tiled(dim)];
  if (count == 1)
    return {b.getIndexAttr(0), extent};
  int64_t step = innerSteps[dim];
  std::optional<int64_t> known = getConstantIntValue(extent);
  if (known && *known % (count * step) == 0)
    return {mulIndex(b, loc, id, *known / count), b.getIndexAttr(*known / count)};
  // Innermost blocks [id * blocks / count, (id + 1) * blocks / count): shares differ by one at
  // most.
  Index blocks = ceilDivIndex(b, loc, extent, step);
  auto share = [&](Index number) -> Index {
    Value product = arith::MulIOp::create(b, loc, asValue(b, loc, number), asValue(b, loc, blocks));
    Index first = floorDivIndex(b, loc, product, count);
    return minIndex(b, loc, mulIndex(b, loc, first, step), extent);
  };
  Index low = share(id), high = share(addIndex(b, loc, id, b.getIndexAttr(1)));
  return {low, subIndex(b, loc, high, low)};
}

Value DeepTiler::run() {
  // What the consumer reads besides may be computed after the matmul.
  b.setInsertionPoint(fusion.consumer ? fusion.consumer.getOperation() : matmul.op.getOperation());
  findExtents();
  findInit();
  packConstants();
  Operation *op = matmul.op;
  unsigned dims = matmul.sizes.size();
  bool splitK = config.threads[kK] > 1;
  auto cType = cast<RankedTensorType>(op->getOperand(2).getType());

  // One parallel loop over batches and threads; bounds of one leave no induction variable.
  SmallVector<Index> bounds;
  SmallVector<int> place(dims + 3, -1);
  auto addBound = [&](unsigned slot, Index bound) {
    if (getConstantIntValue(bound) == 1)
      return;
    place[slot] = bounds.size();
    bounds.push_back(bound);
  };
  for (unsigned dim : matmul.batch)
    addBound(dim, extentOf[dim]);
  for (MatmulDim dim : {kM, kN, kK})
    addBound(dims + dim, b.getIndexAttr(config.threads[dim]));

  Value shared = destination;
  TypedAttr outerInitial = initial;
  AffineMap cMap = matmul.map(2);
  AffineMap destinationMap =
      consumer ? consumerMap(*consumer.getDpsInitOperand(0)) : AffineMap(cMap);
  if (splitK) {
    SmallVector<Index> shape = {b.getIndexAttr(config.threads[kK])};
    llvm::append_range(shape, tensor::getMixedSizes(b, loc, op->getOperand(2)));
    Type element = cType.getElementType();
    Type partial = isLowPrecision(element) ? Type(b.getF32Type()) : element;
    shared = tensor::EmptyOp::create(b, loc, shape, partial);
    initial = cast<TypedAttr>(b.getZeroAttr(partial));
  }

  auto compute = [&](ValueRange ids, Value into,
                     function_ref<Value(Value, AffineMap, ArrayRef<Index>, ArrayRef<Index>)> put) {
    auto idOf = [&](unsigned slot) -> Index {
      return place[slot] < 0 ? Index(b.getIndexAttr(0)) : Index(ids[place[slot]]);
    };
    SmallVector<Index> offsets = zeros, sizes = extentOf;
    for (unsigned dim : matmul.batch) {
      offsets[dim] = idOf(dim);
      sizes[dim] = b.getIndexAttr(1);
    }
    std::array<Index, 3> extents;
    for (MatmulDim dim : {kM, kN, kK}) {
      unsigned tiled = matmul.tiled(dim);
      std::tie(offsets[tiled], sizes[tiled]) =
          threadRange(dim, idOf(dims + dim), config.threads[dim]);
      extents[dim] = sizes[tiled];
      threadOffsets[dim] = offsets[tiled];
    }
    // The partial results' leading dimension is one more batch dimension, of C alone.
    AffineMap resultMap = destinationMap;
    SmallVector<unsigned> dropResult(matmul.batch);
    if (splitK) {
      offsets.push_back(idOf(dims + kK));
      sizes.push_back(b.getIndexAttr(1));
      SmallVector<AffineExpr> results = {b.getAffineDimExpr(dims)};
      llvm::append_range(results, resultMap.getResults());
      resultMap = AffineMap::get(dims + 1, 0, results, b.getContext());
      dropResult.push_back(dims);
    }
    auto slice = [&](Value source, AffineMap map) -> Input {
      if (isa<RankedTensorType>(source.getType()))
        source = extractTile(b, loc, source, map, offsets, sizes, matmul.batch);
      return {source, dropBatch(map)};
    };
    Operands operands;
    for (unsigned i : {0, 1}) {
      operands.maps[i] = dropBatch(matmul.map(i));
      linalg::GenericOp producer = fusion.producers[i];
      if (!producer) {
        operands.values[i] = slice(op->getOperand(i), matmul.map(i)).value;
        continue;
      }
      AffineMap fromResult =
          inversePermutation(producer.getMatchingIndexingMap(producer.getDpsInitOperand(0)))
              .compose(matmul.map(i));
      for (OpOperand *input : producer.getDpsInputOperands())
        operands.produced[i].push_back(
            slice(input->get(), producer.getMatchingIndexingMap(input).compose(fromResult)));
    }
    operands.maps[2] = dropBatch(cMap);
    operands.result = {extractTile(b, loc, into, resultMap, offsets, sizes, dropResult),
                       dropBatch(destinationMap)};
    if (consumer) {
      if (!initial)
        operands.epilogue.push_back(slice(op->getOperand(2), cMap));
      for (OpOperand *input : consumer.getDpsInputOperands())
        if (input->get() != op->getResult(0))
          operands.epilogue.push_back(slice(input->get(), consumerMap(*input)));
    }
    Value tile = computeThread(operands, extents);
    return put(tile, resultMap, offsets, sizes);
  };

  Value result;
  if (bounds.empty()) {
    result = compute(
        {}, shared, [&](Value tile, AffineMap map, ArrayRef<Index> offsets, ArrayRef<Index> sizes) {
          return insertTile(b, loc, tile, shared, map, offsets, sizes);
        });
  } else {
    auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(shared), std::nullopt);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forall.getBody());
    Value into = forall.getRegionIterArgs()[0];
    compute(
        forall.getInductionVars(), into,
        [&](Value tile, AffineMap map, ArrayRef<Index> offsets, ArrayRef<Index> sizes) -> Value {
          SmallVector<Index> at, extent, strides(map.getNumResults(), b.getIndexAttr(1));
          for (AffineExpr expr : map.getResults()) {
            at.push_back(offsets[cast<AffineDimExpr>(expr).getPosition()]);
            extent.push_back(sizes[cast<AffineDimExpr>(expr).getPosition()]);
          }
          b.setInsertionPointToEnd(forall.getTerminator().getBody());
          tensor::ParallelInsertSliceOp::create(b, loc, tile, into, at, extent, strides);
          return {};
        });
    result = forall.getResult(0);
  }
  if (splitK) {
    initial = outerInitial;
    result = reducePartials(result);
  }
  return result;
}

/// Makes the reduction of K threads and the consumer of its result one op.
static Value fuseReduction(RewriterBase &rewriter, Value sum, linalg::GenericOp consumer) {
  OpOperand *use = llvm::find_if(consumer->getOpOperands(),
                                 [&](OpOperand &operand) { return operand.get() == sum; });
  if (!linalg::areElementwiseOpsFusable(use))
    return consumer->getResult(0);
  rewriter.setInsertionPoint(consumer);
  Operation *reduction = sum.getDefiningOp();
  FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, use);
  if (failed(fused))
    return consumer->getResult(0);
  rewriter.replaceOp(consumer, fused->fusedOp->getResults());
  if (reduction->use_empty())
    rewriter.eraseOp(reduction);
  return fused->fusedOp->getResult(0);
}

Value xetile::deepTile(RewriterBase &rewriter, const Contraction &matmul,
                       const ConfigChoice &choice, const Fusion &fusion) {
  Value result = DeepTiler(rewriter, matmul, choice, fusion).run();
  Operation *op = matmul.op;
  if (fusion.consumer && choice.config.threads[kK] == 1) {
    rewriter.replaceOp(fusion.consumer, result);
    rewriter.eraseOp(op);
  } else {
    rewriter.replaceOp(op, result);
    if (fusion.consumer)
      result = fuseReduction(rewriter, result, fusion.consumer);
  }
  for (linalg::GenericOp producer : fusion.producers)
    if (producer)
      rewriter.eraseOp(producer);
  return result;
}
