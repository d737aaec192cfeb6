//===- OnlineForms.cpp - what an attention carries from step to step ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: the loops over keys of an attention. Out: which of what they carry is the output, the maxima
// and the sums of rows, and what may be done with them. Refused: loops whose output is carried at
// no place, or at several.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Nvidia/RingPlan.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace xetile;
using namespace xetile::hopper;

namespace {

/// The number of what a loop yields as `value`, if it is one of them.
std::optional<unsigned> numberOf(const OnlineLoop &online, Value value) {
  auto yields = online.loop.getYieldedValues();
  auto at = llvm::find(yields, value);
  return at == yields.end() ? std::nullopt : std::optional<unsigned>(at - yields.begin());
}

/// All that `value` is computed of in its loop, without what products give.
llvm::SetVector<Value> sourcesOf(const OnlineLoop &online, Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (unsigned at = 0; at < values.size(); ++at) {
    Operation *op = values[at].getDefiningOp();
    if (op && op->getBlock() == online.loop.getBody() && !isa<TileMmaOp>(op))
      values.insert_range(op->getOperands());
  }
  return values;
}

/// `carried` times a factor of each row, which does not depend on it, or itself.
bool isScaled(const OnlineLoop &online, Value value, Value carried) {
  if (value == carried)
    return true;
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || (product.getLhs() != carried && product.getRhs() != carried))
    return false;
  Value factor = product.getLhs() == carried ? product.getRhs() : product.getLhs();
  if (auto broadcast = factor.getDefiningOp<TileBroadcastOp>())
    factor = broadcast.getVector();
  return cast<VectorType>(factor.getType()).getDimSize(1) == 1 &&
         !sourcesOf(online, factor).contains(carried);
}

/// True if `value` is carried value `number`, or more than it: the maximum with something else.
bool isMaximum(const OnlineLoop &online, unsigned number) {
  Value carried = online.loop.getRegionIterArg(number);
  Operation *op = online.loop.getYieldedValues()[number].getDefiningOp();
  if (!isa_and_present<arith::MaxNumFOp, arith::MaximumFOp>(op) ||
      !cast<VectorType>(carried.getType()).getElementType().isF32())
    return false;
  Value other = op->getOperand(op->getOperand(0) == carried ? 1 : 0);
  return (op->getOperand(0) == carried || op->getOperand(1) == carried) &&
         !sourcesOf(online, other).contains(carried);
}

/// Sums that begin with zero, of rows, each multiplied by a factor of its row and used for nothing
/// else: every thread may have those of its own elements until the end.
bool isSumOfRows(const OnlineLoop &online, unsigned number) {
  Value carried = online.loop.getRegionIterArg(number);
  TileMmaOp sums = online.rowSums;
  return sums && online.loop.getYieldedValues()[number] == sums.getResult() &&
         isScaled(online, sums.getC(), carried) && llvm::hasSingleElement(carried.getUses());
}

/// Zero for any number but zero, which gives NaN: a row that saw nothing.
bool isZeroOrNan(Value value) {
  if (auto broadcast = value.getDefiningOp<TileBroadcastOp>())
    return isZeroOrNan(broadcast.getVector());
  auto quotient = value.getDefiningOp<arith::DivFOp>();
  return quotient && matchPattern(quotient.getLhs(), m_AnyZeroFloat());
}

/// The sum of `value` and what is zero or NaN, if that is what `user` is.
bool addsZeroOrNan(Operation *user, Value value) {
  auto sum = dyn_cast<arith::AddFOp>(user);
  return sum && isZeroOrNan(sum.getLhs() == value ? sum.getRhs() : sum.getLhs());
}

