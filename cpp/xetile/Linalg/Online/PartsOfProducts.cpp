//===- PartsOfProducts.cpp - blocks of attentions, each by itself -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: maxima, sums of powers and products of these with values along n, a block's size. Out: the
// same ops on blocks of n, whose number is one more dimension, with the scores that they reduce.
// Refused: reductions of other kinds, scores and values of which a block is no view.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Online/PartsOfProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/IR/NeutralValue.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/CutDimension.h"

using namespace mlir;
using namespace xetile;

namespace {

/// True if `op` sums up products of two operands along one loop.
bool isProduct(linalg::GenericOp op) {
  return op && op.getNumDpsInputs() == 2 && op->getNumResults() == 1 &&
         op.getNumReductionLoops() == 1 && addsProduct(*op.getBody()) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); });
}

/// The input of the last product that is computed by the ops of `online`, and the other one.
std::optional<std::pair<OpOperand *, OpOperand *>> powersAndValues(const Online &online) {
  linalg::GenericOp last = online.reductions.back().op;
  if (!isProduct(last))
    return std::nullopt;
  OpOperand *first = last.getDpsInputOperand(0), *second = last.getDpsInputOperand(1);
  auto isComputed = [&](OpOperand *operand) {
    return online.isBetween(operand->get().getDefiningOp());
  };
  if (isComputed(first) == isComputed(second))
    return std::nullopt;
  return isComputed(first) ? std::pair(first, second) : std::pair(second, first);
}

/// Loops of the last product: those of rows, which only powers have, of columns, which only values
/// have, and others; without n.
struct ProductLoops {
  SmallVector<unsigned> rows, columns, others;
};

ProductLoops loopsOf(const Online &online) {
  ProductLoops loops;
  linalg::GenericOp op = online.reductions.back().op;
  auto [powers, values] = *powersAndValues(online);
  AffineMap ofPowers = op.getMatchingIndexingMap(powers),
            ofValues = op.getMatchingIndexingMap(values);
  for (unsigned loop : llvm::seq(op.getNumLoops()))
    if (loop != online.reductions.back().loop)
      (!ofValues.isFunctionOfDim(loop)   ? loops.rows
       : !ofPowers.isFunctionOfDim(loop) ? loops.columns
                                         : loops.others)
          .push_back(loop);
  return loops;
}

} // namespace

namespace xetile {

/// Writes them for all blocks at once.
class PartsOfProducts {
public:
  PartsOfProducts(OnlineMaker &maker, int64_t size, SmallVectorImpl<Operation *> &made)
      : maker(maker), b(maker.b), online(maker.online), loc(maker.loc), size(size),
        count(llvm::divideCeil(online.extent, size)),
        n(online.axisOf(online.n.first, online.n.second)), needsRow(loopsOf(online).rows.empty()),
        made(made) {}

  llvm::DenseMap<Value, Value> run();

private:
  /// A tensor of blocks, and where it has the dimension of rows that the one that it stands for
  /// lacks.
  struct Blocks {
    Value tensor;
    unsigned row = 0;
  };
  std::optional<unsigned> loopAlong(linalg::GenericOp op);
  bool isScores(Operation *op);
  Value cut(Value tensor, unsigned dim);
  Value withRow(Value tensor);
  Value start(linalg::GenericOp op, const OnlineReduction *reduction, ArrayRef<int64_t> shape);
  void write(linalg::GenericOp op);
  void adapt(linalg::GenericOp from, linalg::GenericOp to);
  Value ifThere(linalg::GenericOp op, unsigned along, Value x);
  Value withoutRow(const Blocks &blocks);

  OnlineMaker &maker;
  RewriterBase &b;
  Online &online;
  Location loc;
  int64_t size, count;
  OnlineAxis n;
  /// True if the products are of one row, whose dimension the tensors lack.
  bool needsRow;
  SmallVectorImpl<Operation *> &made;
  llvm::DenseMap<Value, Blocks> blocksOf;
  llvm::DenseMap<Value, Value> parts;
};

} // namespace xetile

