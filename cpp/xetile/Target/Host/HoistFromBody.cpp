//===- HoistFromBody.cpp - what a linalg op's body computes, for all of it --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an op in the body of a linalg op. Out: another linalg op before it, whose body is the
// backward slice of what the op uses, reduced to a maximum. Refused: slices that depend on what
// the linalg op accumulates; slices with side effects; regions of unknown kinds.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/HoistFromBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace xetile;

Operation *xetile::bodyOwner(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<linalg::LinalgOp, tensor::GenerateOp, tensor::PadOp>(parent))
      return parent;
  return nullptr;
}

FailureOr<linalg::GenericOp> xetile::toGeneric(RewriterBase &b, Operation *owner) {
  if (auto generic = dyn_cast<linalg::GenericOp>(owner))
    return generic;
  b.setInsertionPoint(owner);
  if (auto named = dyn_cast<linalg::LinalgOp>(owner))
    return linalg::generalizeNamedOp(b, named);
  mlir::Block *block = owner->getBlock();
  Operation *before = owner->getPrevNode(), *after = owner->getNextNode();
  if (auto generate = dyn_cast<tensor::GenerateOp>(owner))
    (void)linalg::rewriteInDestinationPassingStyle(b, generate);
  else
    (void)linalg::rewriteInDestinationPassingStyle(b, cast<tensor::PadOp>(owner));
  for (Operation *op = before ? before->getNextNode() : &block->front(); op && op != after;
       op = op->getNextNode())
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return generic;
  return failure();
}

namespace {

/// A copy of the slice, as the body of a reduction.
class Hoist {
public:
  Hoist(RewriterBase &b, linalg::GenericOp op, Operation *site, Operation *blamed, SiteValue value)
      : b(b), loc(site->getLoc()), op(op), site(site), blamed(blamed), value(value),
        loops(op.getNumLoops()) {}

  LogicalResult findSlice(ValueRange used);
  Value write();

private:
  void addOperand(OpOperand &operand);
  void addMissingLoops();
  Value accumulate(OpBuilder &b, mlir::Block &block, IRMapping &map, Value sofar);
  Value accumulateIn(OpBuilder &b, Operation *inside, IRMapping &map, Value sofar);
  /// Selects 0 instead of `greatest` if a loop that it does not depend on has a zero trip count.
  Value unlessNeverRun(Value greatest);
  bool isAbove(Operation &inside) { return inside.isAncestor(site); }

  RewriterBase &b;
  Location loc;
  linalg::GenericOp op;
  Operation *site, *blamed;
  SiteValue value;
  /// Ops of the body itself, operands that they read or that tell a size, loops they depend on.
  SetVector<Operation *> slice;
  SetVector<OpOperand *> operands;
  llvm::SmallBitVector loops;
};

void Hoist::addOperand(OpOperand &operand) {
  if (!operands.insert(&operand))
    return;
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim))
      loops.set(dim);
}

/// Without side effects; assertions are left out, they are looked at for themselves.
static bool isFree(Operation *op) {
  return !op->walk([](Operation *inside) -> WalkResult {
              bool isLeftOut = isa<cf::AssertOp>(inside) || inside->getNumRegions() != 0;
              return WalkResult(success(isLeftOut || isMemoryEffectFree(inside)));
            }).wasInterrupted();
}

