//===- DeepTile.cpp - the nine-loop rewrite of a matmul ----------------------===//
// In: a contraction on tensors. Out: scf.forall over threads, scf.for over blocks, batch-reduce
// matmuls. Refused by checkConfig: values that do not fit the problem or each other.
//===----------------------------------------------------------------------===//
#include "xetile/DeepTile/DeepTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "xetile/DeepTile/LoopNest.h"
#include "xetile/DeepTile/Packing.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace xetile;

/// `value` in the wider type `type`.
static Value extend(OpBuilder &b, Location loc, Value value, Type type, bool isUnsigned) {
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(b, loc, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, type, value);
  return arith::ExtSIOp::create(b, loc, type, value);
}

static Value narrow(OpBuilder &b, Location loc, Value value, Type type) {
  return value.getType() == type ? value : arith::TruncFOp::create(b, loc, type, value).getResult();
}

static Value multiplyAdd(OpBuilder &b, Location loc, Value left, Value right, Value sum) {
  if (isa<FloatType>(sum.getType()))
    return arith::AddFOp::create(b, loc, sum, arith::MulFOp::create(b, loc, left, right));
  return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, left, right));
}

/// An elementwise conversion of `source` into `into`.
static Value convertElements(OpBuilder &b, Location loc, Value source, Value into) {
  unsigned rank = cast<RankedTensorType>(into.getType()).getRank();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto convert = linalg::GenericOp::create(
      b, loc, TypeRange(into.getType()), ValueRange(source), ValueRange(into), maps, iterators,
      [](OpBuilder &builder, Location at, ValueRange args) {
        Type from = args[0].getType(), to = args[1].getType();
        bool widens = from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
        linalg::YieldOp::create(builder, at,
                                widens ? extend(builder, at, args[0], to, false)
                                       : narrow(builder, at, args[0], to));
      });
  return convert.getResult(0);
}

/// Floating-point results narrower than their sums should be.
static bool isLowPrecision(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

namespace {

/// The operands of one thread, without batch dimensions, and what the loops know.
struct Operands {
  std::array<Value, 3> values;
  std::array<AffineMap, 3> maps;
};

class DeepTiler {
public:
  DeepTiler(RewriterBase &rewriter, const Contraction &matmul, const MatmulConfig &config,
            const DeepTileOptions &options)
      : b(rewriter), loc(matmul.op.getLoc()), matmul(matmul), config(config), options(options) {
    for (MatmulDim dim : {kM, kN, kK})
      innerSteps[dim] = config.innermost[dim] / matmul.unit[dim];
  }

  Value run();

private:
  /// A block of the thread's part: offsets and sizes of m, n, k in steps of the tiled dimensions.
  struct Tile {
    std::array<Index, 3> offsets, sizes;
    std::array<bool, 3> known = {false, false, false};
    Value packedA, packedB;
  };

  void findExtents();
  void findInit();
  /// The part of `dim` that thread `id` of `count` works on.
  std::pair<Index, Index> threadRange(MatmulDim dim, Index id, int64_t count);
  /// Steps of a middle loop: blocks of nearly equal size, multiples of the innermost one.
  int64_t blockSteps(MatmulDim dim) const;
  Value computeThread(const Operands &operands, const std::array<Index, 3> &extents);
  Value middleLoop(unsigned level, const Tile &block, Value carried);
  Value innerLoops(const Tile &block, Value carried);
  Value microkernel(const Tile &block, Value a, Value b, Value c);
  Value batchReduce(Value a, Value b, Value c);
  /// Calls the microkernel on packed operands, pairs of k being a dimension of their own.
  Value callOnPairs(const Tile &block, const Tile &tile, Value a, Value bBlock, Value into);
  linalg::LinalgOp createGeneric(Value a, Value bTile, Value c, ArrayRef<AffineMap> maps,
                                 ArrayRef<utils::IteratorType> iterators);
  void packWhereKnown(Tile &block);
  Value reducePartials(Value partials, Value init);

  /// Whether the integers of an input are extended with zeros.
  bool isUnsigned(unsigned operand) const {
    mlir::Block &body = matmul.op->getRegion(0).front();
    return llvm::any_of(body.getArgument(operand).getUsers(),
                        [](Operation *user) { return isa<arith::ExtUIOp>(user); });
  }
  bool isPlain(unsigned operand) const { return thread.maps[operand].getNumResults() == 2; }
  /// Per dimension of the iteration space: those of the tiled dimensions from `tiled`, the others
  /// whole.
  SmallVector<Index> full(const std::array<Index, 3> &tiled, bool offsets) const {
    SmallVector<Index> result = offsets ? zeros : extentOf;
    for (unsigned dim : matmul.batch)
      result[dim] = offsets ? Index(b.getIndexAttr(0)) : Index(b.getIndexAttr(1));
    for (MatmulDim dim : {kM, kN, kK})
      result[matmul.tiled(dim)] = tiled[dim];
    return result;
  }

  RewriterBase &b;
  Location loc;
  const Contraction &matmul;
  const MatmulConfig &config;
  const DeepTileOptions &options;
  std::array<int64_t, 3> innerSteps;
  SmallVector<Index> extentOf, zeros;
  /// The constant that the accumulator starts from, and the tensor to write to; `initial` is null
  /// if the accumulator comes from elsewhere.
  TypedAttr initial;
  Value destination;
  Operands thread;
  std::array<Index, 3> threadExtents;
  Value scratchA, scratchB;
};

} // namespace

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
              matmul.map(operand).getResultPosition(b.getAffineDimExpr(dim)))
        extentOf[dim] =
            tensor::DimOp::create(b, loc, matmul.op->getOperand(operand), *place).getResult();
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

