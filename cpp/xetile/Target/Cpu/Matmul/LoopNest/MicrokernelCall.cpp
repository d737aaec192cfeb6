//===- MicrokernelCall.cpp - the body of a deep-tiled matmul ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: innermost blocks of A, B and C. Out: a batch-reduce matmul, or a contraction where the form
// has none, with the initialisation folded into the first K step. Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Matmul/LoopNest/MicrokernelCall.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Target/Cpu/Matmul/LoopNest/Elements.h"
#include "xetile/Target/Cpu/Matmul/Packing/FetchBlocks.h"

using namespace mlir;
using namespace xetile;

namespace {
/// The tiles that one call multiplies; `bias`, if any, is added to each row of the sums.
struct Factors {
  Value a, b, bias;
};
} // namespace

static linalg::LinalgOp createGeneric(const ThreadNest &nest, const Factors &factors, Value sums,
                                      ArrayRef<AffineMap> maps,
                                      ArrayRef<utils::IteratorType> iterators) {
  const std::array<bool, 2> &isUnsigned = nest.plan.packing.isUnsigned;
  return linalg::GenericOp::create(
      nest.b, nest.loc, TypeRange(sums.getType()), ValueRange{factors.a, factors.b},
      ValueRange(sums), maps, iterators, [&](OpBuilder &b, Location loc, ValueRange args) {
        auto convert = [&](unsigned operand) {
          // Widened copies of a narrow result's inputs have values of its type.
          Type type = args[2].getType();
          return args[operand].getType().isF32() && isLowPrecision(type)
                     ? narrowElement(b, loc, args[operand], type)
                     : extendElement(b, loc, args[operand], type, isUnsigned[operand]);
        };
        Value left = convert(0), right = convert(1);
        Value product = isa<FloatType>(left.getType())
                            ? arith::MulFOp::create(b, loc, left, right).getResult()
                            : arith::MulIOp::create(b, loc, left, right).getResult();
        linalg::YieldOp::create(b, loc, addElements(b, loc, args[2], product));
      });
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

/// Operands in groups of k: the dimensions are m, n, group of k, element of the group.
static linalg::LinalgOp multiplyGroups(const ThreadNest &nest, const Factors &factors, Value sums) {
  MLIRContext *context = nest.b.getContext();
  AffineExpr row, column, group, part;
  bindDims(context, row, column, group, part);
  bool columnMajor = nest.map(2).getDimPosition(0) == nest.plan.matmul.tiled(kN);
  SmallVector<AffineExpr> result = {row, column};
  if (columnMajor)
    std::swap(result[0], result[1]);
  SmallVector<AffineMap> maps = {AffineMap::get(4, 0, {row, group, part}, context),
                                 AffineMap::get(4, 0, {group, column, part}, context),
                                 AffineMap::get(4, 0, result, context)};
  auto parallel = utils::IteratorType::parallel, reduction = utils::IteratorType::reduction;
  return createGeneric(nest, factors, sums, maps, {parallel, parallel, reduction, reduction});
}

/// The map of a block of B: rows that were copied along k have their own.
static AffineMap mapOfB(const ThreadNest &nest) {
  if (nest.plan.packing.operands[1].form != BlockForm::RowsFromColumns)
    return nest.map(1);
  const Contraction &matmul = nest.plan.matmul;
  OpBuilder &b = nest.b;
  return AffineMap::get(
      nest.map(1).getNumDims(), 0,
      {b.getAffineDimExpr(matmul.tiled(kN)), b.getAffineDimExpr(matmul.tiled(kK))}, b.getContext());
}

/// Operands of any form, which keep their maps; a packed B is [1][k][n], and a dimension of one
/// batches it.
static linalg::LinalgOp multiplyAsTheyAre(const ThreadNest &nest, Factors factors, Value sums,
                                          bool packed) {
  OpBuilder &b = nest.b;
  const Contraction &matmul = nest.plan.matmul;
  std::array<AffineMap, 3> maps = {nest.map(0), mapOfB(nest), nest.map(2)};
  SmallVector<utils::IteratorType> iterators(matmul.op.getIteratorTypesArray());
  unsigned dims = iterators.size();
  if (packed) {
    factors.a = addUnitBatch(b, nest.loc, factors.a);
    AffineExpr batch = b.getAffineDimExpr(dims);
    AffineExpr k = b.getAffineDimExpr(matmul.tiled(kK)), n = b.getAffineDimExpr(matmul.tiled(kN));
    maps[1] = AffineMap::get(dims + 1, 0, {batch, k, n}, b.getContext());
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
  return createGeneric(nest, factors, sums, maps, used);
}

/// One call of the microkernel.
static Value multiply(const ThreadNest &nest, const Factors &factors, Value sums) {
  const DeepTilePlan &plan = nest.plan;
  unsigned m = plan.matmul.tiled(kM), n = plan.matmul.tiled(kN), k = plan.matmul.tiled(kK);
  auto is = [&](unsigned operand, unsigned row, unsigned column) {
    AffineMap map = operand == 1 ? mapOfB(nest) : nest.map(operand);
    return plan.threads.isPlain(operand) && map.getDimPosition(0) == row &&
           map.getDimPosition(1) == column;
  };
  bool packed =
      plan.packing.hasPanels() && cast<RankedTensorType>(factors.b.getType()).getRank() == 3;
  bool integers = isa<IntegerType>(plan.matmul.elementType(0));
  linalg::LinalgOp kernel;
  if (packed && plan.packing.group > 1) {
    kernel = multiplyGroups(nest, factors, sums);
  } else if (is(0, m, k) && is(2, m, n) && (packed || is(1, k, n)) && !integers) {
    Value a = addUnitBatch(nest.b, nest.loc, factors.a);
    Value b = packed ? factors.b : addUnitBatch(nest.b, nest.loc, factors.b);
    kernel = linalg::BatchReduceMatmulOp::create(nest.b, nest.loc, sums.getType(), ValueRange{a, b},
                                                 ValueRange(sums));
  } else {
    kernel = multiplyAsTheyAre(nest, factors, sums, packed);
  }
  kernel->setAttr(kMicrokernelAttr, nest.b.getDenseI64ArrayAttr(plan.blocks.limits));
  markFetching(plan.fetches, kernel);
  return kernel->getResult(0);
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
        linalg::YieldOp::create(builder, at, addElements(builder, at, args[0], args[1]));
      });
  return sum.getResult(0);
}

