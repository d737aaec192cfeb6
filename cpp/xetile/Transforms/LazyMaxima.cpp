//===- LazyMaxima.cpp - maxima only where a sum of powers becomes too large ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: XeTile of one subgroup, scf.for with xetile.lazy, which carry a maximum and sums of powers.
// Out: scf.while, whose steps subtract the maximum that was, and are done again with a new one
// where a sum passes the threshold. Refused: loops that carry something else, or write to memory.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "xetile/IR/LazyAttr.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Transforms/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_LAZYMAXIMA
#include "xetile/Transforms/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Values that the operations in `op` use, itself included.
SmallVector<Value> usedBy(Operation *op) {
  SmallVector<Value> used;
  op->walk([&](Operation *each) { llvm::append_range(used, each->getOperands()); });
  return used;
}

/// How a loop carries what it does.
class LazyLoop {
public:
  explicit LazyLoop(scf::ForOp loop) : loop(loop) {}

  /// Finds the maximum and the sums; returns why the loop is none of this kind, or an empty string.
  std::string find();
  void write(RewriterBase &rewriter, double threshold);

private:
  Value argument(unsigned number) const { return loop.getRegionIterArg(number); }
  Value next(unsigned number) const { return loop.getYieldedValues()[number]; }
  bool isIn(Operation *op) const {
    return op && loop.getBodyRegion().isAncestor(op->getParentRegion());
  }

  std::string findScaled(unsigned number);
  bool isRatio(Value value, bool &ofRaised) const;
  bool dependsOnMaximum(Value value) const;
  bool isSum(unsigned number) const;
  void clone(OpBuilder &b, ValueRange values, IRMapping &map) const;
  Value isTooLarge(OpBuilder &b, IRMapping &map, double threshold) const;

  mutable scf::ForOp loop;
  /// The number of the maximum among what is carried, and the maximum with this step's elements.
  unsigned top = 0;
  Operation *raised = nullptr;
  /// Of what is carried: the product with exp(maximum before - maximum now), null of others.
  SmallVector<Operation *> scaled;
  SmallVector<unsigned> sums;
};

/// True if `value` is computed of the two maxima alone.
bool LazyLoop::isRatio(Value value, bool &ofRaised) const {
  if (value == raised->getResult(0))
    return ofRaised = true;
  Operation *op = value.getDefiningOp();
  if (value == argument(top) || !loop.getBodyRegion().isAncestor(value.getParentRegion()))
    return true;
  return op && isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value each) { return isRatio(each, ofRaised); });
}

bool LazyLoop::dependsOnMaximum(Value value) const {
  SmallVector<Value> pending{value};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!pending.empty()) {
    Value each = pending.pop_back_val();
    Operation *op = each.getDefiningOp();
    if (each == argument(top) || op == raised)
      return true;
    if (isIn(op) && seen.insert(op).second)
      llvm::append_range(pending, usedBy(op));
  }
  return false;
}

/// A carried value is multiplied with a ratio, and used nowhere else, or does not depend on maxima.
std::string LazyLoop::findScaled(unsigned number) {
  Value carried = argument(number);
  auto product = carried.hasOneUse() ? dyn_cast<arith::MulFOp>(*carried.user_begin()) : nullptr;
  if (product) {
    Value ratio = product.getLhs() == carried ? product.getRhs() : product.getLhs();
    if (auto repeated = ratio.getDefiningOp<TileBroadcastOp>(); repeated && isIn(repeated))
      ratio = repeated.getVector();
    bool ofRaised = false;
    if (isRatio(ratio, ofRaised) && ofRaised) {
      scaled[number] = product;
      return {};
    }
  }
  if (dependsOnMaximum(next(number)))
    return ("value #" + Twine(number) +
            " depends on the maximum, and is no sum that is multiplied by "
            "the exponential of a difference of maxima")
        .str();
  return {};
}

