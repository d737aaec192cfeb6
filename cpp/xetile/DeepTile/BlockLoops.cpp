//===- BlockLoops.cpp - the loops of one thread of a deep-tiled matmul ------===//
// In: the operands of a thread. Out: scf.for over blocks in the loop order, packed blocks, scf.for
// over innermost blocks around calls of the microkernel. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/DeepTile/DeepTiler.h"
#include "xetile/DeepTile/Packing.h"
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
  auto element = [&](unsigned i) {
    return cast<RankedTensorType>(thread.values[i].getType()).getElementType();
  };
  if (options.packA && isPlain(0)) {
    bool rowsAreM = thread.maps[0].getDimPosition(0) == matmul.tiled(kM);
    scratchA = createRowScratch(b, loc, element(0), blockSteps(rowsAreM ? kM : kK),
                                blockSteps(rowsAreM ? kK : kM), options.vectorLength);
  }
  if (options.packB && isPlain(1))
    scratchB = createPanelScratch(b, loc, element(1), blockSteps(kK), blockSteps(kN),
                                  config.innermost[kN], options.vnni, options.vectorLength);
  Value c = thread.values[2];
  auto cType = cast<RankedTensorType>(c.getType());
  auto loops = [&](Value into) {
    // A k of run-time size may leave a thread without any step to start the sums in.
    if (initial && ShapedType::isDynamic(matmul.extent(kK))) {
      Value value = arith::ConstantOp::create(b, loc, initial);
      into = linalg::FillOp::create(b, loc, value, into).getResult(0);
      initial = {};
    }
    return middleLoop(0, block, into);
  };
  if (block.known[kK] || !isLowPrecision(cType.getElementType()))
    return loops(c);
  // The sum goes through memory between blocks of K: it stays in f32 there and is rounded once.
  Value sum = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, c), b.getF32Type());
  TypedAttr lowInitial = initial;
  if (auto value = dyn_cast_or_null<FloatAttr>(initial))
    initial = b.getF32FloatAttr(value.getValueAsDouble());
  else
    sum = convertElements(b, loc, c, sum);
  sum = loops(sum);
  initial = lowInitial;
  return convertElements(b, loc, sum, c);
}

/// Packs an operand as soon as its block is known, that is outside of the loops that do not change
/// it.
void DeepTiler::packWhereKnown(Tile &block) {
  if (scratchA && !block.packedA && block.known[kM] && block.known[kK]) {
    Value source = extractTile(b, loc, thread.values[0], thread.maps[0], full(block.offsets, true),
                               full(block.sizes, false));
    bool rowsAreM = thread.maps[0].getDimPosition(0) == matmul.tiled(kM);
    block.packedA = packRows(b, loc, source, block.sizes[rowsAreM ? kM : kK],
                             block.sizes[rowsAreM ? kK : kM], scratchA, options.vectorLength);
  }
  if (scratchB && !block.packedB && block.known[kN] && block.known[kK]) {
    Value source = extractTile(b, loc, thread.values[1], thread.maps[1], full(block.offsets, true),
                               full(block.sizes, false));
    bool transposed = thread.maps[1].getDimPosition(0) == matmul.tiled(kN);
    block.packedB = packPanels(b, loc, source, block.sizes[kK], block.sizes[kN], transposed,
                               options.vnni, scratchB, options.vectorLength);
  }
}

Value DeepTiler::middleLoop(unsigned level, const Tile &outer, Value carried) {
  Tile block = outer;
  packWhereKnown(block);
  if (level == 3)
    return innerLoops(block, carried);
  MatmulDim dim = config.middleLoops()[level];
  return forEachTile(b, loc, threadExtents[dim], blockSteps(dim), carried,
                     [&](Index offset, Index size, Value value) {
                       Tile next = block;
                       next.offsets[dim] = offset;
                       next.sizes[dim] = size;
                       next.known[dim] = true;
                       return middleLoop(level + 1, next, value);
                     });
}

Value DeepTiler::innerLoops(const Tile &block, Value carried) {
  SmallVector<Index> offsets = full(block.offsets, true), sizes = full(block.sizes, false);
  auto slice = [&](unsigned operand, Value source) {
    return extractTile(b, loc, source, thread.maps[operand], offsets, sizes);
  };
  Value a = block.packedA ? block.packedA : slice(0, thread.values[0]);
  Value bBlock = block.packedB ? block.packedB : slice(1, thread.values[1]);
  Value c = slice(2, carried);

  SmallVector<MatmulDim> order;
  for (MatmulDim dim : config.middleLoops())
    if (dim != kK)
      order.push_back(dim);
  Tile tile = block;
  for (MatmulDim dim : {kM, kN, kK})
    tile.offsets[dim] = b.getIndexAttr(0);
  auto call = [&](Value into) {
    SmallVector<Index> at = full(tile.offsets, true), extent = full(tile.sizes, false);
    if (block.packedB && options.vnni)
      return callOnPairs(block, tile, a, bBlock, into);
    Value aTile = extractTile(b, loc, a, thread.maps[0], at, extent);
    Value bTile;
    if (block.packedB) {
      int64_t panel = config.innermost[kN];
      auto type = RankedTensorType::get(
          {1, getConstantIntValue(tile.sizes[kK]).value_or(ShapedType::kDynamic),
           getConstantIntValue(tile.sizes[kN]).value_or(ShapedType::kDynamic)},
          cast<RankedTensorType>(bBlock.getType()).getElementType());
      Index zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
      bTile = tensor::ExtractSliceOp::create(
          b, loc, type, bBlock,
          ArrayRef<Index>{floorDivIndex(b, loc, tile.offsets[kN], panel), zero, zero},
          ArrayRef<Index>{one, tile.sizes[kK], tile.sizes[kN]}, ArrayRef<Index>{one, one, one});
    } else {
      bTile = extractTile(b, loc, bBlock, thread.maps[1], at, extent);
    }
    Value cTile = extractTile(b, loc, into, thread.maps[2], at, extent);
    return insertTile(b, loc, microkernel(block, aTile, bTile, cTile), into, thread.maps[2], at,
                      extent);
  };
  Value result =
      forEachTile(b, loc, block.sizes[order[0]], innerSteps[order[0]], c,
                  [&](Index outerOffset, Index outerSize, Value outer) {
                    tile.offsets[order[0]] = outerOffset;
                    tile.sizes[order[0]] = outerSize;
                    return forEachTile(b, loc, block.sizes[order[1]], innerSteps[order[1]], outer,
                                       [&](Index offset, Index size, Value inner) {
                                         tile.offsets[order[1]] = offset;
                                         tile.sizes[order[1]] = size;
                                         return call(inner);
                                       });
                  });
  return insertTile(b, loc, result, carried, thread.maps[2], offsets, sizes);
}
