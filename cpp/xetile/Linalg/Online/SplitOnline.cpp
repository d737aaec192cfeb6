//===- SplitOnline.cpp - blocks of dependent reductions, each by itself --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: reductions along n that may depend on one another, a block's size. Out: the same of each
// block, whose number is one more dimension, and what all blocks give. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/IR/NeutralValue.h"
#include "xetile/Linalg/Online/AxisOp.h"
#include "xetile/Linalg/Online/OnlineMaker.h"
#include "xetile/Linalg/Online/PartsOfProducts.h"
#include "xetile/Linalg/Scan.h"

using namespace mlir;
using namespace xetile;

namespace {

/// The number of a block, and the place in it.
const OnlineAxis kBlock{nullptr, 0}, kWithin{nullptr, 1};

} // namespace

namespace xetile {

/// Writes one block's reductions for all blocks at once.
class BlockwiseOnline {
public:
  BlockwiseOnline(OnlineMaker &maker, int64_t size)
      : maker(maker), b(maker.b), online(maker.online), loc(maker.loc), size(size),
        count(llvm::divideCeil(online.extent, size)),
        n(online.axisOf(online.n.first, online.n.second)) {}

  SmallVector<Value> totals();
  /// The same of blocks that others wrote, whose number comes first.
  SmallVector<Value> totals(const llvm::DenseMap<Value, Value> &made);

private:
  SmallVector<OnlineAxis> inBlocks(ArrayRef<OnlineAxis> axes);
  Value blocksOf(const OnlineLeaf &leaf);
  Value readInstead(const OnlineLeaf &leaf);
  Type partType(const OnlineReduction &reduction);
  Value start(const OnlineReduction &reduction, Operation *combiner, Type type);
  Value part(const OnlineReduction &reduction);
  Value total(const OnlineReduction &reduction);
  Value totalOfPlain(const OnlineReduction &reduction, AxisOp &sum);
  Value scalar(OpBuilder &inside, linalg::GenericOp op, Value value, AxisOp::Get get);
  Value sizeOfBlock(OpBuilder &inside, unsigned loop, Type type);
  Value neutralBehindEnd(OpBuilder &inside, Operation *combiner, Value x);

  SmallVector<OnlineAxis> axesOfPart(ArrayRef<OnlineAxis> of) const;

  OnlineMaker &maker;
  RewriterBase &b;
  Online &online;
  Location loc;
  int64_t size, count;
  OnlineAxis n;
  /// True if results of blocks have the number of the block first rather than last.
  bool numberFirst = false;
  /// Of the op that is written.
  SmallVector<OnlineAxis> axes;
  /// Tensors that are read in place of others.
  llvm::DenseMap<Value, Value> instead, parts, whole;
};

} // namespace xetile

/// Axes of a tensor that is cut into blocks; results of reductions have their number last.
SmallVector<OnlineAxis> BlockwiseOnline::inBlocks(ArrayRef<OnlineAxis> of) {
  SmallVector<OnlineAxis> result;
  for (OnlineAxis axis : of) {
    result.push_back(axis == n ? kBlock : axis);
    if (axis == n)
      result.push_back(kWithin);
  }
  return result;
}

/// A tensor along n in blocks; zeros behind its end.
Value BlockwiseOnline::blocksOf(const OnlineLeaf &leaf) {
  Value tensor = leaf.tensor;
  auto dim = static_cast<unsigned>(llvm::find(leaf.axes, n) - leaf.axes.begin());
  RankedTensorType type = typeOf(tensor);
  SmallVector<int64_t> shape(type.getShape());
  if (int64_t rest = count * size - shape[dim]) {
    SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high = low;
    high[dim] = b.getIndexAttr(rest);
    shape[dim] += rest;
    Value zero =
        arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
    tensor = tensor::PadOp::create(b, loc, type.clone(shape), tensor, low, high, zero);
  }
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> cut;
  for (unsigned each = 0; each < shape.size(); ++each) {
    groups.push_back({static_cast<int64_t>(cut.size())});
    if (each != dim) {
      cut.push_back(shape[each]);
      continue;
    }
    groups.back().push_back(static_cast<int64_t>(cut.size()) + 1);
    llvm::append_values(cut, count, size);
  }
  return tensor::ExpandShapeOp::create(b, loc, type.clone(cut), tensor, groups);
}