int64_t DeepTiler::blockSteps(MatmulDim dim) const {
  int64_t block = config.block[dim] / matmul.unit[dim], step = innerSteps[dim];
  int64_t extent = matmul.sizes[matmul.tiled(dim)];
  if (ShapedType::isDynamic(extent))
    return block;
  int64_t share = llvm::divideCeil(llvm::divideCeil(extent, step), config.threads[dim]) * step;
  int64_t blocks = std::max<int64_t>(llvm::divideCeil(share, block), 1);
  return llvm::divideCeil(std::max<int64_t>(llvm::divideCeil(share, step), 1), blocks) * step;
}

Value DeepTiler::run() {
  b.setInsertionPoint(matmul.op);
  findExtents();
  findInit();
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
  Value outerInit = op->getOperand(2);
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
    }
    // The partial results' leading dimension is one more batch dimension, of C alone.
    AffineMap cMap = matmul.map(2);
    SmallVector<unsigned> dropC(matmul.batch);
    if (splitK) {
      offsets.push_back(idOf(dims + kK));
      sizes.push_back(b.getIndexAttr(1));
      SmallVector<AffineExpr> results = {b.getAffineDimExpr(dims)};
      llvm::append_range(results, cMap.getResults());
      cMap = AffineMap::get(dims + 1, 0, results, b.getContext());
      dropC.push_back(dims);
    }
    Operands operands;
    for (unsigned i = 0; i < 3; ++i) {
      Value source = i == 2 ? into : op->getOperand(i);
      operands.values[i] = extractTile(b, loc, source, i == 2 ? cMap : matmul.map(i), offsets,
                                       sizes, i == 2 ? ArrayRef(dropC) : ArrayRef(matmul.batch));
      SmallVector<AffineExpr> results;
      for (AffineExpr expr : matmul.map(i).getResults())
        if (!llvm::is_contained(matmul.batch, cast<AffineDimExpr>(expr).getPosition()))
          results.push_back(expr);
      operands.maps[i] = AffineMap::get(dims, 0, results, b.getContext());
    }
    Value tile = computeThread(operands, extents);
    return put(tile, cMap, offsets, sizes);
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
    b.setInsertionPoint(op);
    initial = outerInitial;
    result = reducePartials(result, outerInit);
  }
  return result;
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
  if (block.known[kK] || !isLowPrecision(cType.getElementType()))
    return middleLoop(0, block, c);
  // The sum goes through memory between blocks of K: it stays in f32 there and is rounded once.
  Value sum = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, c), b.getF32Type());
  TypedAttr lowInitial = initial;
  if (auto value = dyn_cast_or_null<FloatAttr>(initial))
    initial = b.getF32FloatAttr(value.getValueAsDouble());
  else
    sum = convertElements(b, loc, c, sum);
  sum = middleLoop(0, block, sum);
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