LogicalResult Hoist::findSlice(ValueRange used) {
  mlir::Block *body = op.getBody();
  Operation *top = body->findAncestorOpInBlock(*site);
  SetVector<Value> open;
  if (top == site)
    open.insert_range(used);
  else {
    open.insert_range(top->getOperands());
    getUsedValuesDefinedAbove(top->getRegions(), open);
    slice.insert(top);
  }
  for (size_t next = 0; next < open.size(); ++next) {
    Value from = open[next];
    if (auto argument = dyn_cast<BlockArgument>(from)) {
      if (argument.getOwner() != body)
        continue;
      OpOperand *operand = op.getMatchingOpOperand(argument);
      if (op.isDpsInit(operand) && op.getNumReductionLoops() != 0)
        return blamed->emitOpError("depends on what the operation around it sums up, so that it "
                                   "cannot be checked: expected it to depend on inputs only");
      addOperand(*operand);
      continue;
    }
    Operation *definition = from.getDefiningOp();
    if (definition->getBlock() != body || !slice.insert(definition))
      continue;
    open.insert_range(definition->getOperands());
    getUsedValuesDefinedAbove(definition->getRegions(), open);
  }
  for (Operation *inside : slice) {
    if (inside != top && !isFree(inside))
      return blamed->emitOpError("depends on an operation with side effects, so that it cannot be "
                                 "checked: expected operations on numbers only");
    inside->walk([&](linalg::IndexOp index) { loops.set(index.getDim()); });
  }
  addMissingLoops();
  return success();
}

/// The operand that tells how often a loop runs, the smallest one.
static OpOperand *findExtent(linalg::GenericOp op, unsigned dim) {
  OpOperand *found = nullptr;
  AffineExpr expr = getAffineDimExpr(dim, op.getContext());
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (llvm::is_contained(map.getResults(), expr) &&
        (!found || map.getNumResults() < op.getMatchingIndexingMap(found).getNumResults()))
      found = &operand;
  }
  return found;
}

void Hoist::addMissingLoops() {
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned dim : loops.set_bits()) {
      AffineExpr expr = getAffineDimExpr(dim, op.getContext());
      bool isTold = llvm::any_of(operands, [&](OpOperand *operand) {
        return llvm::is_contained(op.getMatchingIndexingMap(operand).getResults(), expr);
      });
      if (isTold)
        continue;
      addOperand(*findExtent(op, dim));
      changed = true;
      break;
    }
  }
}

Value Hoist::accumulateIn(OpBuilder &b, Operation *inside, IRMapping &map, Value sofar) {
  auto add = [&](OpBuilder &nested, mlir::Block &block, Value before) {
    Value after = before;
    if (block.findAncestorOpInBlock(*site))
      after = accumulate(nested, block, map, before);
    else
      for (Operation &each : block.without_terminator())
        nested.clone(each, map);
    SmallVector<Value> yielded;
    for (Value each : block.getTerminator()->getOperands())
      yielded.push_back(map.lookupOrDefault(each));
    yielded.push_back(after);
    scf::YieldOp::create(nested, loc, yielded);
  };
  Operation *copy = nullptr;
  if (auto branch = dyn_cast<scf::IfOp>(inside)) {
    SmallVector<Type> types(branch.getResultTypes());
    types.push_back(sofar.getType());
    auto both = scf::IfOp::create(b, loc, types, map.lookupOrDefault(branch.getCondition()), true);
    for (auto [from, to] : llvm::zip(branch->getRegions(), both->getRegions())) {
      OpBuilder nested(b.getContext());
      if (to.empty())
        nested.createBlock(&to);
      nested.setInsertionPointToEnd(&to.front());
      if (from.empty())
        scf::YieldOp::create(nested, loc, sofar);
      else
        add(nested, from.front(), sofar);
    }
    copy = both;
  } else if (auto loop = dyn_cast<scf::ForOp>(inside)) {
    SmallVector<Value> inits;
    for (Value each : loop.getInitArgs())
      inits.push_back(map.lookupOrDefault(each));
    inits.push_back(sofar);
    copy = scf::ForOp::create(b, loc, map.lookupOrDefault(loop.getLowerBound()),
                              map.lookupOrDefault(loop.getUpperBound()),
                              map.lookupOrDefault(loop.getStep()), inits,
                              [&](OpBuilder &nested, Location, Value index, ValueRange carried) {
                                map.map(loop.getInductionVar(), index);
                                map.map(loop.getRegionIterArgs(), carried.drop_back());
                                add(nested, *loop.getBody(), carried.back());
                              });
  }
  if (!copy)
    return {};
  map.map(inside->getResults(), copy->getResults().drop_back());
  return copy->getResults().back();
}

