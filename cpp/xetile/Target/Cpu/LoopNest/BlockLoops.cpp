//===- BlockLoops.cpp - the loops of one thread of a deep-tiled matmul ------===//
// In: the operands of a thread. Out: scf.for over blocks in the loop order, packed blocks, scf.for
// over innermost blocks around calls of the microkernel. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Target/Cpu/LoopNest/DeepTiler.h"
#include "xetile/Target/Cpu/Packing/Packing.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

int64_t DeepTiler::blockSteps(MatmulDim dim) const {
  int64_t block = config.block[dim] / matmul.unit[dim], step = innerSteps[dim];
  int64_t extent = matmul.sizes[matmul.tiled(dim)];
  if (ShapedType::isDynamic(extent))
    return block;
  int64_t share = llvm::divideCeil(llvm::divideCeil(extent, step), config.threads[dim]) * step;
  int64_t blocks = std::max<int64_t>(llvm::divideCeil(share, block), 1);
  return llvm::divideCeil(std::max<int64_t>(llvm::divideCeil(share, step), 1), blocks) * step;
}

Value DeepTiler::computeThread(const Operands &operands, const std::array<Index, 3> &extents) {
  thread = operands;
  threadExtents = extents;
  Tile block;
  for (MatmulDim dim : {kM, kN, kK}) {
    block.offsets[dim] = b.getIndexAttr(0);
    block.sizes[dim] = extents[dim];
    std::optional<int64_t> extent = getConstantIntValue(extents[dim]);
    block.known[dim] = extent && *extent <= blockSteps(dim);
  }
  severalSteps = !block.known[kK];
  bool computedA = !thread.values[0], computedB = !thread.values[1];
  // Groups of k are copied to rows along k, whatever A's own are.
  bool rowsAreM =
      isPlain(0) && (options.group > 1 || thread.maps[0].getDimPosition(0) == matmul.tiled(kM));
  bool rowsAreK = isPlain(1) && thread.maps[1].getDimPosition(0) == matmul.tiled(kK);
  if ((options.packA || computedA) && isPlain(0) && !constantA)
    scratchA =
        createRowScratch(b, loc, operandType(0), blockSteps(rowsAreM ? kM : kK),
                         blockSteps(rowsAreM ? kK : kM), options.vectorLength * options.group);
  panels = options.packB && isPlain(1);
  if (panels && !constantB)
    scratchB = createPanelScratch(b, loc, operandType(1), blockSteps(kK), blockSteps(kN),
                                  config.innermost[kN], options.group, options.vectorLength);
  else if (!panels && computedB)
    scratchB = createRowScratch(b, loc, operandType(1), blockSteps(rowsAreK ? kK : kN),
                                blockSteps(rowsAreK ? kN : kK), options.vectorLength);
  if (options.offsetA)
    scratchSums = createColumnScratch(b, loc, blockSteps(kN), config.innermost[kN]);
  TypedAttr given = initial;
  planEpilogue(block.known);
  Value result = middleLoop(0, block, {thread.result.value})[0];
  initial = given;
  return result;
}

PackSource DeepTiler::packSource(unsigned operand, const Tile &block) {
  SmallVector<Index> offsets = full(block.offsets, true), sizes = full(block.sizes, false);
  AffineMap map = thread.maps[operand];
  PackSource source;
  source.columns = sizes[map.getDimPosition(1)];
  if (thread.values[operand]) {
    source.inputs = {extractTile(b, loc, thread.values[operand], map, offsets, sizes)};
    return source;
  }
  linalg::GenericOp producer = fusion.producers[operand];
  source.body = producer.getBody();
  // Inputs are indexed by the row and the column of the operand.
  SmallVector<AffineExpr> places(matmul.sizes.size(), b.getAffineConstantExpr(0));
  for (unsigned place : {0, 1})
    places[map.getDimPosition(place)] = b.getAffineDimExpr(place);
  for (const Input &input : thread.produced[operand]) {
    bool isTensor = isa<RankedTensorType>(input.value.getType());
    source.inputs.push_back(isTensor ? extractTile(b, loc, input.value, input.map, offsets, sizes)
                                     : input.value);
    source.maps.push_back(input.map.replaceDimsAndSymbols(places, {}, 2, 0));
  }
  return source;
}