/// True if elements of what follows on a scaled value are sums of rows: a product with ones, or a
/// reduction that is added.
bool LazyLoop::isSum(unsigned number) const {
  if (!scaled[number])
    return false;
  Value before = scaled[number]->getResult(0);
  if (auto product = next(number).getDefiningOp<TileMmaOp>())
    return product.getC() == before && matchPattern(product.getB(), m_OneFloat());
  auto add = next(number).getDefiningOp<arith::AddFOp>();
  if (!add || (add.getLhs() != before && add.getRhs() != before))
    return false;
  auto reduce =
      (add.getLhs() == before ? add.getRhs() : add.getLhs()).getDefiningOp<TileReduceOp>();
  return reduce && reduce.getKind() == vector::CombiningKind::ADD;
}

std::string LazyLoop::find() {
  for (unsigned number = 0; number < loop.getNumRegionIterArgs(); ++number) {
    Operation *op = next(number).getDefiningOp();
    if (!isIn(op) || !isa<arith::MaxNumFOp, arith::MaximumFOp>(op) ||
        !llvm::is_contained(op->getOperands(), argument(number)))
      continue;
    if (raised)
      return "it carries two maxima";
    raised = op;
    top = number;
  }
  if (!raised)
    return "it carries no maximum";
  scaled.assign(loop.getNumRegionIterArgs(), nullptr);
  for (unsigned number = 0; number < scaled.size(); ++number) {
    if (number == top)
      continue;
    if (std::string reason = findScaled(number); !reason.empty())
      return reason;
    if (isSum(number))
      sums.push_back(number);
  }
  if (sums.empty())
    return "it carries no sum of powers";
  for (unsigned number : sums)
    if (!getElementTypeOrSelf(next(number).getType()).isF32())
      return "its sums of powers are not of f32";
  std::string reason;
  loop.getBody()->walk([&](Operation *op) {
    auto memory = dyn_cast<MemoryEffectOpInterface>(op);
    bool isHarmless =
        isa<PrefetchTileOp>(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        (memory && (memory.hasNoEffect() || memory.onlyHasEffect<MemoryEffects::Read>()));
    if (isHarmless)
      return WalkResult::advance();
    reason =
        ("a step that is done again would do '" + op->getName().getStringRef() + "' twice").str();
    return WalkResult::interrupt();
  });
  return reason;
}

/// Clones what of the body `values` are computed of, in its order, unless `map` has it.
void LazyLoop::clone(OpBuilder &b, ValueRange values, IRMapping &map) const {
  llvm::SmallPtrSet<Operation *, 32> needed;
  SmallVector<Value> pending(values);
  while (!pending.empty()) {
    Value each = pending.pop_back_val();
    Operation *op = each.getDefiningOp();
    op = op && isIn(op) ? loop.getBody()->findAncestorOpInBlock(*op) : nullptr;
    if (op && !map.contains(each) && needed.insert(op).second)
      llvm::append_range(pending, usedBy(op));
  }
  for (Operation &op : loop.getBody()->without_terminator())
    if (needed.contains(&op))
      b.clone(op, map);
}

/// True if a row of the subgroup has a sum beyond the threshold. A sum that is no number is one of
/// elements that are none: it goes on.
Value LazyLoop::isTooLarge(OpBuilder &b, IRMapping &map, double threshold) const {
  Location loc = loop.getLoc();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
  };
  Value most = constant(0.0);
  for (unsigned number : sums) {
    Value sum = map.lookup(next(number));
    auto type = cast<VectorType>(sum.getType());
    // Columns of a product with ones are all the same.
    bool isRepeated = isa<TileMmaOp>(sum.getDefiningOp());
    SmallVector<int64_t> dims{0}, shape{1, type.getDimSize(1)};
    if (!isRepeated && type.getDimSize(1) != 1) {
      dims.push_back(1);
      shape[1] = 1;
    }
    Value largest = TileReduceOp::create(b, loc, VectorType::get(shape, type.getElementType()),
                                         vector::CombiningKind::MAXNUMF, sum, dims, WgMapAttr());
    Value one = vector::ExtractOp::create(b, loc, largest, ArrayRef<int64_t>{0, 0});
    most = arith::MaxNumFOp::create(b, loc, one, most);
  }
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGE, most, constant(threshold));
}