Value DeepTiler::microkernel(const Tile &block, Value a, Value bTile, Value c) {
  if (!initial)
    return batchReduce(a, bTile, c);
  auto start = [&] {
    Value value = arith::ConstantOp::create(b, loc, initial);
    Value filled = linalg::FillOp::create(b, loc, value, c).getResult(0);
    return batchReduce(a, bTile, filled);
  };
  auto offset = dyn_cast<Value>(block.offsets[kK]);
  if (!offset)
    return start();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, offset, zero);
  auto choice = scf::IfOp::create(b, loc, TypeRange(c.getType()), first, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, start());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, batchReduce(a, bTile, c));
  return choice.getResult(0);
}

/// Splits the last dimension in pairs.
static Value splitPairs(OpBuilder &b, Location loc, Value value, Index first, Index pairs) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Index> sizes = {first, pairs, b.getIndexAttr(2)};
  SmallVector<int64_t> shape = {getConstantIntValue(first).value_or(ShapedType::kDynamic),
                                getConstantIntValue(pairs).value_or(ShapedType::kDynamic), 2};
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2}};
  return tensor::ExpandShapeOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()),
                                       value, groups, sizes);
}

Value DeepTiler::callOnPairs(const Tile &block, const Tile &tile, Value a, Value bBlock,
                             Value into) {
  Index zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Index pairs = ceilDivIndex(b, loc, tile.sizes[kK], 2);
  Index m = tile.sizes[kM], n = tile.sizes[kN];
  auto slice = [&](Value source, ArrayRef<Index> offsets, ArrayRef<Index> sizes) -> Value {
    SmallVector<int64_t> shape;
    for (Index size : sizes.take_back(2))
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    Type element = cast<RankedTensorType>(source.getType()).getElementType();
    SmallVector<Index> strides(offsets.size(), one);
    return tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get(shape, element), source,
                                          offsets, sizes, strides);
  };
  Value aTile = splitPairs(
      b, loc, slice(a, {tile.offsets[kM], zero}, {m, mulIndex(b, loc, pairs, 2)}), m, pairs);
  Value panel =
      slice(bBlock, {floorDivIndex(b, loc, tile.offsets[kN], config.innermost[kN]), zero, zero},
            {one, pairs, mulIndex(b, loc, n, 2)});
  Value bTile = splitPairs(b, loc, panel, pairs, n);
  SmallVector<Index> at = full(tile.offsets, true), extent = full(tile.sizes, false);
  Value cTile = extractTile(b, loc, into, thread.maps[2], at, extent);
  return insertTile(b, loc, microkernel(block, aTile, bTile, cTile), into, thread.maps[2], at,
                    extent);
}

/// Adds a leading batch dimension of one.
static Value addUnitBatch(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  SmallVector<Index> sizes = {b.getIndexAttr(1)};
  llvm::append_range(sizes, tensor::getMixedSizes(b, loc, value));
  SmallVector<ReassociationIndices> groups = {{0, 1}, {2}};
  return tensor::ExpandShapeOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()),
                                       value, groups, sizes);
}

