//===- MicrokernelCall.cpp - the body of a deep-tiled matmul ----------------===//
// In: innermost blocks of A, B and C. Out: a batch-reduce matmul, or a contraction where the form
// has none, with the initialisation folded into the first K step. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Target/Cpu/LoopNest/DeepTiler.h"

using namespace mlir;
using namespace xetile;

static Value multiplyAdd(OpBuilder &b, Location loc, Value left, Value right, Value sum) {
  if (isa<FloatType>(sum.getType()))
    return arith::AddFOp::create(b, loc, sum, arith::MulFOp::create(b, loc, left, right));
  return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, left, right));
}

/// Adds `bias`, over n, to the rows of `c`.
static Value addBias(OpBuilder &b, Location loc, Value bias, Value c) {
  if (!bias)
    return c;
  SmallVector<AffineMap> maps = {AffineMap::get(2, 0, b.getAffineDimExpr(1)),
                                 b.getMultiDimIdentityMap(2)};
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  auto sum = linalg::GenericOp::create(
      b, loc, TypeRange(c.getType()), ValueRange(bias), ValueRange(c), maps, iterators,
      [](OpBuilder &builder, Location at, ValueRange args) {
        linalg::YieldOp::create(builder, at,
                                arith::AddIOp::create(builder, at, args[0], args[1]).getResult());
      });
  return sum.getResult(0);
}

Value DeepTiler::microkernel(const Tile &block, Value a, Value bTile, Value c, Value bias) {
  if (!initial)
    return batchReduce(a, bTile, addBias(b, loc, bias, c));
  auto start = [&] {
    Value value = arith::ConstantOp::create(b, loc, initial);
    Value filled = linalg::FillOp::create(b, loc, value, c).getResult(0);
    return batchReduce(a, bTile, addBias(b, loc, bias, filled));
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
  scf::YieldOp::create(b, loc, batchReduce(a, bTile, addBias(b, loc, bias, c)));
  return choice.getResult(0);
}

/// Splits the last dimension in groups.
static Value splitGroups(OpBuilder &b, Location loc, Value value, Index first, Index count,
                         int64_t group) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Index> sizes = {first, count, b.getIndexAttr(group)};
  SmallVector<int64_t> shape = {getConstantIntValue(first).value_or(ShapedType::kDynamic),
                                getConstantIntValue(count).value_or(ShapedType::kDynamic), group};
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2}};
  return tensor::ExpandShapeOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()),
                                       value, groups, sizes);
}

Value DeepTiler::callOnGroups(const Tile &block, const Tile &tile, Value a, Value bBlock, Value c) {
  Index zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Index groups = ceilDivIndex(b, loc, tile.sizes[kK], options.group);
  Index m = tile.sizes[kM], n = tile.sizes[kN];
  auto slice = [&](Value source, ArrayRef<Index> offsets, ArrayRef<Index> sizes,
                   size_t rank = 2) -> Value {
    SmallVector<int64_t> shape;
    for (Index size : sizes.take_back(rank))
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    Type element = cast<RankedTensorType>(source.getType()).getElementType();
    SmallVector<Index> strides(offsets.size(), one);
    return tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get(shape, element), source,
                                          offsets, sizes, strides);
  };
  int64_t group = options.group;
  Value aTile = slice(a, {tile.offsets[kM], zero}, {m, mulIndex(b, loc, groups, group)});
  aTile = splitGroups(b, loc, aTile, m, groups, group);
  Index number = floorDivIndex(b, loc, tile.offsets[kN], config.innermost[kN]);
  Value bTile = slice(bBlock, {number, zero, zero}, {one, groups, mulIndex(b, loc, n, group)});
  bTile = splitGroups(b, loc, bTile, groups, n, group);
  Value bias;
  if (block.columnSums)
    bias = slice(block.columnSums, {number, zero}, {one, n}, 1);
  return microkernel(block, aTile, bTile, c, bias);
}

/// Adds a leading batch dimension of one.
static Value addUnitBatch(OpBuilder &b, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  SmallVector<Index> sizes = {b.getIndexAttr(1)};
  llvm::append_range(sizes, tensor::getMixedSizes(b, loc, value));
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (int64_t dim = 2; dim <= type.getRank(); ++dim)
    groups.push_back({dim});
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
  bool packed = panels && cast<RankedTensorType>(bTile.getType()).getRank() == 3;
  bool integers = isa<IntegerType>(matmul.elementType(0));
  linalg::LinalgOp kernel;
  if (packed && options.group > 1) {
    // m, n, group of k, element of the group.
    AffineExpr row, column, group, part;
    bindDims(b.getContext(), row, column, group, part);
    bool columnMajor = thread.maps[2].getDimPosition(0) == n;
    SmallVector<AffineExpr> result = {row, column};
    if (columnMajor)
      std::swap(result[0], result[1]);
    SmallVector<AffineMap> maps = {AffineMap::get(4, 0, {row, group, part}, b.getContext()),
                                   AffineMap::get(4, 0, {group, column, part}, b.getContext()),
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
      a = addUnitBatch(b, loc, a);
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
        Value left = extendElement(builder, at, args[0], args[2].getType(), isUnsigned(0));
        Value right = extendElement(builder, at, args[1], args[2].getType(), isUnsigned(1));
        linalg::YieldOp::create(builder, at, multiplyAdd(builder, at, left, right, args[2]));
      });
}