// Long: the step, and both ways that it goes on, in the order of the code that they become.
void LazyLoop::write(RewriterBase &rewriter, double threshold) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> inits{loop.getLowerBound()};
  llvm::append_range(inits, loop.getInits());
  SmallVector<Type> types(ValueRange(inits).getTypes());
  SmallVector<Location> locs(types.size(), loc);
  auto whole = scf::WhileOp::create(rewriter, loc, types, inits);
  Block *before = rewriter.createBlock(&whole.getBefore(), {}, types, locs);
  Value more = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                     before->getArgument(0), loop.getUpperBound());
  scf::ConditionOp::create(rewriter, loc, more, before->getArguments());
  Block *step = rewriter.createBlock(&whole.getAfter(), {}, types, locs);

  IRMapping plain, fresh;
  for (IRMapping *map : {&plain, &fresh})
    map->map(loop.getBody()->getArguments(), step->getArguments());
  // Powers with the maximum that was.
  plain.map(raised->getResult(0), plain.lookup(argument(top)));
  for (auto [number, product] : llvm::enumerate(scaled))
    if (product)
      plain.map(product->getResult(0), plain.lookup(argument(static_cast<unsigned>(number))));
  // Prefetches go out before loads wait.
  for (auto prefetch : loop.getBody()->getOps<PrefetchTileOp>()) {
    clone(rewriter, prefetch.getTile(), plain);
    rewriter.clone(*prefetch, plain);
  }
  SmallVector<Value> asked;
  for (unsigned number : sums)
    asked.push_back(next(number));
  clone(rewriter, asked, plain);
  Value again = isTooLarge(rewriter, plain, threshold);
  auto branch = scf::IfOp::create(rewriter, loc, types, again, /*withElseRegion=*/true);

  // A new maximum, and what was with it; the same step follows.
  rewriter.setInsertionPointToStart(branch.thenBlock());
  asked.assign({raised->getResult(0)});
  for (Operation *product : scaled)
    if (product)
      asked.push_back(product->getResult(0));
  clone(rewriter, asked, fresh);
  SmallVector<Value> yields{step->getArgument(0)};
  for (auto [number, product] : llvm::enumerate(scaled))
    yields.push_back(fresh.lookup(number == top ? raised->getResult(0)
                                  : product     ? product->getResult(0)
                                                : argument(static_cast<unsigned>(number))));
  scf::YieldOp::create(rewriter, loc, yields);

  rewriter.setInsertionPointToStart(branch.elseBlock());
  clone(rewriter, loop.getYieldedValues(), plain);
  yields.assign({arith::AddIOp::create(rewriter, loc, step->getArgument(0), loop.getStep())});
  for (Value value : loop.getYieldedValues())
    yields.push_back(plain.lookupOrDefault(value));
  scf::YieldOp::create(rewriter, loc, yields);

  rewriter.setInsertionPointToEnd(step);
  scf::YieldOp::create(rewriter, loc, branch.getResults());
  rewriter.replaceOp(loop, whole.getResults().drop_front());
  // That there is a step is tested once; the loop tests behind each.
  (void)scf::wrapWhileLoopInZeroTripCheck(whole, rewriter);
}

struct LazyMaxima : xetile::impl::LazyMaximaBase<LazyMaxima> {
  using LazyMaximaBase::LazyMaximaBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->hasAttr(kLazyAttr))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      LazyLoop lazy(loop);
      if (std::string reason = lazy.find(); !reason.empty()) {
        loop.emitOpError("has ") << kLazyAttr << ", but " << reason
                                 << "; expected a maximum, and sums of powers from which it is "
                                    "subtracted, of rows that one subgroup has";
        return signalPassFailure();
      }
      lazy.write(rewriter, loop->getAttrOfType<FloatAttr>(kLazyAttr).getValueAsDouble());
    }
  }
};
} // namespace