Value Hoist::accumulate(OpBuilder &b, mlir::Block &block, IRMapping &map, Value sofar) {
  bool isTop = &block == op.getBody();
  for (Operation &inside : block.without_terminator()) {
    if (&inside == site) {
      sofar = arith::MaxUIOp::create(b, loc, sofar, value(b, loc, map));
      if (isTop)
        return sofar;
      if (site->getNumResults() != 0)
        b.clone(*site, map);
    } else if (isAbove(inside)) {
      sofar = accumulateIn(b, &inside, map, sofar);
      if (isTop)
        return sofar;
    } else if (!isTop || slice.contains(&inside)) {
      b.clone(inside, map);
    }
  }
  return sofar;
}

Value Hoist::unlessNeverRun(Value greatest) {
  Value zero = arith::ConstantIntOp::create(b, loc, greatest.getType(), 0);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim) {
    if (loops.test(dim) || extents[dim] > 0)
      continue;
    OpOperand *operand = findExtent(op, dim);
    AffineMap map = op.getMatchingIndexingMap(operand);
    auto place = map.getResultPosition(getAffineDimExpr(dim, op.getContext()));
    Value size = tensor::DimOp::create(b, loc, operand->get(), int64_t(*place));
    Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size,
                                       arith::ConstantIndexOp::create(b, loc, 0));
    greatest = arith::SelectOp::create(b, loc, none, zero, greatest);
  }
  return greatest;
}

Value Hoist::write() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  // The loops that are left, in their order.
  SmallVector<AffineExpr> renamed(op.getNumLoops(), b.getAffineConstantExpr(0));
  SmallVector<int64_t> numbers(op.getNumLoops(), 0);
  for (auto [number, dim] : llvm::enumerate(loops.set_bits())) {
    renamed[dim] = b.getAffineDimExpr(number);
    numbers[dim] = int64_t(number);
  }
  unsigned count = loops.count();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : operands) {
    inputs.push_back(operand->get());
    maps.push_back(op.getMatchingIndexingMap(operand).replaceDimsAndSymbols(renamed, {}, count, 0));
  }
  maps.push_back(AffineMap::get(count, 0, b.getContext()));
  Value zero = arith::ConstantIntOp::create(b, loc, b.getI64Type(), 0);
  Value empty = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>(), b.getI64Type());
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> kinds(count, utils::IteratorType::reduction);
  IRMapping map;
  auto generic =
      linalg::GenericOp::create(b, loc, init.getType(), inputs, init, maps, kinds,
                                [&](OpBuilder &nested, Location, ValueRange arguments) {
                                  for (auto [operand, argument] : llvm::zip(operands, arguments))
                                    map.map(op.getMatchingBlockArgument(operand), argument);
                                  Value greatest =
                                      accumulate(nested, *op.getBody(), map, arguments.back());
                                  if (greatest)
                                    linalg::YieldOp::create(nested, loc, greatest);
                                });
  if (generic.getBody()->empty() || !isa<linalg::YieldOp>(generic.getBody()->back())) {
    b.eraseOp(generic);
    blamed->emitOpError(
        "is in a region that cannot be checked: expected it in the body of a linalg "
        "operation, in scf.if or in scf.for there");
    return {};
  }
  generic.walk([&](cf::AssertOp op) { b.eraseOp(op); });
  generic.walk([&](linalg::IndexOp index) { index.setDim(numbers[index.getDim()]); });
  return unlessNeverRun(tensor::ExtractOp::create(b, loc, generic.getResult(0), ValueRange()));
}

} // namespace

FailureOr<Value> xetile::greatestInBody(RewriterBase &b, linalg::GenericOp op, Operation *site,
                                        Operation *blamed, ValueRange used, SiteValue value) {
  Hoist hoist(b, op, site, blamed, value);
  if (failed(hoist.findSlice(used)))
    return failure();
  Value greatest = hoist.write();
  if (!greatest)
    return failure();
  return greatest;
}
