//===- TileSizes.cpp - sizes that a run knows ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function on tensors. Out: classes of dimensions that have one size, each a number, a size
// of an argument, or what the function computes of such. Refused: nothing; sizes of ops that are
// not looked into are asked for by tensor.dim.
#include "xetile/Schedule/Tiles/TileSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xetile::transform_ops {

/// Tiles are planned for this size where a run knows it: rows of some vectors each.
constexpr int64_t kPlanned = 256;

static int64_t rankOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getRank(); }

static int64_t staticSize(Value tensor, unsigned dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// The dimension that is asked for; none where only a run knows it, or the tensor has no such.
static std::optional<unsigned> dimOf(tensor::DimOp op) {
  std::optional<int64_t> number = op.getConstantIndex();
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  if (!type || !number || *number < 0 || *number >= type.getRank())
    return std::nullopt;
  return static_cast<unsigned>(*number);
}

TileSizes::TileSizes(RewriterBase &rewriter, func::FuncOp func) : rewriter(rewriter), func(func) {
  func.walk([&](Operation *op) {
    for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
      if (isa<RankedTensorType>(value.getType()))
        tensors[value.getAsOpaquePointer()] = value;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isa<RankedTensorType>(argument.getType()))
            tensors[argument.getAsOpaquePointer()] = argument;
    unify(op);
  });
}

bool TileSizes::haveOneShape(Value x, Value y) const {
  auto shapeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  if (shapeOf(x).size() != shapeOf(y).size())
    return false;
  for (auto [dim, ofX, ofY] : llvm::enumerate(shapeOf(x), shapeOf(y))) {
    if (!ShapedType::isDynamic(ofX) && ofX == ofY)
      continue;
    auto number = static_cast<unsigned>(dim);
    if (x != y &&
        !same.isEquivalent({x.getAsOpaquePointer(), number}, {y.getAsOpaquePointer(), number}))
      return false;
  }
  return true;
}

void TileSizes::replaceDims() {
  SmallVector<tensor::DimOp> asked;
  func.walk([&](tensor::DimOp op) { asked.push_back(op); });
  OpBuilder::InsertionGuard guard(rewriter);
  for (tensor::DimOp op : asked) {
    std::optional<unsigned> dim = dimOf(op);
    // Of an argument it is the argument's; bodies of ops get it as a number.
    if (!dim || (!op.getSource().getDefiningOp() && op->getBlock() == &func.getBody().front()))
      continue;
    Extent extent = of(op.getSource(), *dim);
    if (extent.value == op.getResult())
      continue;
    // Numbers that the function computes may come later.
    Operation *made = extent.value ? extent.value.getDefiningOp() : nullptr;
    Operation *around = made ? made->getBlock()->findAncestorOpInBlock(*op) : nullptr;
    if (made && (!around || !made->isBeforeInBlock(around)) && !isa<tensor::DimOp>(made))
      continue;
    rewriter.setInsertionPoint(op);
    Value size =
        extent.value
            ? extent.value
            : arith::ConstantIndexOp::create(rewriter, op.getLoc(), extent.number).getResult();
    rewriter.replaceAllUsesWith(op.getResult(), size);
  }
}

void TileSizes::join(Value x, unsigned dimOfX, Value y, unsigned dimOfY) {
  same.unionSets({x.getAsOpaquePointer(), dimOfX}, {y.getAsOpaquePointer(), dimOfY});
}

void TileSizes::joinNumber(Value tensor, unsigned dim, OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size)) {
    tensors[value.getAsOpaquePointer()] = value;
    join(tensor, dim, value, kNumber);
  }
}