/// The loop of `op` along n.
std::optional<unsigned> PartsOfProducts::loopAlong(linalg::GenericOp op) {
  if (online.ops.contains(op))
    return online.loopOf(op);
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (online.axisOf(op.getResult(0).getAsOpaquePointer(), dim) == n)
      return cast<AffineDimExpr>(expr).getPosition();
  return std::nullopt;
}

/// True if `op` computes what is reduced, by products.
bool PartsOfProducts::isScores(Operation *op) {
  auto generic = dyn_cast_if_present<linalg::GenericOp>(op);
  return isProduct(generic) && !online.ops.contains(op) && loopAlong(generic);
}

/// A tensor along n in blocks; zeros behind its end.
Value PartsOfProducts::cut(Value tensor, unsigned dim) {
  if (auto known = parts.find(tensor); known != parts.end())
    return known->second;
  return parts[tensor] = cutDimension(b, loc, tensor, dim, count, size, made);
}

/// `tensor` with a dimension of one row before its last one.
Value PartsOfProducts::withRow(Value tensor) {
  if (auto known = parts.find(tensor); known != parts.end())
    return known->second;
  RankedTensorType type = typeOf(tensor);
  int64_t rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.end() - 1, 1);
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim)
    groups.push_back({dim});
  groups.back() = {rank - 1, rank};
  return parts[tensor] =
             tensor::ExpandShapeOp::create(b, loc, type.clone(shape), tensor, groups).getResult();
}

/// The init value of an op on blocks.
Value PartsOfProducts::start(linalg::GenericOp op, const OnlineReduction *reduction,
                             ArrayRef<int64_t> shape) {
  Type element = typeOf(op.getResult(0)).getElementType();
  if (reduction && reduction->power)
    element = maker.carriedType(*reduction);
  Value empty = tensor::EmptyOp::create(b, loc, shape, element);
  if (op.getNumReductionLoops() == 0)
    return empty;
  TypedAttr from = cast<TypedAttr>(b.getZeroAttr(element));
  if (reduction && !reduction->power) {
    auto real = cast<FloatType>(element);
    from = b.getFloatAttr(real, APFloat::getInf(real.getFloatSemantics(), /*Negative=*/true));
  }
  Value value = arith::ConstantOp::create(b, loc, from);
  return linalg::FillOp::create(b, loc, value, empty).getResult(0);
}