/// Packs an operand as soon as its block is known, that is outside of the loops that do not change
/// it.
void DeepTiler::packWhereKnown(Tile &block) {
  auto pack = [&](unsigned operand, Value scratch) {
    AffineMap map = thread.maps[operand];
    Index rows = full(block.sizes, false)[map.getDimPosition(0)];
    PackSource source = packSource(operand, block);
    bool isA = operand == 0;
    if (isA && options.group > 1 && map.getDimPosition(0) != matmul.tiled(kM))
      return packRowsTransposed(b, loc, source, block.sizes[kM], block.sizes[kK], options.group,
                                options.offsetA, scratch, options.vectorLength);
    return packRows(b, loc, source, rows, source.columns, isA && options.offsetA, scratch,
                    options.vectorLength * (isA ? options.group : 1));
  };
  if (!block.packedA && block.known[kM] && block.known[kK]) {
    if (constantA)
      block.packedA = sliceConstantA(block);
    else if (scratchA)
      block.packedA = pack(0, scratchA);
  }
  if (block.packedB || !block.known[kN] || !block.known[kK])
    return;
  if (constantB) {
    block.packedB = sliceConstantB(block);
  } else if (scratchB) {
    bool transposed = thread.maps[1].getDimPosition(0) == matmul.tiled(kN);
    block.packedB = panels
                        ? packPanels(b, loc, packSource(1, block), block.sizes[kK], block.sizes[kN],
                                     transposed, options.group, scratchB, options.vectorLength)
                        : pack(1, scratchB);
  }
  if (options.offsetA)
    block.columnSums = sumColumns(b, loc, block.packedB, block.sizes[kK], block.sizes[kN],
                                  matmul.isUnsigned(1), scratchSums, options.vectorLength);
}

void DeepTiler::packConstants() {
  // Blocks of k must begin where a group of elements does.
  int64_t k = matmul.sizes[matmul.tiled(kK)];
  bool wholeGroups = innerSteps[kK] % options.group == 0 ||
                     (config.threads[kK] == 1 && !ShapedType::isDynamic(k) && k <= blockSteps(kK));
  auto isKnown = [&](unsigned operand) {
    return wholeGroups && !fusion.producers[operand] && matmul.map(operand).getNumResults() == 2 &&
           isConstantMatrix(matmul.op->getOperand(operand));
  };
  // Constants keep their bytes and the order of their dimensions.
  bool asItIs = !options.offsetA &&
                (options.group == 1 || matmul.map(0).getDimPosition(0) == matmul.tiled(kM));
  if (options.packA && asItIs && isKnown(0))
    constantA = packConstantRows(b, loc, matmul.op->getOperand(0), options.vectorLength);
  if (options.packB && isKnown(1))
    constantB = packConstantPanels(b, loc, matmul.op->getOperand(1),
                                   matmul.map(1).getDimPosition(0) == matmul.tiled(kN),
                                   config.innermost[kN], options.group);
}

Value DeepTiler::sliceConstantA(const Tile &block) {
  SmallVector<Index> offsets, sizes, strides(2, b.getIndexAttr(1));
  for (unsigned place : {0, 1}) {
    bool isM = thread.maps[0].getDimPosition(place) == matmul.tiled(kM);
    MatmulDim dim = isM ? kM : kK;
    offsets.push_back(addIndex(b, loc, threadOffsets[dim], block.offsets[dim]));
    // The zeros that fill the last group are part of it.
    int64_t group = isM ? 1 : options.group;
    sizes.push_back(mulIndex(b, loc, ceilDivIndex(b, loc, block.sizes[dim], group), group));
  }
  return tensor::ExtractSliceOp::create(b, loc, constantA, offsets, sizes, strides);
}

Value DeepTiler::sliceConstantB(const Tile &block) {
  int64_t panel = config.innermost[kN], group = options.group;
  auto type = cast<RankedTensorType>(constantB.getType());
  Index n = addIndex(b, loc, threadOffsets[kN], block.offsets[kN]);
  Index k = addIndex(b, loc, threadOffsets[kK], block.offsets[kK]);
  SmallVector<Index> offsets = {floorDivIndex(b, loc, n, panel), floorDivIndex(b, loc, k, group),
                                b.getIndexAttr(0)};
  SmallVector<Index> sizes = {ceilDivIndex(b, loc, block.sizes[kN], panel),
                              ceilDivIndex(b, loc, block.sizes[kK], group),
                              b.getIndexAttr(type.getDimSize(2))};
  SmallVector<Index> strides(3, b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, constantB, offsets, sizes, strides);
}

DeepTiler::Carried DeepTiler::middleLoop(unsigned level, const Tile &outer, Carried carried) {
  Tile block = outer;
  packWhereKnown(block);
  if (level == 3)
    return innerLoops(block, carried);
  MatmulDim dim = config.middleLoops()[level];
  // Sums of several steps live as long as the loop over k.
  bool startsSums = dim == kK && !inPlace && severalSteps;
  if (startsSums) {
    knownAtStart = block.known;
    carried.push_back(
        extractTile(b, loc, sumScratch, thread.maps[2],
                    full({b.getIndexAttr(0), b.getIndexAttr(0), b.getIndexAttr(0)}, true),
                    full(block.sizes, false)));
  }
  auto step = [&](Index offset, Index size, ValueRange values) {
    Tile next = block;
    next.offsets[dim] = offset;
    next.sizes[dim] = size;
    next.known[dim] = true;
    return middleLoop(level + 1, next, Carried(values));
  };
  // Sums start in the first step of k and are finished in the last: there has to be one, although
  // a k of run-time size may leave a thread without work.
  bool mayBeEmpty = dim == kK && ShapedType::isDynamic(matmul.extent(kK));
  Carried results = forEachTile(b, loc, threadExtents[dim], blockSteps(dim), ValueRange(carried),
                                step, /*atLeastOnce=*/mayBeEmpty);
  if (startsSums)
    results.pop_back();
  return results;
}