Value BlockwiseOnline::readInstead(const OnlineLeaf &leaf) {
  if (Value known = instead.lookup(leaf.tensor))
    return known;
  Value result = leaf.tensor;
  if (online.reductionOf(leaf.tensor))
    result = parts[leaf.tensor];
  else if (llvm::is_contained(leaf.axes, n))
    result = blocksOf(leaf);
  return instead[leaf.tensor] = result;
}

/// Of sums at least f32.
Type BlockwiseOnline::partType(const OnlineReduction &reduction) {
  linalg::GenericOp op = reduction.op;
  Type type = typeOf(op.getResult(0)).getElementType();
  Operation *combiner = nullptr;
  (void)elementOf(op, combiner);
  bool widens = isa<arith::AddFOp, arith::MulFOp>(combiner) && isa<Float16Type, BFloat16Type>(type);
  return widens ? b.getF32Type() : type;
}

/// The init value of a block's reduction.
Value BlockwiseOnline::start(const OnlineReduction &reduction, Operation *combiner, Type type) {
  linalg::GenericOp op = reduction.op;
  TypedAttr neutral = getNeutralValue(*linalg::getCombinerOpKind(combiner), type);
  if (isa<arith::MaxNumFOp>(combiner) && online.isSubtracted(reduction)) {
    auto element = cast<FloatType>(type);
    neutral = b.getFloatAttr(type, APFloat::getInf(element.getFloatSemantics(), /*Negative=*/true));
  }
  SmallVector<int64_t> shape(typeOf(op.getResult(0)).getShape());
  shape.push_back(count);
  Value empty = tensor::EmptyOp::create(b, loc, shape, type);
  Value value = arith::ConstantOp::create(b, loc, neutral);
  return linalg::FillOp::create(b, loc, value, empty).getResult(0);
}

/// `value` of an op's body for a block: differences are never those of infinities, steps of rows
/// are left out, indices along n start at the block.
Value BlockwiseOnline::scalar(OpBuilder &inside, linalg::GenericOp op, Value value,
                              AxisOp::Get get) {
  if (OpOperand *operand = operandOf(op, value)) {
    if (!isa<RankedTensorType>(operand->get().getType()))
      return operand->get();
    Operation *producer = operand->get().getDefiningOp();
    if (!online.isBetween(producer))
      return get(instead[operand->get()]);
    auto generic = cast<linalg::GenericOp>(producer);
    return scalar(inside, generic, yielded(generic), get);
  }
  Operation *by = value.getDefiningOp();
  if (!by || by->getBlock() != op.getBody())
    return value;
  if (auto index = dyn_cast<linalg::IndexOp>(by)) {
    OnlineAxis axis = online.axisOf(op, index.getDim());
    auto loop = [&](OnlineAxis of) -> Value {
      return linalg::IndexOp::create(inside, loc, llvm::find(axes, of) - axes.begin());
    };
    if (axis != n)
      return loop(axis);
    Value first = arith::MulIOp::create(inside, loc, loop(kBlock),
                                        arith::ConstantIndexOp::create(inside, loc, size));
    return arith::AddIOp::create(inside, loc, first, loop(kWithin));
  }
  IRMapping map;
  for (Value operand : by->getOperands())
    map.map(operand, scalar(inside, op, operand, get));
  for (const OnlineReduction &reduction : online.reductions) {
    if (!reduction.power)
      continue;
    if (llvm::is_contained(reduction.power->rowSteps, by))
      for (Value operand : by->getOperands())
        if (online.dependsOn(op, operand, reduction.power->power))
          return map.lookup(operand);
    if (reduction.power->difference == by) {
      map.map(by->getOperand(1), maker.finite(inside, map.lookup(by->getOperand(1))));
      break;
    }
  }
  return inside.clone(*by, map)->getResult(0);
}

/// The number of elements of a block; the last one may have fewer.
Value BlockwiseOnline::sizeOfBlock(OpBuilder &inside, unsigned loop, Type type) {
  if (count * size == online.extent)
    return arith::ConstantOp::create(inside, loc,
                                     inside.getFloatAttr(type, static_cast<double>(size)));
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(inside, loc, value);
  };
  Value block = linalg::IndexOp::create(inside, loc, loop);
  Value isLast =
      arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::eq, block, number(count - 1));
  auto real = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(inside, loc,
                                     inside.getFloatAttr(type, static_cast<double>(value)));
  };
  return arith::SelectOp::create(inside, loc, isLast, real(online.extent - (count - 1) * size),
                                 real(size));
}