/// The call, from the plan's start in the first step of k.
static Value startAndMultiply(const ThreadNest &nest, const BlockPiece &block, const Piece &tile,
                              const Factors &factors, Value sums) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  TypedAttr initial = nest.plan.epilogue.start;
  auto go = [&] {
    fetchLines(nest, block, tile);
    return multiply(nest, factors, addBias(b, loc, factors.bias, sums));
  };
  if (!initial)
    return go();
  auto start = [&] {
    fetchLines(nest, block, tile);
    Value value = arith::ConstantOp::create(b, loc, initial);
    Value filled = linalg::FillOp::create(b, loc, value, sums).getResult(0);
    return multiply(nest, factors, addBias(b, loc, factors.bias, filled));
  };
  auto offset = dyn_cast<Value>(block.offsets[kK]);
  if (!offset)
    return start();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, offset, zero);
  auto choice = scf::IfOp::create(b, loc, TypeRange(sums.getType()), first,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, start());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, go());
  return choice.getResult(0);
}

/// A slice of the last `rank` dimensions; the others are of size one.
static Value sliceLast(OpBuilder &b, Location loc, Value source, ArrayRef<Index> offsets,
                       ArrayRef<Index> sizes, size_t rank) {
  SmallVector<int64_t> shape;
  for (Index size : sizes.take_back(rank))
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  Type element = cast<RankedTensorType>(source.getType()).getElementType();
  SmallVector<Index> strides(offsets.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, RankedTensorType::get(shape, element), source,
                                        offsets, sizes, strides);
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

/// The tiles of packed operands, groups of k being a dimension of their own.
static Factors tilesOfGroups(const ThreadNest &nest, const BlockPiece &block, const Piece &tile,
                             Value a, Value bBlock) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  Index zero = nest.space.zero, one = nest.space.one;
  int64_t group = nest.plan.packing.group;
  Index groups = nest.plan.packing.groupsOf(b, loc, tile.sizes[kK]);
  Index m = tile.sizes[kM], n = tile.sizes[kN];
  Factors factors;
  factors.a =
      sliceLast(b, loc, a, {tile.offsets[kM], zero}, {m, mulIndex(b, loc, groups, group)}, 2);
  factors.a = splitGroups(b, loc, factors.a, m, groups, group);
  Index number = floorDivIndex(b, loc, tile.offsets[kN], nest.plan.packing.panel);
  factors.b =
      sliceLast(b, loc, bBlock, {number, zero, zero}, {one, groups, mulIndex(b, loc, n, group)}, 2);
  factors.b = splitGroups(b, loc, factors.b, groups, n, group);
  if (block.columnSums)
    factors.bias = sliceLast(b, loc, block.columnSums, {number, zero}, {one, n}, 1);
  return factors;
}

/// The tiles of operands as they are, or of B in panels.
static Factors tilesAsTheyAre(const ThreadNest &nest, const Piece &tile, Value a, Value bBlock) {
  OpBuilder &b = nest.b;
  Location loc = nest.loc;
  SmallVector<Index> offsets = nest.space.offsetsAt(tile.offsets),
                     sizes = nest.space.sizesOf(tile.sizes);
  Factors factors;
  factors.a = extractTile(b, loc, a, nest.map(0), offsets, sizes);
  if (!nest.plan.packing.hasPanels()) {
    factors.b = extractTile(b, loc, bBlock, mapOfB(nest), offsets, sizes);
    return factors;
  }
  Index zero = nest.space.zero, one = nest.space.one;
  Index number = floorDivIndex(b, loc, tile.offsets[kN], nest.plan.packing.panel);
  factors.b =
      sliceLast(b, loc, bBlock, {number, zero, zero}, {one, tile.sizes[kK], tile.sizes[kN]}, 3);
  return factors;
}

Value xetile::multiplyTile(const ThreadNest &nest, const BlockPiece &block, const Piece &tile,
                           Value a, Value bBlock, Value sums) {
  bool inGroups = nest.plan.packing.hasPanels() && nest.plan.packing.group > 1;
  Factors factors = inGroups ? tilesOfGroups(nest, block, tile, a, bBlock)
                             : tilesAsTheyAre(nest, tile, a, bBlock);
  return startAndMultiply(nest, block, tile, factors, sums);
}
