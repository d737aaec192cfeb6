//===- Scatter.cpp - ops that combine updates with rows by their numbers -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg.generic. Out: its parts, if it is a scatter; or a new one. Refused: nothing; other
// ops are none.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Scatter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xetile;

static std::optional<arith::AtomicRMWKind> kindOf(Operation *combine) {
  using Kind = arith::AtomicRMWKind;
  return TypeSwitch<Operation *, std::optional<Kind>>(combine)
      .Case([](arith::AddFOp) { return Kind::addf; })
      .Case([](arith::AddIOp) { return Kind::addi; })
      .Case([](arith::MulFOp) { return Kind::mulf; })
      .Case([](arith::MulIOp) { return Kind::muli; })
      .Case([](arith::MaximumFOp) { return Kind::maximumf; })
      .Case([](arith::MinimumFOp) { return Kind::minimumf; })
      .Case([](arith::MaxNumFOp) { return Kind::maxnumf; })
      .Case([](arith::MinNumFOp) { return Kind::minnumf; })
      .Case([](arith::MaxSIOp) { return Kind::maxs; })
      .Case([](arith::MinSIOp) { return Kind::mins; })
      .Case([](arith::MaxUIOp) { return Kind::maxu; })
      .Case([](arith::MinUIOp) { return Kind::minu; })
      .Case([](arith::AndIOp) { return Kind::andi; })
      .Case([](arith::OrIOp) { return Kind::ori; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<llvm::SmallBitVector> xetile::loopsBehind(linalg::GenericOp op, Value value) {
  llvm::SmallBitVector loops(op.getNumLoops());
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Value each = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(each);
        argument && argument.getOwner() == op.getBody()) {
      if (argument.getArgNumber() >= op.getNumDpsInputs())
        return std::nullopt;
      AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(argument.getArgNumber()));
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (map.isFunctionOfDim(loop))
          loops.set(loop);
    }
    Operation *by = each.getDefiningOp();
    if (!by || by->getBlock() != op.getBody() || !seen.insert(by).second)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(by))
      loops.set(index.getDim());
    if (by->getNumRegions() != 0)
      return std::nullopt;
    llvm::append_range(open, by->getOperands());
  }
  return loops;
}

/// True if `value` of the body depends on the loop `loop`, or on what is combined so far.
static bool dependsOn(linalg::GenericOp op, Value value, unsigned loop) {
  std::optional<llvm::SmallBitVector> loops = loopsBehind(op, value);
  return !loops || loops->test(loop);
}

/// The loop whose index `value` is, maybe of another type.
static std::optional<unsigned> loopOf(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index ? std::optional<unsigned>(index.getDim()) : std::nullopt;
}

/// True for the constant `neutral`; of sums, -0 as well as 0.
static bool isNeutral(Value value, TypedAttr neutral) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return false;
  auto number = dyn_cast<FloatAttr>(neutral);
  return constant == neutral ||
         (number && number.getValue().isZero() && matchPattern(value, m_AnyZeroFloat()));
}

/// Finds the parts of `condition`, which says that an update is one of this row.
static bool readCondition(Scatter &scatter, Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return false;
  for (auto [index, row] : {std::pair(compare.getLhs(), compare.getRhs()),
                            std::pair(compare.getRhs(), compare.getLhs())}) {
    std::optional<unsigned> loop = loopOf(index);
    if (!loop || scatter.op.getIteratorTypesArray()[*loop] != utils::IteratorType::parallel ||
        !scatter.resultMap().isFunctionOfDim(*loop) || dependsOn(scatter.op, row, *loop))
      continue;
    scatter.loop = *loop;
    scatter.row = row;
    return true;
  }
  return false;
}

std::optional<Scatter> Scatter::match(Operation *op) {
  Scatter scatter;
  scatter.op = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!scatter.op || !scatter.op.hasPureTensorSemantics() || scatter.op.getNumResults() != 1 ||
      scatter.op.getNumReductionLoops() == 0 || !scatter.resultMap().isProjectedPermutation() ||
      scatter.resultMap().getNumResults() != scatter.op.getNumParallelLoops())
    return std::nullopt;
  BlockArgument before = scatter.op.getBody()->getArguments().back();
  Value after = scatter.op.getBody()->getTerminator()->getOperand(0);
  Operation *last = after.getDefiningOp();
  if (!last || last->getBlock() != scatter.op.getBody())
    return std::nullopt;
  auto choice = dyn_cast<arith::SelectOp>(last);
  if (choice && choice.getFalseValue() != before)
    return std::nullopt;
  if (!choice) {
    std::optional<arith::AtomicRMWKind> kind = kindOf(last);
    if (!kind || !llvm::is_contained(last->getOperands(), before))
      return std::nullopt;
    scatter.kind = *kind;
    scatter.combine = last;
    choice =
        last->getOperand(last->getOperand(0) == before ? 1 : 0).getDefiningOp<arith::SelectOp>();
    std::optional<TypedAttr> neutral = arith::getNeutralElement(last);
    if (!choice || !neutral || !isNeutral(choice.getFalseValue(), *neutral))
      return std::nullopt;
  }
  scatter.update = choice.getTrueValue();
  if (!readCondition(scatter, choice.getCondition()) ||
      dependsOn(scatter.op, scatter.update, scatter.loop))
    return std::nullopt;
  return scatter;
}

Value xetile::createScatter(OpBuilder &b, Location loc, Value init, Value rows, Value updates,
                            TypedAttr neutral,
                            llvm::function_ref<Value(OpBuilder &, Value, Value)> combine,
                            llvm::function_ref<Value(OpBuilder &, Value)> widen) {
  auto type = cast<RankedTensorType>(init.getType());
  // Loops are d, w.., n.
  unsigned loops = type.getRank() + 1;
  MLIRContext *context = b.getContext();
  AffineExpr n = b.getAffineDimExpr(loops - 1);
  SmallVector<AffineExpr> ofUpdates{n};
  for (unsigned dim = 1; dim + 1 < loops; ++dim)
    ofUpdates.push_back(b.getAffineDimExpr(dim));
  SmallVector<AffineMap> maps{
      AffineMap::get(loops, 0, n), AffineMap::get(loops, 0, ofUpdates, context),
      AffineMap::getMultiDimIdentityMap(loops, context).dropResult(loops - 1)};
  SmallVector<utils::IteratorType> kinds(loops, utils::IteratorType::parallel);
  kinds.back() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             b, loc, type, ValueRange{rows, updates}, init, maps, kinds,
             [&](OpBuilder &inside, Location at, ValueRange values) {
               Value place = linalg::IndexOp::create(inside, at, 0);
               place = arith::IndexCastOp::create(inside, at, values[0].getType(), place);
               Value isHere =
                   arith::CmpIOp::create(inside, at, arith::CmpIPredicate::eq, place, values[0]);
               Value update = widen(inside, values[1]);
               Value other =
                   neutral ? arith::ConstantOp::create(inside, at, neutral).getResult() : values[2];
               Value taken = arith::SelectOp::create(inside, at, isHere, update, other);
               linalg::YieldOp::create(inside, at,
                                       neutral ? combine(inside, values[2], taken) : taken);
             })
      .getResult(0);
}
