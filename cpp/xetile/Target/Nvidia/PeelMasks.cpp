//===- PeelMasks.cpp - a mask of keys in a loop of its own -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a loop over keys, whose last step has fewer than the others, and which masks those beyond the
// end in all of them. Out: a loop over whole steps without the mask, and the last step behind it.
// Refused: nothing; other loops stay as they are.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Nvidia/PeelMasks.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;
using namespace xetile;

/// True for numbers 0, 1, .. below `count`.
static bool areSteps(Value value, int64_t count) {
  auto shaped = value.getDefiningOp<vector::ShapeCastOp>();
  auto steps = shaped ? shaped.getSource().getDefiningOp<vector::StepOp>() : vector::StepOp();
  return steps && steps.getType().getNumElements() == count;
}

/// True for a vector of `number` alone.
static bool isSame(Value value, Value number) {
  while (auto repeat = value.getDefiningOp<TileBroadcastOp>())
    value = repeat.getVector();
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  return broadcast && broadcast.getSource() == number;
}

/// True for: the numbers of a step's keys are below `end`.
static bool isBelowEnd(arith::CmpIOp compare, scf::ForOp loop, int64_t step, int64_t end) {
  auto sum = compare.getLhs().getDefiningOp<arith::AddIOp>();
  DenseElementsAttr limit;
  if (compare.getPredicate() != arith::CmpIPredicate::ult || !sum ||
      !matchPattern(compare.getRhs(), m_Constant(&limit)) || !limit.isSplat() ||
      limit.getSplatValue<APInt>().getSExtValue() != end)
    return false;
  Value counter = loop.getInductionVar();
  return (areSteps(sum.getLhs(), step) && isSame(sum.getRhs(), counter)) ||
         (areSteps(sum.getRhs(), step) && isSame(sum.getLhs(), counter));
}

/// Selects by what is true become what they select.
static void foldTrue(ImplicitLocOpBuilder &b, Value isTrue) {
  for (Operation *user : llvm::make_early_inc_range(isTrue.getUsers())) {
    if (auto repeat = dyn_cast<TileBroadcastOp>(user))
      foldTrue(b, repeat.getResult());
    else if (auto select = dyn_cast<arith::SelectOp>(user);
             select && select.getCondition() == isTrue)
      select.getResult().replaceAllUsesWith(select.getTrueValue());
    else
      continue;
    if (user->use_empty())
      user->erase();
  }
}

void hopper::peelMasks(gpu::GPUFuncOp kernel) {
  for (auto loop : llvm::make_early_inc_range(kernel.getBody().front().getOps<scf::ForOp>())) {
    std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                           to = getConstantIntValue(loop.getUpperBound()),
                           by = getConstantIntValue(loop.getStep());
    if (!from || !to || !by || *from != 0 || *by <= 0 || *to % *by == 0 || *to < *by)
      continue;
    SmallVector<arith::CmpIOp> masks;
    for (auto compare : loop.getOps<arith::CmpIOp>())
      if (isBelowEnd(compare, loop, *by, *to))
        masks.push_back(compare);
    if (masks.empty() || loop.getOps<TileMmaOp>().empty())
      continue;
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    IRMapping map;
    auto whole = cast<scf::ForOp>(b.clone(*loop, map));
    b.setInsertionPoint(whole);
    Value middle = arith::ConstantIndexOp::create(b, *to / *by * *by);
    whole.setUpperBound(middle);
    loop.setLowerBound(middle);
    loop.getInitArgsMutable().assign(whole.getResults());
    for (arith::CmpIOp compare : masks)
      foldTrue(b, map.lookup(compare.getResult()));
  }
}