/// `x`, but what `combiner` ignores where there is no element.
Value BlockwiseOnline::neutralBehindEnd(OpBuilder &inside, Operation *combiner, Value x) {
  auto loop = [&](OnlineAxis axis) -> Value {
    return linalg::IndexOp::create(inside, loc, llvm::find(axes, axis) - axes.begin());
  };
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(inside, loc, value);
  };
  Value first = arith::MulIOp::create(inside, loc, loop(kBlock), number(size));
  Value place = arith::AddIOp::create(inside, loc, first, loop(kWithin));
  Value isThere =
      arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, place, number(online.extent));
  Value none = arith::ConstantOp::create(
      inside, loc, getNeutralValue(*linalg::getCombinerOpKind(combiner), x.getType()));
  return arith::SelectOp::create(inside, loc, isThere, x, none);
}

/// A reduction of each block.
Value BlockwiseOnline::part(const OnlineReduction &reduction) {
  linalg::GenericOp op = reduction.op;
  Operation *combiner = nullptr;
  Value element = elementOf(op, combiner);
  SmallVector<OnlineAxis> kept = online.axesOfResult(op);
  axes = kept;
  axes.push_back(kBlock);
  axes.push_back(kWithin);
  for (unsigned loop : llvm::seq(op.getNumLoops()))
    if (OnlineAxis axis = online.axisOf(op, loop); axis != n && !llvm::is_contained(kept, axis))
      axes.push_back(axis);
  SmallVector<OnlineLeaf> leaves;
  linalg::GenericOp of = op;
  if (reduction.square) {
    const OnlineSquare &square = *reduction.square;
    of = maker.opOf(square.difference);
    element = square.difference->getOperand(square.varying);
  }
  // The first one tells along which loop memory is contiguous.
  online.leavesOf(of, element, leaves);
  if (reduction.square) {
    linalg::GenericOp centre = reduction.square->sum;
    leaves.push_back({centre.getResult(0), online.axesOfResult(centre)});
  }
  AxisOp sum(axes);
  for (OnlineLeaf &leaf : leaves) {
    SmallVector<OnlineAxis> blocked = inBlocks(leaf.axes);
    if (online.reductionOf(leaf.tensor))
      blocked.push_back(kBlock);
    sum.add(readInstead(leaf), blocked);
  }
  Type type = partType(reduction);
  return sum.reduce(
      b, loc, start(reduction, combiner, type), [&](OpBuilder &inside, auto get, Value so_far) {
        Value x = scalar(inside, of, element, get);
        if (isa<FloatType>(type))
          x = convert(inside, loc, x, type);
        if (reduction.square) {
          linalg::GenericOp centre = reduction.square->sum;
          Value mean = convert(inside, loc, get(parts[centre.getResult(0)]), type);
          mean = arith::DivFOp::create(inside, loc, mean, sizeOfBlock(inside, kept.size(), type));
          Value far = arith::SubFOp::create(inside, loc, x, mean);
          x = arith::MulFOp::create(inside, loc, far, far);
        }
        if (count * size != online.extent)
          x = neutralBehindEnd(inside, combiner, x);
        return combineLike(inside, loc, combiner, so_far, x);
      });
}

/// A reduction that depends on none, of the results of blocks and its init value.
Value BlockwiseOnline::totalOfPlain(const OnlineReduction &reduction, AxisOp &sum) {
  linalg::GenericOp op = reduction.op;
  Operation *combiner = nullptr;
  (void)elementOf(op, combiner);
  Value init = op.getOutputs()[0], mine = parts[op.getResult(0)];
  Type type = typeOf(mine).getElementType();
  if (typeOf(init).getElementType() != type) {
    SmallVector<OnlineAxis> kept = online.axesOfResult(op);
    AxisOp wide(kept);
    wide.add(init, kept);
    init = wide.create(b, loc, typeOf(init).getShape(), type, [&](OpBuilder &inside, auto get) {
      return convert(inside, loc, get(op.getOutputs()[0]), type);
    });
  }
  return sum.reduce(b, loc, init, [&](OpBuilder &inside, auto get, Value so_far) {
    return combineLike(inside, loc, combiner, so_far, get(mine));
  });
}

SmallVector<OnlineAxis> BlockwiseOnline::axesOfPart(ArrayRef<OnlineAxis> of) const {
  SmallVector<OnlineAxis> result(of);
  result.insert(numberFirst ? result.begin() : result.end(), kBlock);
  return result;
}

