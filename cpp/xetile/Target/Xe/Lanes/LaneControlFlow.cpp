//===- LaneControlFlow.cpp - loops, branches, calls --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: scf.for, scf.if, scf.while, calls and terminators with vectors and descriptors. Out: the same
// with their pieces. Refused: descriptors that scf.while carries, branches that give descriptors of
// memory of different ranks.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Lanes/LaneLowering.h"

using namespace mlir;
using namespace xetile;

static bool anyCut(TypeRange types) { return llvm::any_of(types, LaneFragments::isCut); }

/// `results` of the new operation stand for the old ones, as many for each as `counts` says.
static void defineResults(LaneContext &lanes, ValueRange old, ArrayRef<Value> results,
                          ArrayRef<size_t> counts) {
  for (auto [result, count] : llvm::zip_equal(old, counts)) {
    lanes.held.defineOrReplace(result, results.take_front(count));
    results = results.drop_front(count);
  }
}

/// Old arguments stay until their users are gone: what lanes hold is keyed by them.
static void eraseArguments(Block &block, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    block.getArgument(i).dropAllUses();
  block.eraseArguments(0, count);
}

static LogicalResult lower(scf::ForOp op, LaneContext &lanes) {
  if (!anyCut(op.getResultTypes()))
    return lanes.lowerBlock(*op.getBody());
  Values inits;
  SmallVector<size_t> counts;
  for (auto [init, argument] : llvm::zip_equal(op.getInitArgs(), op.getRegionIterArgs())) {
    Values flat = lanes.held.flatten(init);
    counts.push_back(flat.size());
    llvm::append_range(inits, flat);
    if (isa<xegpu::TensorDescType>(argument.getType()))
      lanes.held.setRank(argument, lanes.held.rankOf(init));
  }
  auto loop = scf::ForOp::create(lanes.b, op.getLowerBound(), op.getUpperBound(), op.getStep(),
                                 inits, nullptr, op.getUnsignedCmp());
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  loop->removeAttr(lanesAttr);
  // The builder gave the body of the new loop no terminator where it carries something.
  Block &body = *loop.getBody();
  if (!body.empty())
    body.getTerminator()->erase();
  for (auto [argument, result] : llvm::zip_equal(op.getRegionIterArgs(), op.getResults()))
    if (isa<VectorType>(argument.getType()))
      lanes.held.setLayout(argument, lanes.held.layoutOf(result));
  defineResults(lanes, ValueRange(op.getRegionIterArgs()), Values(loop.getRegionIterArgs()),
                counts);
  op.getInductionVar().replaceAllUsesWith(loop.getInductionVar());
  body.getOperations().splice(body.end(), op.getBody()->getOperations());
  if (failed(lanes.lowerBlock(body)))
    return failure();
  for (auto [argument, result] : llvm::zip_equal(op.getRegionIterArgs(), op.getResults()))
    lanes.held.setRank(result, lanes.held.rankOf(argument));
  defineResults(lanes, op.getResults(), Values(loop.getResults()), counts);
  return success();
}

/// The value that both branches of `op` yield, as for most of a descriptor, behind them; or null.
static Value commonOf(LaneBuilder &b, scf::IfOp op, Value left, Value right) {
  APInt number, other;
  if (isa<VectorType>(left.getType()))
    return {};
  if (left == right && !op->isAncestor(left.getParentBlock()->getParentOp()))
    return left;
  if (matchPattern(left, m_ConstantInt(&number)) && matchPattern(right, m_ConstantInt(&other)) &&
      number == other)
    return b.constant(left.getType(), number.getSExtValue());
  return {};
}