/// `op` on blocks: loops are those that it had, then the number of the block and the row.
void PartsOfProducts::write(linalg::GenericOp op) {
  unsigned loops = op.getNumLoops();
  std::optional<unsigned> along = loopAlong(op);
  AffineExpr block = b.getAffineDimExpr(loops), row = b.getAffineDimExpr(loops + 1);
  AffineExpr ofN = along ? b.getAffineDimExpr(*along) : AffineExpr();
  SmallVector<AffineMap> maps;
  auto add = [&](ArrayRef<AffineExpr> exprs) {
    maps.push_back(AffineMap::get(loops + (needsRow ? 2 : 1), 0, exprs, b.getContext()));
  };
  SmallVector<Value> inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    SmallVector<AffineExpr> exprs(op.getMatchingIndexingMap(input).getResults());
    Value tensor = input->get();
    if (auto blocks = blocksOf.find(tensor); blocks != blocksOf.end()) {
      if (needsRow)
        exprs.insert(exprs.begin() + blocks->second.row, row);
      exprs.insert(exprs.begin(), block);
      tensor = blocks->second.tensor;
    } else if (auto at = ofN ? llvm::find(exprs, ofN) : exprs.end(); at != exprs.end()) {
      tensor = cut(tensor, at - exprs.begin());
      exprs.insert(at, block);
    } else if (needsRow && isScores(op)) {
      tensor = withRow(tensor);
      exprs.insert(exprs.end() - 1, row);
    }
    inputs.push_back(tensor);
    add(exprs);
  }
  SmallVector<AffineExpr> exprs(op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults());
  SmallVector<int64_t> shape(typeOf(op.getResult(0)).getShape());
  Blocks result;
  const OnlineReduction *reduction = online.reductionOf(op.getResult(0));
  auto at = ofN ? llvm::find(exprs, ofN) : exprs.end();
  if (at != exprs.end())
    shape[result.row = at - exprs.begin()] = size;
  else
    result.row = exprs.size() - (reduction && isProduct(op) ? 1 : 0);
  if (needsRow) {
    exprs.insert(exprs.begin() + result.row, row);
    shape.insert(shape.begin() + result.row, 1);
  }
  exprs.insert(exprs.begin(), block);
  shape.insert(shape.begin(), count);
  add(exprs);
  Value init = start(op, reduction, shape);
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  kinds.append(needsRow ? 2 : 1, utils::IteratorType::parallel);
  auto written = linalg::GenericOp::create(b, op.getLoc(), TypeRange(init.getType()), inputs,
                                           ValueRange(init), maps, kinds);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&written.getRegion(), mapping);
  adapt(op, written);
  if (Type wide = typeOf(init).getElementType(); wide != typeOf(op.getResult(0)).getElementType())
    widenSum(b, written, wide);
  made.push_back(written);
  result.tensor = written.getResult(0);
  blocksOf[op.getResult(0)] = result;
}

/// `x`, but minus infinity where a block has no element any more.
Value PartsOfProducts::ifThere(linalg::GenericOp op, unsigned along, Value x) {
  if (count * size == online.extent)
    return x;
  unsigned number = op.getNumLoops() - (needsRow ? 2 : 1);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value first =
      arith::MulIOp::create(b, loc, linalg::IndexOp::create(b, loc, number), constant(size));
  Value place = arith::AddIOp::create(b, loc, first, linalg::IndexOp::create(b, loc, along));
  Value isThere =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, constant(online.extent));
  auto real = cast<FloatType>(x.getType());
  Value none = arith::ConstantOp::create(
      b, loc, b.getFloatAttr(real, APFloat::getInf(real.getFloatSemantics(), /*Negative=*/true)));
  return arith::SelectOp::create(b, loc, isThere, x, none);
}

/// Indices along n start at the block, differences are never those of infinities, steps of rows are
/// left out, and elements behind the end are minus infinity.
void PartsOfProducts::adapt(linalg::GenericOp from, linalg::GenericOp to) {
  OpBuilder::InsertionGuard guard(b);
  std::optional<unsigned> along = loopAlong(from);
  unsigned number = from.getNumLoops();
  SmallVector<std::pair<Operation *, Operation *>> pairs;
  for (auto [old, made] :
       llvm::zip_equal(from.getBody()->without_terminator(), to.getBody()->without_terminator()))
    pairs.push_back({&old, &made});
  const OnlineReduction *reduction = online.reductionOf(from.getResult(0));
  if (reduction && !reduction->power) {
    Operation *combiner = nullptr;
    Value element = elementOf(to, combiner);
    b.setInsertionPoint(combiner);
    combiner->replaceUsesOfWith(element, ifThere(to, *along, element));
  }
  llvm::DenseSet<Operation *> adapted;
  for (auto [old, written] : pairs) {
    b.setInsertionPointAfter(written);
    auto index = dyn_cast<linalg::IndexOp>(written);
    if (index && along && index.getDim() == *along) {
      Value first = arith::MulIOp::create(b, loc, linalg::IndexOp::create(b, loc, number),
                                          arith::ConstantIndexOp::create(b, loc, size));
      Value moved = arith::AddIOp::create(b, loc, index, first);
      b.replaceAllUsesExcept(index.getResult(), moved, moved.getDefiningOp());
      continue;
    }
    for (OnlineReduction &each : online.reductions) {
      if (!each.power)
        continue;
      if (each.power->difference == old) {
        b.setInsertionPoint(written);
        written->setOperand(0, ifThere(to, *along, written->getOperand(0)));
        written->setOperand(1, maker.finite(b, written->getOperand(1)));
        break;
      }
      if (llvm::is_contained(each.power->rowSteps, old)) {
        for (auto [i, operand] : llvm::enumerate(old->getOperands()))
          if (online.dependsOn(from, operand, each.power->power))
            b.replaceAllUsesWith(written->getResult(0), written->getOperand(i));
        b.eraseOp(written);
        break;
      }
    }
  }
}