Value DeepTiler::batchReduce(Value a, Value bTile, Value c) {
  auto limits = b.getDenseI64ArrayAttr({config.innermost[kM], config.innermost[kN]});
  unsigned m = matmul.tiled(kM), n = matmul.tiled(kN), k = matmul.tiled(kK);
  auto is = [&](unsigned operand, unsigned row, unsigned column) {
    return isPlain(operand) && thread.maps[operand].getDimPosition(0) == row &&
           thread.maps[operand].getDimPosition(1) == column;
  };
  bool packed = scratchB && cast<RankedTensorType>(bTile.getType()).getRank() == 3;
  bool integers = isa<IntegerType>(matmul.elementType(0));
  linalg::LinalgOp kernel;
  if (packed && options.vnni) {
    // m, n, pair of k, half of the pair.
    AffineExpr row, column, pair, half;
    bindDims(b.getContext(), row, column, pair, half);
    bool columnMajor = thread.maps[2].getDimPosition(0) == n;
    SmallVector<AffineExpr> result = {row, column};
    if (columnMajor)
      std::swap(result[0], result[1]);
    SmallVector<AffineMap> maps = {AffineMap::get(4, 0, {row, pair, half}, b.getContext()),
                                   AffineMap::get(4, 0, {pair, column, half}, b.getContext()),
                                   AffineMap::get(4, 0, result, b.getContext())};
    auto parallel = utils::IteratorType::parallel, reduction = utils::IteratorType::reduction;
    kernel = createGeneric(a, bTile, c, maps, {parallel, parallel, reduction, reduction});
  } else if (is(0, m, k) && is(2, m, n) && (packed || is(1, k, n)) && !integers) {
    a = addUnitBatch(b, loc, a);
    if (!packed)
      bTile = addUnitBatch(b, loc, bTile);
    kernel = linalg::BatchReduceMatmulOp::create(b, loc, c.getType(), ValueRange{a, bTile},
                                                 ValueRange(c));
  } else {
    // Other forms keep their maps; a packed B is [1][k][n], and a dimension of one batches it.
    SmallVector<AffineMap> maps(thread.maps.begin(), thread.maps.end());
    SmallVector<utils::IteratorType> iterators(matmul.op.getIteratorTypesArray());
    unsigned dims = iterators.size();
    if (packed) {
      a = isPlain(0) ? addUnitBatch(b, loc, a) : a;
      AffineExpr batch = b.getAffineDimExpr(dims);
      maps[1] = AffineMap::get(dims + 1, 0, {batch, b.getAffineDimExpr(k), b.getAffineDimExpr(n)},
                               b.getContext());
      SmallVector<AffineExpr> results = {batch};
      llvm::append_range(results, maps[0].getResults());
      maps[0] = AffineMap::get(dims + 1, 0, results, b.getContext());
      maps[2] = AffineMap::get(dims + 1, 0, maps[2].getResults(), b.getContext());
      iterators.push_back(utils::IteratorType::reduction);
    }
    // Batch dimensions are gone from the operands.
    llvm::SmallBitVector unused(maps[0].getNumDims());
    for (unsigned dim : matmul.batch)
      unused.set(dim);
    SmallVector<utils::IteratorType> used;
    for (auto [dim, iterator] : llvm::enumerate(iterators))
      if (!unused.test(dim))
        used.push_back(iterator);
    for (AffineMap &map : maps)
      map = compressDims(map, unused);
    kernel = createGeneric(a, bTile, c, maps, used);
  }
  kernel->setAttr(kMicrokernelAttr, limits);
  return kernel->getResult(0);
}

linalg::LinalgOp DeepTiler::createGeneric(Value a, Value bTile, Value c, ArrayRef<AffineMap> maps,
                                          ArrayRef<utils::IteratorType> iterators) {
  return linalg::GenericOp::create(
      b, loc, TypeRange(c.getType()), ValueRange{a, bTile}, ValueRange(c), maps, iterators,
      [&](OpBuilder &builder, Location at, ValueRange args) {
        Value left = extend(builder, at, args[0], args[2].getType(), isUnsigned(0));
        Value right = extend(builder, at, args[1], args[2].getType(), isUnsigned(1));
        linalg::YieldOp::create(builder, at, multiplyAdd(builder, at, left, right, args[2]));
      });
}