/// Dimensions of groups in which all others are of one element.
void TileSizes::unifyReshape(Value wide, Value narrow, ArrayRef<ReassociationIndices> groups) {
  for (auto [number, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> live;
    for (int64_t dim : group)
      if (staticSize(wide, dim) != 1)
        live.push_back(dim);
    if (live.size() == 1)
      join(wide, live.front(), narrow, number);
  }
}

// Long: a case for each op, and nothing between them.
void TileSizes::unify(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr))
          same.unionSets({op, loop.getPosition()}, {operand.get().getAsOpaquePointer(), dim});
      if (linalgOp.isDpsInit(&operand))
        for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
          join(operand.get(), dim, linalgOp.getTiedOpResult(&operand), dim);
    }
    return;
  }
  auto joinAll = [&](Value x, Value y) {
    if (isa<RankedTensorType>(x.getType()) && isa<RankedTensorType>(y.getType()))
      for (unsigned dim = 0; dim < rankOf(x); ++dim)
        join(x, dim, y, dim);
  };
  auto joinSizes = [&](Value tensor, ArrayRef<OpFoldResult> sizes) {
    for (auto [dim, size] : llvm::enumerate(sizes))
      joinNumber(tensor, dim, size);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tensor::DimOp dim) {
        if (std::optional<unsigned> number = dimOf(dim))
          joinNumber(dim.getSource(), *number, dim.getResult());
      })
      .Case([&](tensor::CastOp cast) { joinAll(cast.getSource(), cast.getResult()); })
      .Case([&](tensor::EmptyOp empty) { joinSizes(empty, empty.getMixedSizes()); })
      .Case([&](tensor::SplatOp splat) {
        unsigned next = 0;
        for (unsigned dim = 0; dim < rankOf(splat); ++dim)
          if (ShapedType::isDynamic(staticSize(splat, dim)))
            joinNumber(splat, dim, splat.getDynamicSizes()[next++]);
      })
      .Case([&](tensor::InsertSliceOp insert) {
        joinAll(insert.getDest(), insert.getResult());
        unsigned next = 0;
        llvm::SmallBitVector dropped = insert.getDroppedDims();
        for (auto [dim, size] : llvm::enumerate(insert.getMixedSizes()))
          if (!dropped.test(dim))
            joinNumber(insert.getSource(), next++, size);
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        unsigned next = 0;
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
          if (!dropped.test(dim))
            joinNumber(slice, next++, size);
      })
      .Case([&](tensor::ConcatOp concat) {
        for (Value input : concat.getInputs())
          for (unsigned dim = 0; dim < rankOf(input); ++dim)
            if (dim != concat.getDim())
              join(input, dim, concat, dim);
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        joinSizes(expand, expand.getMixedOutputShape());
        unifyReshape(expand, expand.getSrc(), expand.getReassociationIndices());
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        unifyReshape(collapse.getSrc(), collapse, collapse.getReassociationIndices());
      })
      .Case([&](scf::ForOp loop) {
        Operation *yield = loop.getBody()->getTerminator();
        for (unsigned i = 0; i < loop.getNumResults(); ++i)
          for (Value other : {Value(loop.getInitArgs()[i]), Value(loop.getRegionIterArg(i)),
                              yield->getOperand(i)})
            joinAll(loop.getResult(i), other);
      });
}

Value TileSizes::combine(Location loc, AffineExpr expr, ArrayRef<OpFoldResult> operands) {
  OpFoldResult result = affine::makeComposedFoldedAffineApply(
      rewriter, loc, AffineMap::get(0, operands.size(), expr), operands);
  return getValueOrCreateConstantIndexOp(rewriter, loc, result);
}

/// The size as what the op behind `tensor` makes of other sizes.
Value TileSizes::compute(Value tensor, unsigned dim) {
  Operation *op = tensor.getDefiningOp();
  OpBuilder::InsertionGuard guard(rewriter);
  if (op)
    rewriter.setInsertionPointAfter(op);
  else
    rewriter.setInsertionPointToStart(tensor.getParentBlock());
  Location loc = tensor.getLoc();
  SmallVector<OpFoldResult> operands;
  AffineExpr expr = rewriter.getAffineConstantExpr(0);
  auto symbol = [&](OpFoldResult size) {
    operands.push_back(size);
    return rewriter.getAffineSymbolExpr(operands.size() - 1);
  };
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op)) {
    for (Value input : concat.getInputs())
      expr = expr + symbol(of(input, dim).fold(rewriter));
    return combine(loc, expr, operands);
  }
  if (auto pad = dyn_cast_or_null<tensor::PadOp>(op)) {
    expr = symbol(of(pad.getSource(), dim).fold(rewriter)) + symbol(pad.getMixedLowPad()[dim]) +
           symbol(pad.getMixedHighPad()[dim]);
    return combine(loc, expr, operands);
  }
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op)) {
    Value product;
    for (int64_t part : collapse.getReassociationIndices()[dim]) {
      Value size = getValueOrCreateConstantIndexOp(
          rewriter, loc, of(collapse.getSrc(), static_cast<unsigned>(part)).fold(rewriter));
      product = product ? rewriter.createOrFold<arith::MulIOp>(loc, product, size) : size;
    }
    return product;
  }
  return tensor::DimOp::create(rewriter, loc, tensor, dim);
}