/// True if `value` is used for nothing but to tell rows that saw nothing from others, whose maximum
/// is another number than the least.
bool onlyTellsNothing(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    auto difference = dyn_cast<arith::SubFOp>(user);
    DenseElementsAttr constant;
    return difference && matchPattern(difference.getRhs(), m_Constant(&constant)) &&
           llvm::all_of(difference->getUsers(), [&](Operation *next) {
             auto quotient = dyn_cast<arith::DivFOp>(next);
             return quotient && quotient.getLhs() != difference.getResult() &&
                    isZeroOrNan(quotient.getResult());
           });
  });
}

/// True if `value`, or one of its columns, which are the same, is used for nothing but to divide
/// `output` by it.
bool onlyDivides(Value value, Value output) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto quotient = dyn_cast<arith::DivFOp>(user))
      return quotient.getLhs() == output && quotient.getRhs() == value;
    return (isa<TileBroadcastOp, TileReduceOp>(user) || addsZeroOrNan(user, value)) &&
           onlyDivides(user->getResult(0), output);
  });
}

} // namespace

LogicalResult hopper::findCarried(RingPlan &plan) {
  std::optional<unsigned> output;
  for (const OnlineLoop &online : plan.online) {
    std::optional<unsigned> own = numberOf(online, online.values.getResult());
    if (!own || (output && output != own))
      return online.values.emitOpError("is not what the loop over keys carries; expected it to add "
                                       "to the same output in each step");
    output = own;
  }
  plan.output = *output;
  unsigned count = plan.loop.getNumRegionIterArgs();
  auto inAll = [&](bool (*is)(const OnlineLoop &, unsigned)) -> std::optional<unsigned> {
    for (unsigned number = 0; number < count; ++number)
      if (number != plan.output &&
          llvm::all_of(plan.online, [&](const OnlineLoop &online) { return is(online, number); }))
        return number;
    return std::nullopt;
  };
  plan.maxima = inAll(isMaximum);
  plan.sums = inAll(isSumOfRows);
  if (plan.sums &&
      !matchPattern(plan.online.front().loop.getInitArgs()[*plan.sums], m_AnyZeroFloat()))
    plan.sums = std::nullopt;
  return success();
}

bool hopper::canOverlap(const RingPlan &plan) {
  return llvm::all_of(plan.online, [&](const OnlineLoop &online) {
    SmallVector<Value> wanted = {online.values.getA()};
    if (online.rowSums)
      wanted.push_back(online.rowSums.getC());
    for (auto [number, value] : llvm::enumerate(online.loop.getYieldedValues()))
      if (number != plan.output)
        wanted.push_back(value);
    return llvm::none_of(wanted, [&](Value value) {
      llvm::SetVector<Value> sources = sourcesOf(online, value);
      return sources.contains(online.loop.getRegionIterArg(plan.output)) ||
             sources.contains(online.values.getResult());
    });
  });
}

bool hopper::canBeLazy(const RingPlan &plan) {
  if (!plan.maxima || !plan.sums || plan.loop.getNumRegionIterArgs() != 3 ||
      !onlyTellsNothing(plan.loop.getResult(*plan.maxima)))
    return false;
  for (const OnlineLoop &online : plan.online) {
    auto isPower = [](Value value) {
      if (auto narrow = value.getDefiningOp<arith::TruncFOp>())
        value = narrow.getIn();
      return isa_and_present<math::Exp2Op, math::ExpOp>(value.getDefiningOp());
    };
    if (!isPower(online.values.getA()) || online.rowSums.getA() != online.values.getA() ||
        !isScaled(online, online.values.getC(), online.loop.getRegionIterArg(plan.output)))
      return false;
  }
  Value output = plan.loop.getResult(plan.output);
  if (output.hasOneUse() && addsZeroOrNan(*output.user_begin(), output))
    output = output.user_begin()->getResult(0);
  auto quotient =
      output.hasOneUse() ? dyn_cast<arith::DivFOp>(*output.user_begin()) : arith::DivFOp();
  return quotient && quotient.getLhs() == output &&
         onlyDivides(plan.loop.getResult(*plan.sums), output);
}
