//===- LoopCarry.cpp - what a loop of the host carries -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an scf.for or scf.while. Out: its carried values by number, and the loop with one more.
// Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/LoopCarry.h"

using namespace mlir;
using namespace xetile;

SmallVector<Block *> LoopCarry::blocks() const {
  SmallVector<Block *> found;
  for (Region &region : loop->getRegions())
    found.push_back(&region.front());
  return found;
}

Operation *LoopCarry::end() const { return blocks().back()->getTerminator(); }

Block::BlockArgListType LoopCarry::carried() const {
  if (auto op = dyn_cast<scf::ForOp>(loop))
    return op.getRegionIterArgs();
  return cast<scf::WhileOp>(loop).getBeforeArguments();
}

unsigned LoopCarry::numberOf(BlockArgument argument) const {
  return argument.getArgNumber() - carried().front().getArgNumber();
}

OperandRange LoopCarry::inits() const {
  if (auto op = dyn_cast<scf::ForOp>(loop))
    return op.getInitArgs();
  return cast<scf::WhileOp>(loop).getInits();
}

void LoopCarry::setInit(unsigned number, Value value) {
  loop->setOperand(inits().getBeginOperandIndex() + number, value);
}

void LoopCarry::addToWhile(RewriterBase &rewriter, scf::WhileOp op, Value init) {
  rewriter.setInsertionPoint(op);
  SmallVector<Type> types(op.getResultTypes());
  SmallVector<Value> inits(op.getInits());
  handedOn[inits.size()] = types.size();
  types.push_back(init.getType());
  inits.push_back(init);
  auto added = scf::WhileOp::create(rewriter, op.getLoc(), types, inits);
  added->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  added.getBefore().takeBody(op.getBefore());
  added.getAfter().takeBody(op.getAfter());
  Value before = added.getBefore().addArgument(init.getType(), init.getLoc());
  Value after = added.getAfter().addArgument(init.getType(), init.getLoc());
  added.getConditionOp().getArgsMutable().append(before);
  added.getYieldOp().getResultsMutable().append(after);
  rewriter.replaceOp(op, added.getResults().drop_back());
  loop = added;
}

unsigned LoopCarry::add(RewriterBase &rewriter, Value init) {
  unsigned number = inits().size();
  if (auto op = dyn_cast<scf::WhileOp>(loop)) {
    addToWhile(rewriter, op, init);
    return number;
  }
  auto same = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
    return SmallVector<Value>(arguments.begin(), arguments.end());
  };
  loop = *cast<LoopLikeOpInterface>(loop).replaceWithAdditionalYields(
      rewriter, init, /*replaceInitOperandUsesInLoop=*/false, same);
  return number;
}

Value LoopCarry::in(unsigned number, Block *block) const {
  auto op = dyn_cast<scf::WhileOp>(loop);
  if (!op || block == op.getBeforeBody())
    return carried()[number];
  return op.getAfterArguments()[handedOn.lookup(number)];
}

bool LoopCarry::leaves(const SmallPtrSetImpl<Value> &values) const {
  return llvm::any_of(loop->getResults(), [&](Value result) { return values.contains(result); });
}