/// What loops over parts of some tensors do: `body` on slices of `tensors`, which are put back.
DeepTiler::Carried DeepTiler::onSlices(const Tile &block, const Carried &carried, TileStep body) {
  SmallVector<Index> offsets = full(block.offsets, true), sizes = full(block.sizes, false);
  Carried parts = {extractTile(b, loc, carried[0], thread.result.map, offsets, sizes)};
  SmallVector<Index> inSums;
  if (carried.size() > 1) {
    inSums = full(placeInSums(block), true);
    parts.push_back(extractTile(b, loc, carried[1], thread.maps[2], inSums, sizes));
  }
  Carried results = body(parts);
  results[0] = insertTile(b, loc, results[0], carried[0], thread.result.map, offsets, sizes);
  if (carried.size() > 1)
    results[1] = insertTile(b, loc, results[1], carried[1], thread.maps[2], inSums, sizes);
  return results;
}

DeepTiler::Carried DeepTiler::innerLoops(const Tile &block, Carried carried) {
  SmallVector<Index> offsets = full(block.offsets, true), sizes = full(block.sizes, false);
  auto slice = [&](unsigned operand) {
    return extractTile(b, loc, thread.values[operand], thread.maps[operand], offsets, sizes);
  };
  Value a = block.packedA ? block.packedA : slice(0);
  Value bBlock = block.packedB ? block.packedB : slice(1);

  SmallVector<MatmulDim> order;
  for (MatmulDim dim : config.middleLoops())
    if (dim != kK)
      order.push_back(dim);
  Tile tile = block;
  for (MatmulDim dim : {kM, kN, kK})
    tile.offsets[dim] = b.getIndexAttr(0);
  auto loop = [&](MatmulDim dim, ValueRange values, TileStep body) {
    return forEachTile(b, loc, block.sizes[dim], innerSteps[dim], values,
                       [&](Index offset, Index size, ValueRange inner) {
                         tile.offsets[dim] = offset;
                         tile.sizes[dim] = size;
                         return body(Carried(inner));
                       });
  };
  return onSlices(block, carried, [&](Carried parts) {
    return loop(order[0], parts, [&](Carried outer) {
      return loop(order[1], outer,
                  [&](Carried inner) { return computeTile(block, tile, a, bBlock, inner); });
    });
  });
}

DeepTiler::Carried DeepTiler::computeTile(const Tile &block, const Tile &tile, Value a,
                                          Value bBlock, Carried carried) {
  SmallVector<Index> at = full(tile.offsets, true), extent = full(tile.sizes, false);
  SmallVector<Index> zero(at.size(), b.getIndexAttr(0));
  Value sum;
  if (inPlace)
    sum = extractTile(b, loc, carried[0], thread.result.map, at, extent);
  else
    sum = extractTile(b, loc, severalSteps ? carried[1] : sumScratch, thread.maps[2],
                      severalSteps ? at : zero, extent);
  sum = multiplyTile(block, tile, a, bBlock, sum);
  if (inPlace && !(finishes && !severalSteps))
    carried[0] = insertTile(b, loc, sum, carried[0], thread.result.map, at, extent);
  if (finishes)
    carried[0] = finishInLastStep(block, tile, sum, carried[0]);
  if (carried.size() > 1)
    carried[1] = insertTile(b, loc, sum, carried[1], thread.maps[2], at, extent);
  return carried;
}

Value DeepTiler::multiplyTile(const Tile &block, const Tile &tile, Value a, Value bBlock,
                              Value sums) {
  if (panels && options.group > 1)
    return callOnGroups(block, tile, a, bBlock, sums);
  SmallVector<Index> at = full(tile.offsets, true), extent = full(tile.sizes, false);
  Value aTile = extractTile(b, loc, a, thread.maps[0], at, extent);
  if (!panels)
    return microkernel(block, aTile, extractTile(b, loc, bBlock, thread.maps[1], at, extent), sums);
  int64_t panel = config.innermost[kN];
  auto type =
      RankedTensorType::get({1, getConstantIntValue(tile.sizes[kK]).value_or(ShapedType::kDynamic),
                             getConstantIntValue(tile.sizes[kN]).value_or(ShapedType::kDynamic)},
                            operandType(1));
  Index zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Value bTile = tensor::ExtractSliceOp::create(
      b, loc, type, bBlock,
      ArrayRef<Index>{floorDivIndex(b, loc, tile.offsets[kN], panel), zero, zero},
      ArrayRef<Index>{one, tile.sizes[kK], tile.sizes[kN]}, ArrayRef<Index>{one, one, one});
  return microkernel(block, aTile, bTile, sums);
}
