//===- CarryBuffers.cpp - memory that loops of the host carry ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on memrefs whose scf.for and scf.while carry allocations of their bodies, as
// bufferization with allow_return_allocs_from_loops leaves them. Out: the same with these made once
// before the loop, a few that take turns. Refused: carried memory of sizes that steps decide.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "xetile/Target/Host/ForwardCopies.h"
#include "xetile/Target/Host/LoopCarry.h"
#include "xetile/Target/Host/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_CARRYBUFFERS
#include "xetile/Target/Host/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Steps behind its own that an allocation in a loop may be read in; none where that has no end, as
/// where a loop carries the best of its steps.
using Life = std::optional<unsigned>;

/// How far memory goes in a loop, by the carried values that it becomes.
class Lives {
public:
  Lives(LoopCarry &loop, const BufferViewFlowAnalysis &views) : loop(loop), views(views) {
    for (BlockArgument argument : loop.carried())
      arguments.insert(argument);
  }

  Life of(Value value) const {
    llvm::SetVector<Value> all = becomes(value, /*later=*/true);
    if (llvm::any_of(all, [&](Value each) { return isEndless(each); }))
      return std::nullopt;
    unsigned most = 0;
    for (Value next : becomes(value, /*later=*/false))
      most = std::max(most, *of(next) + 1);
    return most;
  }

  /// True if a carried value is carried on without end.
  bool isEndless(Value argument) const {
    return becomes(argument, /*later=*/true).contains(argument);
  }

  /// Carried values that `value` becomes in the next step, or in all later ones.
  llvm::SetVector<Value> becomes(Value value, bool later) const {
    llvm::SetVector<Value> found;
    llvm::SmallPtrSet<Value, 16> seen{value};
    SmallVector<Value> open{value};
    while (!open.empty())
      for (Value next : nextOf(open.pop_back_val())) {
        bool isCarried = arguments.contains(next);
        if (isCarried)
          found.insert(next);
        if ((later || !isCarried) && seen.insert(next).second)
          open.push_back(next);
      }
    return found;
  }

private:
  SmallVector<Value> nextOf(Value value) const {
    SmallVector<Value> next;
    if (auto found = views.find(value); found != views.end())
      for (Value each : found->second)
        if (loop.op()->isAncestor(each.getParentRegion()->getParentOp()) &&
            (each != value || arguments.contains(each)))
          next.push_back(each);
    return next;
  }

  LoopCarry &loop;
  const BufferViewFlowAnalysis &views;
  llvm::SmallPtrSet<Value, 8> arguments;
};