Value DeepTiler::reducePartials(Value partials, Value init) {
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();
  SmallVector<Index> offsets(rank + 1, b.getIndexAttr(0)), strides(rank + 1, b.getIndexAttr(1));
  SmallVector<Index> sizes = {b.getIndexAttr(1)};
  llvm::append_range(sizes, tensor::getMixedSizes(b, loc, init));
  auto partialType = cast<RankedTensorType>(partials.getType());
  auto type =
      RankedTensorType::get(partialType.getShape().drop_front(), partialType.getElementType());
  SmallVector<Value> parts;
  for (int64_t thread = 0; thread < config.threads[kK]; ++thread) {
    offsets[0] = b.getIndexAttr(thread);
    parts.push_back(
        tensor::ExtractSliceOp::create(b, loc, type, partials, offsets, sizes, strides));
  }
  SmallVector<AffineMap> maps(parts.size() + 1, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto sum = linalg::GenericOp::create(
      b, loc, TypeRange(init.getType()), parts, ValueRange(init), maps, iterators,
      [](OpBuilder &builder, Location at, ValueRange args) {
        Value total = extend(builder, at, args.back(), args[0].getType(), false);
        for (Value part : args.drop_back())
          total = isa<FloatType>(part.getType())
                      ? arith::AddFOp::create(builder, at, total, part).getResult()
                      : arith::AddIOp::create(builder, at, total, part).getResult();
        linalg::YieldOp::create(builder, at, narrow(builder, at, total, args.back().getType()));
      });
  return sum.getResult(0);
}

Value xetile::deepTile(RewriterBase &rewriter, const Contraction &matmul,
                       const MatmulConfig &config, const DeepTileOptions &options) {
  Value result = DeepTiler(rewriter, matmul, config, options).run();
  Operation *op = matmul.op;
  rewriter.replaceOp(op, result);
  return result;
}

std::string xetile::checkConfig(const Contraction &matmul, const MatmulConfig &config) {
  auto names = MatmulConfig::fieldNames();
  auto wrong = [&](unsigned field, const llvm::Twine &legal) {
    return (names[field] + " = " + llvm::Twine(config.get(field)) + ": expected " + legal).str();
  };
  for (unsigned field = 0; field < 9; ++field)
    if (config.get(field) < 1)
      return wrong(field, "a positive integer");
  if (config.loopOrder < 0 || config.loopOrder >= MatmulConfig::kNumLoopOrders)
    return wrong(9, "0 to " + llvm::Twine(MatmulConfig::kNumLoopOrders - 1));
  for (MatmulDim dim : {kM, kN, kK}) {
    if (config.innermost[dim] % matmul.unit[dim] != 0)
      return wrong(6 + dim,
                   "a multiple of the operand's blocks of " + llvm::Twine(matmul.unit[dim]));
    if (config.block[dim] % config.innermost[dim] != 0)
      return wrong(3 + dim,
                   "a multiple of " + names[6 + dim] + " = " + llvm::Twine(config.innermost[dim]));
    int64_t extent = matmul.extent(dim);
    // Scratch memory is as large as blocks are; it must not outgrow the operands by much.
    bool isDynamic = ShapedType::isDynamic(extent);
    int64_t most =
        isDynamic ? kLargestDynamicBlock : llvm::alignTo(std::max<int64_t>(extent, 1), 64);
    most = std::max(most, matmul.unit[dim]);
    if (config.innermost[dim] > most)
      return wrong(6 + dim, "at most " + llvm::Twine(most));
    if (isDynamic && config.block[dim] > most)
      return wrong(3 + dim,
                   "at most " + llvm::Twine(most) + ", as the size is known at run time only");
    if (isDynamic)
      continue;
    int64_t blocks = llvm::divideCeil(extent, config.innermost[dim]);
    if (config.threads[dim] > std::max<int64_t>(blocks, 1))
      return wrong(dim, "1 to " + llvm::Twine(std::max<int64_t>(blocks, 1)) +
                            ", the number of innermost blocks in " + llvm::Twine(extent) +
                            " elements");
  }
  return {};
}