/// A reduction of the results of blocks.
Value BlockwiseOnline::total(const OnlineReduction &reduction) {
  linalg::GenericOp op = reduction.op;
  SmallVector<OnlineAxis> kept = online.axesOfResult(op);
  axes = kept;
  axes.push_back(kBlock);
  Value mine = parts[op.getResult(0)];
  Type type = typeOf(mine).getElementType();
  AxisOp sum(axes);
  sum.add(mine, axesOfPart(kept));
  if (!reduction.depends())
    return totalOfPlain(reduction, sum);
  auto blocked = [&](ArrayRef<OnlineAxis> of) { return axesOfPart(of); };
  if (reduction.square) {
    linalg::GenericOp centre = reduction.square->sum;
    Value of = centre.getResult(0);
    SmallVector<OnlineAxis> ofSum = online.axesOfResult(centre);
    sum.add(parts[of], blocked(ofSum));
    sum.add(whole[of], ofSum);
    return sum.reduce(b, loc, maker.zeros(op, type),
                      [&](OpBuilder &inside, auto get, Value so_far) {
                        Value elements = sizeOfBlock(inside, kept.size(), type);
                        Value mean = maker.times(inside, convert(inside, loc, get(whole[of]), type),
                                                 1.0 / static_cast<double>(online.extent));
                        Value own = arith::DivFOp::create(
                            inside, loc, convert(inside, loc, get(parts[of]), type), elements);
                        Value apart = arith::SubFOp::create(inside, loc, own, mean);
                        apart = arith::MulFOp::create(inside, loc, apart, apart);
                        apart = arith::MulFOp::create(inside, loc, apart, elements);
                        Value about = arith::AddFOp::create(inside, loc, get(mine), apart);
                        return arith::AddFOp::create(inside, loc, so_far, about).getResult();
                      });
  }
  Operation *difference = reduction.power->difference;
  SmallVector<OnlineLeaf> leaves;
  online.leavesOf(maker.opOf(difference), difference->getOperand(1), leaves);
  auto was = [&](Value tensor) { return online.reductionOf(tensor) ? parts[tensor] : tensor; };
  auto is = [&](Value tensor) { return online.reductionOf(tensor) ? whole[tensor] : tensor; };
  for (OnlineLeaf &leaf : leaves) {
    sum.add(is(leaf.tensor), leaf.axes);
    if (online.reductionOf(leaf.tensor))
      sum.add(was(leaf.tensor), blocked(leaf.axes));
  }
  return sum.reduce(b, loc, maker.zeros(op, type), [&](OpBuilder &inside, auto get, Value so_far) {
    Value ratio = maker.ratioOf(
        inside, reduction, leaves, [&](Value tensor) { return get(was(tensor)); },
        [&](Value tensor) { return get(is(tensor)); });
    Value product =
        arith::MulFOp::create(inside, loc, get(mine), convert(inside, loc, ratio, type));
    return arith::AddFOp::create(inside, loc, so_far, product).getResult();
  });
}

SmallVector<Value> BlockwiseOnline::totals() {
  SmallVector<Value> all;
  for (const OnlineReduction &reduction : online.reductions) {
    linalg::GenericOp op = reduction.op;
    parts[op.getResult(0)] = part(reduction);
  }
  for (const OnlineReduction &reduction : online.reductions) {
    linalg::GenericOp op = reduction.op;
    all.push_back(whole[op.getResult(0)] = total(reduction));
  }
  return all;
}

SmallVector<Value> BlockwiseOnline::totals(const llvm::DenseMap<Value, Value> &made) {
  numberFirst = true;
  parts = made;
  SmallVector<Value> all;
  for (const OnlineReduction &reduction : online.reductions) {
    linalg::GenericOp op = reduction.op;
    all.push_back(whole[op.getResult(0)] = total(reduction));
  }
  return all;
}

void OnlineMaker::split(int64_t block, SmallVectorImpl<Operation *> *made) {
  online.binary = false;
  b.setInsertionPointAfter(online.reductions.back().op);
  BlockwiseOnline blocks(*this, block);
  replace(finish(made ? blocks.totals(partsOfProducts(*this, block, *made)) : blocks.totals()));
}

void xetile::splitOnline(RewriterBase &b, Online &online, int64_t block) {
  OnlineMaker(b, online).split(block);
}