class Carrier {
public:
  explicit Carrier(func::FuncOp func) : func(func), rewriter(func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult takeOutOf(Operation *branch);
  void takeSizesFromInits(scf::ForOp loop);
  LogicalResult takeTurns(Operation *op);
  bool takeSizesOutOf(Operation *op, memref::AllocOp alloc);
  Value allocBefore(memref::AllocOp like, Operation *op);
  bool swap(LoopCarry &loop, memref::AllocOp alloc, const Lives &lives);
  void rotate(LoopCarry &loop, memref::AllocOp alloc, unsigned life);
  LogicalResult keepInPlace(LoopCarry &loop, Value argument, Operation *cause,
                            const BufferViewFlowAnalysis &views);

  func::FuncOp func;
  IRRewriter rewriter;
};

/// Moves what computes sizes of `alloc` out of `op`; false if steps or branches decide them.
bool Carrier::takeSizesOutOf(Operation *op, memref::AllocOp alloc) {
  llvm::SetVector<Operation *> moved;
  SmallVector<Operation *> open{alloc};
  while (!open.empty())
    for (Value operand : open.pop_back_val()->getOperands()) {
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
        continue;
      Operation *size = operand.getDefiningOp();
      if (!size || size->getNumRegions() || !isPure(size))
        return false;
      moved.remove(size);
      moved.insert(size);
      open.push_back(size);
    }
  for (Operation *size : llvm::reverse(moved))
    rewriter.moveOpBefore(size, op);
  return true;
}

Value Carrier::allocBefore(memref::AllocOp like, Operation *op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  return rewriter.clone(*like)->getResult(0);
}

/// Allocates memory that a branch hands on before it: the loop around sees it then.
LogicalResult Carrier::takeOutOf(Operation *branch) {
  BufferViewFlowAnalysis views(func);
  for (Region &region : branch->getRegions())
    for (Block &block : region)
      for (auto alloc : llvm::make_early_inc_range(block.getOps<memref::AllocOp>())) {
        BufferViewFlowAnalysis::ValueSetT seen = views.resolve(alloc);
        if (llvm::none_of(branch->getResults(),
                          [&](Value result) { return seen.contains(result); }))
          continue;
        if (!takeSizesOutOf(branch, alloc))
          return alloc.emitError()
                 << "a branch hands on memory whose sizes it decides: expected sizes that are "
                    "known before it; pad it to the largest";
        rewriter.moveOpBefore(alloc, branch);
      }
  return success();
}

/// One allocation besides the initial one is enough where a loop carries what it computes of what
/// it carried, and nobody else knows of the initial one.
bool Carrier::swap(LoopCarry &loop, memref::AllocOp alloc, const Lives &lives) {
  llvm::SetVector<Value> becomes = lives.becomes(alloc, /*later=*/true);
  if (!isa<scf::ForOp>(loop.op()) || becomes.size() != 1)
    return false;
  auto argument = cast<BlockArgument>(becomes.front());
  unsigned number = loop.numberOf(argument);
  auto init = loop.init(number).getDefiningOp<memref::AllocOp>();
  if (!init || init->getBlock() != loop.op()->getBlock() || init.getType() != alloc.getType() ||
      loop.yielded(number) != alloc.getResult() || !lives.becomes(argument, /*later=*/true).empty())
    return false;
  // Ops before the loop fill it.
  bool isPrivate = llvm::all_of(init->getUsers(), [&](Operation *user) {
    return user == loop.op() ||
           (user->getBlock() == init->getBlock() && user->isBeforeInBlock(loop.op()) &&
            !isa<ViewLikeOpInterface>(user));
  });
  if (!isPrivate || llvm::count(loop.inits(), init.getResult()) != 1)
    return false;
  Block *block = alloc->getBlock();
  unsigned other = loop.add(rewriter, allocBefore(alloc, loop.op()));
  loop.setYielded(other, loop.seenAtEnd(number));
  rewriter.replaceOp(alloc, loop.in(other, block));
  return true;
}

/// Each step writes to the allocation that was written longest ago: none of the last `life` steps
/// reads it any more.
void Carrier::rotate(LoopCarry &loop, memref::AllocOp alloc, unsigned life) {
  SmallVector<unsigned> places;
  Block *block = alloc->getBlock();
  for (unsigned i = 0; i <= life; ++i)
    places.push_back(loop.add(rewriter, allocBefore(alloc, loop.op())));
  for (auto [i, place] : llvm::enumerate(places))
    loop.setYielded(place, loop.seenAtEnd(places[(i + 1) % places.size()]));
  rewriter.replaceOp(alloc, loop.in(places.front(), block));
}

/// Gives a carried value memory of its own, to which each step copies at its end. What else the
/// loop carries of that memory is copied before.
LogicalResult Carrier::keepInPlace(LoopCarry &loop, Value argument, Operation *cause,
                                   const BufferViewFlowAnalysis &views) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity())
    return cause->emitError()
           << "a loop carries memory of type " << argument.getType()
           << " over several steps: expected static sizes in C order; copy it (linalg.copy) to a "
              "tensor of static sizes before the loop carries it";
  unsigned number = loop.numberOf(cast<BlockArgument>(argument));
  Location loc = loop.op()->getLoc();
  rewriter.setInsertionPoint(loop.op());
  Value place = memref::AllocOp::create(rewriter, loc, type, rewriter.getI64IntegerAttr(64));
  memref::CopyOp::create(rewriter, loc, loop.init(number), place);
  loop.setInit(number, place);
  rewriter.setInsertionPoint(loop.end());
  for (unsigned other = 0; other < loop.carried().size(); ++other) {
    Value value = loop.yielded(other);
    auto otherType = dyn_cast<MemRefType>(value.getType());
    if (other == number || !otherType || !views.resolveReverse(value).contains(argument))
      continue;
    if (!otherType.hasStaticShape() || !otherType.getLayout().isIdentity())
      return cause->emitError() << "a loop carries a view of type " << value.getType()
                                << " of memory that it writes to: expected static sizes in C order";
    Value copy = memref::AllocOp::create(rewriter, loc, otherType, rewriter.getI64IntegerAttr(64));
    memref::CopyOp::create(rewriter, loc, value, copy);
    loop.setYielded(other, copy);
  }
  memref::CopyOp::create(rewriter, loc, loop.yielded(number), place);
  loop.setYielded(number, place);
  return success();
}