static LogicalResult lower(scf::IfOp op, LaneContext &lanes) {
  bool isCut = anyCut(op.getResultTypes());
  Values yes, no;
  if (isCut) {
    yes = Values(op.thenYield().getOperands());
    no = Values(op.elseYield().getOperands());
  }
  for (Region &region : op->getRegions())
    if (!region.empty() && failed(lanes.lowerBlock(region.front())))
      return failure();
  if (!isCut)
    return success();
  lanes.b.setOp(op);
  SmallVector<size_t> counts;
  for (auto [result, left, right] : llvm::zip_equal(op.getResults(), yes, no)) {
    counts.push_back(lanes.held.flatten(left).size());
    if (counts.back() != lanes.held.flatten(right).size())
      return op.emitOpError("gives descriptors of memory of different ranks, expected one rank");
    lanes.held.setRank(result, lanes.held.rankOf(left));
  }
  // Terminators have pieces by now; null where the branches differ.
  Values made, yesLeft, noLeft;
  for (auto [left, right] :
       llvm::zip_equal(op.thenYield().getOperands(), op.elseYield().getOperands())) {
    made.push_back(commonOf(lanes.b, op, left, right));
    if (made.back())
      continue;
    yesLeft.push_back(left);
    noLeft.push_back(right);
  }
  auto branch = scf::IfOp::create(lanes.b, ValueRange(yesLeft).getTypes(), op.getCondition(),
                                  /*addThenBlock=*/false, /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(op.getThenRegion());
  branch.getElseRegion().takeBody(op.getElseRegion());
  branch.thenYield()->setOperands(yesLeft);
  branch.elseYield()->setOperands(noLeft);
  unsigned number = 0;
  for (Value &value : made)
    if (!value)
      value = branch.getResult(number++);
  defineResults(lanes, op.getResults(), made, counts);
  return success();
}

static LogicalResult lower(scf::WhileOp op, LaneContext &lanes) {
  if (!anyCut(op.getResultTypes()) && !anyCut(op.getInits().getTypes()))
    return failure(failed(lanes.lowerBlock(*op.getBeforeBody())) ||
                   failed(lanes.lowerBlock(*op.getAfterBody())));
  for (Value value : op->getOperands())
    if (LaneFragments::isCut(value.getType()) && !isa<VectorType>(value.getType()))
      return op.emitOpError("carries a descriptor; expected its offsets to be carried, and the "
                            "descriptor before the loop");
  SmallVector<Type> types;
  SmallVector<size_t> counts;
  SmallVector<SmallVector<Type>> before, after;
  for (Value argument : op.getBeforeArguments())
    before.push_back(lanes.held.typesOf(argument));
  for (auto [result, argument] : llvm::zip_equal(op.getResults(), op.getAfterArguments())) {
    if (isa<VectorType>(argument.getType()))
      lanes.held.setLayout(argument, lanes.held.layoutOf(result));
    after.push_back(lanes.held.typesOf(result));
    counts.push_back(after.back().size());
    llvm::append_range(types, after.back());
  }
  auto loop = scf::WhileOp::create(lanes.b, types, lanes.held.flatten(op.getInits()));
  for (auto [from, to, list] : {std::tuple(&op.getBefore(), &loop.getBefore(), &before),
                                std::tuple(&op.getAfter(), &loop.getAfter(), &after)}) {
    to->takeBody(*from);
    lanes.held.cutArguments(to->front(), *list);
  }
  if (failed(lanes.lowerBlock(loop.getBefore().front())) ||
      failed(lanes.lowerBlock(loop.getAfter().front())))
    return failure();
  defineResults(lanes, op.getResults(), Values(loop.getResults()), counts);
  eraseArguments(loop.getBefore().front(), before.size());
  eraseArguments(loop.getAfter().front(), after.size());
  return success();
}

static LogicalResult lower(func::CallOp op, LaneContext &lanes) {
  SmallVector<Type> types;
  SmallVector<size_t> counts;
  for (Value result : op.getResults()) {
    SmallVector<Type> pieces = lanes.held.typesOf(result);
    counts.push_back(pieces.size());
    llvm::append_range(types, pieces);
  }
  auto call =
      func::CallOp::create(lanes.b, op.getCallee(), types, lanes.held.flatten(op.getOperands()));
  defineResults(lanes, op.getResults(), Values(call.getResults()), counts);
  return success();
}

static LogicalResult lowerTerminator(Operation *op, LaneContext &lanes) {
  op->setOperands(lanes.held.flatten(op->getOperands()));
  return success();
}

/// One of vectors has no pieces: it goes with its users.
static LogicalResult drop(UnrealizedConversionCastOp, LaneContext &) { return success(); }

void xetile::addControlFlowLowerings(LaneLowerings &table) {
  table.addWithRegions<scf::ForOp>(lower);
  table.addWithRegions<scf::IfOp>(lower);
  table.addWithRegions<scf::WhileOp>(lower);
  table.add<func::CallOp>(lower);
  table.add<UnrealizedConversionCastOp>(drop);
  table.addIf([](Operation *op) { return op->hasTrait<OpTrait::IsTerminator>(); }, lowerTerminator);
}