/// The blocks of a reduction without the dimension of the row that was added.
Value PartsOfProducts::withoutRow(const Blocks &blocks) {
  if (!needsRow)
    return blocks.tensor;
  RankedTensorType type = typeOf(blocks.tensor);
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim == static_cast<int64_t>(blocks.row) + 1)
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + blocks.row + 1);
  return tensor::CollapseShapeOp::create(b, loc, type.clone(shape), blocks.tensor, groups);
}

llvm::DenseMap<Value, Value> PartsOfProducts::run() {
  llvm::SetVector<Operation *> ops(online.ops.begin(), online.ops.end());
  for (Operation *op : online.ops)
    for (Value input : cast<linalg::GenericOp>(op).getDpsInputs())
      if (isScores(input.getDefiningOp()))
        ops.insert(input.getDefiningOp());
  SmallVector<Operation *> sorted = ops.takeVector();
  llvm::sort(sorted, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  for (Operation *op : sorted)
    write(cast<linalg::GenericOp>(op));
  llvm::DenseMap<Value, Value> results;
  for (const OnlineReduction &reduction : online.reductions) {
    linalg::GenericOp op = reduction.op;
    results[op.getResult(0)] = withoutRow(blocksOf[op.getResult(0)]);
  }
  return results;
}

llvm::DenseMap<Value, Value> xetile::partsOfProducts(OnlineMaker &maker, int64_t size,
                                                     SmallVectorImpl<Operation *> &made) {
  return PartsOfProducts(maker, size, made).run();
}

SmallVector<Operation *> xetile::splitProducts(RewriterBase &b, Online &online, int64_t block) {
  SmallVector<Operation *> made;
  OnlineMaker(b, online).split(block, &made);
  return made;
}

bool xetile::sumsProducts(Operation *op) { return isProduct(dyn_cast<linalg::GenericOp>(op)); }

Problem xetile::whyNotSplitProducts(const Online &online) {
  if (!powersAndValues(online))
    return "expected products of powers and values that are in memory";
  for (const OnlineReduction &reduction : online.reductions) {
    linalg::GenericOp op = reduction.op;
    if (reduction.square || (!reduction.power && !online.isSubtracted(reduction)) ||
        !isa<FloatType>(getElementTypeOrSelf(op.getResult(0).getType())))
      return "expected maxima that are subtracted from exponents, and sums of their powers alone";
  }
  ProductLoops loops = loopsOf(online);
  if (loops.columns.size() != 1)
    return "expected values with one dimension that powers lack, got " +
           std::to_string(loops.columns.size());
  return {};
}

ProductSizes xetile::sizesOfProduct(const Online &online) {
  ProductLoops loops = loopsOf(online);
  linalg::GenericOp op = online.reductions.back().op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  ProductSizes sizes;
  sizes.hasRows = !loops.rows.empty();
  for (unsigned loop : loops.rows) {
    sizes.others *= extents[loop];
    sizes.rows = std::max(sizes.rows, extents[loop]);
  }
  sizes.others /= sizes.rows;
  for (unsigned loop : loops.columns)
    sizes.columns = extents[loop];
  for (unsigned loop : loops.others)
    sizes.others *= extents[loop];
  return sizes;
}