/// The size of dimension `dim` of an allocation that a run decides; null for other memory.
static Value dynamicSize(Value memory, int64_t dim) {
  auto alloc = memory.getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().isDynamicDim(dim))
    return {};
  return alloc.getDynamicSizes()[alloc.getType().getDynamicDimIndex(dim)];
}

/// Sizes of carried memory that no step changes are those of the initial memory.
void Carrier::takeSizesFromInits(scf::ForOp loop) {
  for (auto [argument, init, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues())) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim) {
      Value next = dynamicSize(yielded, dim);
      if (!next)
        continue;
      auto same = next.getDefiningOp<memref::DimOp>();
      bool isKept = same && same.getSource() == argument && same.getConstantIndex() == dim;
      if (!isKept && next != dynamicSize(init, dim))
        continue;
      rewriter.setInsertionPoint(loop);
      Value size = memref::DimOp::create(rewriter, loop.getLoc(), init, dim);
      for (Operation *user : llvm::make_early_inc_range(argument.getUsers()))
        if (auto asked = dyn_cast<memref::DimOp>(user); asked && asked.getConstantIndex() == dim)
          rewriter.replaceOp(asked, size);
    }
  }
}

LogicalResult Carrier::takeTurns(Operation *op) {
  if (auto counted = dyn_cast<scf::ForOp>(op))
    takeSizesFromInits(counted);
  LoopCarry loop(op);
  // Each round takes an allocation out of the loop, or a carried value out of those that go on
  // without end.
  while (true) {
    BufferViewFlowAnalysis views(func);
    Lives lives(loop, views);
    memref::AllocOp next;
    Life life;
    for (Block *block : loop.blocks())
      for (auto alloc : block->getOps<memref::AllocOp>()) {
        if (next)
          continue;
        life = lives.of(alloc);
        // Others end with their step.
        if (!life || *life > 0 || loop.leaves(views.resolve(alloc)))
          next = alloc;
      }
    if (!next)
      break;
    if (!life) {
      Value endless = *llvm::find_if(lives.becomes(next, /*later=*/true),
                                     [&](Value value) { return lives.isEndless(value); });
      if (failed(keepInPlace(loop, endless, next, views)))
        return failure();
      continue;
    }
    if (!takeSizesOutOf(op, next))
      return next.emitError()
             << "a loop carries memory whose sizes its steps decide: expected the same sizes in "
                "each step; pad it to the largest, or give the loop tensors of static sizes";
    if (!(*life == 1 && swap(loop, next, lives)))
      rotate(loop, next, *life);
    op = loop.op();
  }
  return success();
}

LogicalResult Carrier::run() {
  forwardCopies(rewriter, func);
  SmallVector<Operation *> control;
  func->walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(op))
      control.push_back(op);
  });
  for (Operation *op : control) {
    bool isLoop = isa<LoopLikeOpInterface>(op);
    if (failed(isLoop ? takeTurns(op) : takeOutOf(op)))
      return failure();
  }
  return success();
}

struct CarryBuffers : xetile::impl::CarryBuffersBase<CarryBuffers> {
  void runOnOperation() override {
    if (failed(Carrier(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
