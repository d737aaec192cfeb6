//===- SkipUnselected.cpp - functions of numbers that no lane asks for -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: selections between vectors, one of them made by functions of the math dialect that nothing
// else needs. Out: that one is computed where a lane takes it. Refused: nothing.
//===----------------------------------------------------------------------===//
// ELU of numbers none of which is negative takes no powers. A branch for each vector costs little
// where it goes one way, as with data of random signs, too: almost every vector has a lane of each.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Target/Cpu/Lowering/ExpandMath.h"
#include "xetile/Target/Cpu/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace xetile {
#define GEN_PASS_DEF_SKIPUNSELECTED
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using xetile::functionOf;

/// The backward slice used only by operand `side` of `select`, last op first: an op is visited
/// behind all of its users.
static llvm::SetVector<Operation *> findOwnOps(arith::SelectOp select, OpOperand &side) {
  llvm::SetVector<Operation *> own;
  auto isOwn = [&](Operation *op) {
    return op && op->getBlock() == select->getBlock() && op->getNumRegions() == 0 && isPure(op) &&
           !op->hasTrait<OpTrait::ConstantLike>() &&
           llvm::all_of(op->getUses(), [&](OpOperand &use) {
             return &use == &side || own.contains(use.getOwner());
           });
  };
  // An op of a block stands before its users: backwards, these have been decided on.
  for (Operation *op = select->getPrevNode(); op; op = op->getPrevNode())
    if (!op->use_empty() && isOwn(op))
      own.insert(op);
  return own;
}

static bool areExpensive(const llvm::SetVector<Operation *> &ops) {
  return llvm::any_of(ops, [](Operation *op) { return !functionOf(op).empty(); });
}

static bool skip(RewriterBase &b, arith::SelectOp op, bool ifTrue) {
  OpOperand &side = op->getOpOperand(ifTrue ? 1 : 2);
  llvm::SetVector<Operation *> own = findOwnOps(op, side);
  if (!areExpensive(own))
    return false;
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  auto kind = ifTrue ? vector::CombiningKind::OR : vector::CombiningKind::AND;
  Value lanes = vector::ReductionOp::create(b, loc, kind, op.getCondition());
  auto branch = scf::IfOp::create(b, loc, op.getType(), lanes, /*withElseRegion=*/true);
  mlir::Block *asked = &branch.getThenRegion().front(), *unasked = &branch.getElseRegion().front();
  if (!ifTrue)
    std::swap(asked, unasked);
  b.setInsertionPointToEnd(unasked);
  scf::YieldOp::create(b, loc, ifTrue ? op.getFalseValue() : op.getTrueValue());
  b.replaceAllUsesWith(op.getResult(), branch.getResult(0));
  b.setInsertionPointToEnd(asked);
  auto yield = scf::YieldOp::create(b, loc, op.getResult());
  b.moveOpBefore(op, yield);
  Operation *before = op;
  for (Operation *moved : own) {
    b.moveOpBefore(moved, before);
    before = moved;
  }
  return true;
}

namespace {
struct SkipUnselected : xetile::impl::SkipUnselectedBase<SkipUnselected> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<arith::SelectOp> ops;
    getOperation()->walk([&](arith::SelectOp op) {
      auto lanes = dyn_cast<VectorType>(op.getCondition().getType());
      if (lanes && lanes.getRank() == 1 && !lanes.isScalable())
        ops.push_back(op);
    });
    // The last ones first: what is before a selection may belong to a later one altogether.
    for (arith::SelectOp op : llvm::reverse(ops))
      if (!skip(rewriter, op, /*ifTrue=*/true))
        skip(rewriter, op, /*ifTrue=*/false);
  }
};
} // namespace