Extent TileSizes::of(Size size) {
  if (same.findLeader(size) == same.member_end())
    same.insert(size);
  Size leader = same.getLeaderValue(size);
  if (auto found = known.find(leader); found != known.end())
    return found->second;
  Value argument, number, computed;
  unsigned argumentDim = 0, computedDim = 0;
  for (const Size &member : llvm::make_range(same.findLeader(size), same.member_end())) {
    Value value = tensors.lookup(member.first);
    if (!value)
      continue;
    if (member.second == kNumber) {
      if (std::optional<int64_t> constant = getConstantIntValue(value))
        return known[leader] = Extent(*constant);
      auto dim = value.getDefiningOp<tensor::DimOp>();
      if (!dim && value.getParentRegion() == &func.getBody())
        number = value;
      continue;
    }
    if (int64_t extent = staticSize(value, member.second); !ShapedType::isDynamic(extent))
      return known[leader] = Extent(extent);
    auto isOfFunction = [&](Value of) {
      auto block = dyn_cast<BlockArgument>(of);
      return block && block.getOwner() == &func.getBody().front();
    };
    if (isOfFunction(value) && (!argument || cast<BlockArgument>(value).getArgNumber() <
                                                 cast<BlockArgument>(argument).getArgNumber())) {
      argument = value;
      argumentDim = member.second;
    }
    Operation *op = value.getDefiningOp();
    bool isBetter = isa_and_present<tensor::ConcatOp, tensor::PadOp, tensor::CollapseShapeOp>(op);
    if (op && (!computed || isBetter)) {
      computed = value;
      computedDim = member.second;
    }
  }
  Value result = number;
  if (argument) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&func.getBody().front());
    result = tensor::DimOp::create(rewriter, argument.getLoc(), argument, argumentDim);
  } else if (!result && computed) {
    result = compute(computed, computedDim);
  }
  return known[leader] = result ? Extent(result) : Extent(ShapedType::kDynamic);
}

Extent TileSizes::of(Value tensor, unsigned dim) {
  if (int64_t extent = staticSize(tensor, dim); !ShapedType::isDynamic(extent))
    return extent;
  tensors[tensor.getAsOpaquePointer()] = tensor;
  return of(Size{tensor.getAsOpaquePointer(), dim});
}

SmallVector<Extent> TileSizes::of(Value tensor) {
  SmallVector<Extent> result;
  for (unsigned dim = 0; dim < rankOf(tensor); ++dim)
    result.push_back(of(tensor, dim));
  return result;
}

SmallVector<Extent> TileSizes::loopsOf(linalg::LinalgOp op) {
  SmallVector<Extent> result;
  for (auto [loop, range] : llvm::enumerate(op.getStaticLoopRanges()))
    result.push_back(ShapedType::isDynamic(range)
                         ? of(Size{op.getOperation(), static_cast<unsigned>(loop)})
                         : Extent(range));
  return result;
}

static SmallVector<int64_t> plannedOf(ArrayRef<Extent> extents) {
  return llvm::map_to_vector(
      extents, [](const Extent &each) { return each.isKnown() ? each.number : kPlanned; });
}

SmallVector<int64_t> TileSizes::planned(Value tensor) { return plannedOf(of(tensor)); }

SmallVector<int64_t> TileSizes::planned(linalg::LinalgOp op) { return plannedOf(loopsOf(op)); }

} // namespace xetile::transform_ops
