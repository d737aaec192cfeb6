//===- MakeOnline.cpp - one loop over blocks for dependent reductions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: reductions along n, of which sums of powers depend on maxima, those of squares on means. Out:
// a loop over blocks of n that carries all of them and multiplies sums by exp(m before - m now),
// and what is left over of n behind it. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/IR/ReachAttrs.h"
#include "xetile/Linalg/Online/OnlineMaker.h"

using namespace mlir;
using namespace xetile;

static RankedTensorType withSize(RankedTensorType type, unsigned dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, type.getElementType());
}

/// Of sums that depend on others, or that others depend on, at least f32.
Type OnlineMaker::carriedType(const OnlineReduction &reduction) {
  linalg::GenericOp op = reduction.op;
  Type type = typeOf(op.getResult(0)).getElementType();
  bool widens =
      (reduction.depends() || online.isCentre(reduction)) && isa<Float16Type, BFloat16Type>(type);
  return widens ? Float32Type::get(type.getContext()) : type;
}

Value OnlineMaker::zeros(linalg::GenericOp like, Type element) {
  Value zero = arith::ConstantOp::create(b, loc, b.getFloatAttr(element, 0.0));
  Value empty = tensor::EmptyOp::create(b, loc, typeOf(like.getResult(0)).getShape(), element);
  return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
}

//===----------------------------------------------------------------------===//
// A block
//===----------------------------------------------------------------------===//

/// True if a tensor has all the dimensions that a maximum keeps, so that a block of it belongs to
/// one block of rows.
bool OnlineMaker::isOnRows(Value scores) {
  // Those that multiply products have columns of their own, and blocks of hidden values none.
  if (online.products)
    return true;
  for (OnlineReduction &reduction : online.reductions)
    if (!reduction.power)
      for (OnlineAxis axis : online.axesOfResult(reduction.op))
        if (llvm::none_of(llvm::seq<unsigned>(0, typeOf(scores).getRank()), [&](unsigned dim) {
              return online.axisOf(scores.getAsOpaquePointer(), dim) == axis;
            }))
          return false;
  return true;
}

/// True if a block of `op`'s result along its parallel loop `loop` needs only blocks of operands.
bool OnlineMaker::mayCompute(linalg::GenericOp op, unsigned loop) {
  if (!op || op->getBlock() != online.reductions.back().op->getBlock() ||
      !op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel)
    return false;
  if (op.getNumReductionLoops() != 0 && !isOnRows(op.getResult(0)))
    return false;
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      return isa<AffineDimExpr>(expr) || !expr.isFunctionOfDim(loop);
    });
  });
}

/// The block of the moment of `tensor`, whose dimension `dim` is n.
Value OnlineMaker::slice(Value tensor, unsigned dim) {
  if (Value known = slices.lookup({tensor, dim}))
    return known;
  RankedTensorType type = withSize(typeOf(tensor), dim, size);
  Value result;
  Operation *by = tensor.getDefiningOp();
  if (isa_and_present<tensor::EmptyOp>(by)) {
    result = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  } else if (auto fill = dyn_cast_if_present<linalg::FillOp>(by)) {
    Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    result = linalg::FillOp::create(b, loc, fill.getInputs()[0], empty).getResult(0);
  } else {
    auto generic = dyn_cast_if_present<linalg::GenericOp>(by);
    auto expr =
        generic && generic->getNumResults() == 1
            ? dyn_cast<AffineDimExpr>(
                  generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).getResult(dim))
            : AffineDimExpr(nullptr);
    if (expr && mayCompute(generic, expr.getPosition())) {
      result = sliceProducer(generic, expr.getPosition());
    } else {
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), sizes,
          ones(type.getRank(), b.getIndexAttr(1));
      offsets[dim] = variable ? OpFoldResult(variable) : OpFoldResult(b.getIndexAttr(number));
      for (int64_t extent : type.getShape())
        sizes.push_back(b.getIndexAttr(extent));
      result = tensor::ExtractSliceOp::create(b, loc, type, tensor, offsets, sizes, ones);
    }
  }
  return slices[{tensor, dim}] = result;
}

/// `scalar`, or minus infinity in elements beyond the end of n.
Value OnlineMaker::masked(Value scalar, unsigned loop) {
  Value place = linalg::IndexOp::create(b, loc, loop);
  place = arith::AddIOp::create(b, loc, place, variable);
  Value last = arith::ConstantIndexOp::create(b, loc, end);
  auto isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, last);
  // Steps that all rows see are whole, but for one that is longer than n.
  if (end >= size)
    isThere->setAttr(kSeenAttr, b.getBoolAttr(true));
  auto type = cast<FloatType>(scalar.getType());
  Value lowest = arith::ConstantOp::create(
      b, loc, b.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true)));
  return arith::SelectOp::create(b, loc, isThere, scalar, lowest);
}

/// Masks what maxima are made of, and what these are subtracted from.
void OnlineMaker::maskScores(linalg::GenericOp from, linalg::GenericOp to, unsigned loop) {
  OpBuilder::InsertionGuard guard(b);
  auto mask = [&](Operation *op, unsigned operand) {
    b.setInsertionPoint(op);
    op->setOperand(operand, masked(op->getOperand(operand), loop));
  };
  for (auto [old, made] :
       llvm::zip_equal(from.getBody()->without_terminator(), to.getBody()->without_terminator()))
    for (OnlineReduction &reduction : online.reductions)
      if (reduction.power && reduction.power->difference == &old) {
        mask(&made, 0);
        return;
      }
  for (OnlineReduction &reduction : online.reductions)
    if (!reduction.power && reduction.op == from) {
      BlockArgument top = to.getBody()->getArguments().back();
      Operation *combiner = yielded(to).getDefiningOp();
      mask(combiner, combiner->getOperand(0) == top ? 1 : 0);
    }
}

/// Clones the body of `from` to `to`, which has a block of it: indices along `loop` start there,
/// differences are never those of infinities, and steps of rows are left out.
void OnlineMaker::cloneBody(linalg::GenericOp from, linalg::GenericOp to,
                            std::optional<unsigned> loop) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<std::pair<Operation *, Operation *>> pairs;
  for (auto [old, made] :
       llvm::zip_equal(from.getBody()->without_terminator(), to.getBody()->without_terminator()))
    pairs.push_back({&old, &made});
  if (end && loop)
    maskScores(from, to, *loop);
  for (auto [old, made] : pairs) {
    b.setInsertionPointAfter(made);
    if (online.reach)
      if (auto seen = online.reach->comparisons.find(old); seen != online.reach->comparisons.end())
        made->setAttr(kSeenAttr, b.getBoolAttr(seen->second));
    auto index = dyn_cast<linalg::IndexOp>(made);
    if (index && loop && index.getDim() == *loop) {
      Value start = variable ? variable : Value(arith::ConstantIndexOp::create(b, loc, number));
      Value moved = arith::AddIOp::create(b, loc, index, start);
      b.replaceAllUsesExcept(index.getResult(), moved, moved.getDefiningOp());
    }
    for (OnlineReduction &reduction : online.reductions) {
      if (!reduction.power)
        continue;
      if (reduction.power->difference == old) {
        b.setInsertionPoint(made);
        if (online.binary)
          made->setOperand(0, timesLog2E(b, made->getOperand(0)));
        else
          made->setOperand(1, finite(b, made->getOperand(1)));
        break;
      }
      if (online.binary && reduction.power->power == old) {
        b.replaceOpWithNewOp<math::Exp2Op>(made, made->getOperand(0));
        break;
      }
      if (llvm::is_contained(reduction.power->rowSteps, old)) {
        // The operand that is a power.
        for (auto [i, operand] : llvm::enumerate(old->getOperands()))
          if (online.dependsOn(from, operand, reduction.power->power))
            b.replaceAllUsesWith(made->getResult(0), made->getOperand(i));
        b.eraseOp(made);
        break;
      }
    }
  }
}

Value OnlineMaker::sliceProducer(linalg::GenericOp op, unsigned loop) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType())) {
      operands.push_back(operand.get());
      continue;
    }
    std::optional<unsigned> dim = op.getMatchingIndexingMap(&operand).getResultPosition(
        getAffineDimExpr(loop, b.getContext()));
    operands.push_back(dim ? slice(operand.get(), *dim) : ofRows(operand.get()));
  }
  auto made =
      cast<linalg::GenericOp>(mlir::clone(b, op, TypeRange(operands.back().getType()), operands));
  cloneBody(op, made, loop);
  return made->getResult(0);
}

/// A row value (invariant in n) as of this block.
Value OnlineMaker::ofRows(Value tensor) {
  if (const OnlineReduction *reduction = online.reductionOf(tensor))
    return now(*reduction);
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || !online.ops.contains(op))
    return tensor;
  if (Value known = rows.lookup(tensor))
    return known;
  bool guarded = false;
  if (online.binary && online.isBetween(op) && !online.loopOf(op))
    if (const OnlineReduction *maximum = online.maximumOf(op, yielded(op), guarded))
      return rows[tensor] = now(*maximum);
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) ? ofRows(operand) : operand;
  });
  Operation *made = mlir::clone(b, op, op->getResultTypes(), operands);
  return rows[tensor] = made->getResult(0);
}

/// Makes a maximum of scores one of scores times log2(e). NaN needs not be kept: sums of its power
/// are NaN.
void OnlineMaker::reduceBinary(linalg::GenericOp op) {
  OpBuilder::InsertionGuard guard(b);
  BlockArgument top = op.getBody()->getArguments().back();
  Operation *combiner = yielded(op).getDefiningOp();
  b.setInsertionPoint(combiner);
  Value element = combiner->getOperand(combiner->getOperand(0) == top ? 1 : 0);
  b.replaceOpWithNewOp<arith::MaxNumFOp>(combiner, timesLog2E(b, element), top);
}

/// The sum is wider than it was: its terms are, too.
void xetile::widenSum(RewriterBase &b, linalg::GenericOp made, Type wide) {
  OpBuilder::InsertionGuard guard(b);
  Location loc = made.getLoc();
  Block *body = made.getBody();
  BlockArgument sum = body->getArguments().back();
  sum.setType(wide);
  Operation *yield = body->getTerminator(), *add = yield->getOperand(0).getDefiningOp();
  Value element = add->getOperand(add->getOperand(0) == sum ? 1 : 0);
  b.setInsertionPoint(add);
  Operation *product = element.getDefiningOp();
  if (isa_and_present<arith::MulFOp>(product))
    element = arith::MulFOp::create(b, loc, convert(b, loc, product->getOperand(0), wide),
                                    convert(b, loc, product->getOperand(1), wide));
  else
    element = convert(b, loc, element, wide);
  Value widened = arith::AddFOp::create(b, loc, sum, element);
  yield->setOperand(0, widened);
  b.eraseOp(add);
  if (isa_and_present<arith::MulFOp>(product) && isOpTriviallyDead(product))
    b.eraseOp(product);
}

/// A reduction, with this block.
Value OnlineMaker::now(const OnlineReduction &reduction) {
  linalg::GenericOp op = reduction.op;
  Value &known = after[op.getResult(0)];
  if (known)
    return known;
  if (reduction.square || online.isCentre(reduction)) {
    Value made = reduction.square ? squaresNow(reduction) : centreNow(reduction);
    return after[op.getResult(0)] = made;
  }
  SmallVector<Value> operands;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<RankedTensorType>(input->get().getType())) {
      operands.push_back(input->get());
      continue;
    }
    std::optional<unsigned> dim = op.getMatchingIndexingMap(input).getResultPosition(
        getAffineDimExpr(reduction.loop, b.getContext()));
    operands.push_back(dim ? slice(input->get(), *dim) : ofRows(input->get()));
  }
  Value total = before[op.getResult(0)];
  if (reduction.power)
    total = scaled(reduction, total);
  operands.push_back(total);
  auto made = cast<linalg::GenericOp>(mlir::clone(b, op, TypeRange(total.getType()), operands));
  cloneBody(op, made, reduction.loop);
  if (online.binary && !reduction.power && online.isSubtracted(reduction))
    reduceBinary(made);
  Type wide = typeOf(total).getElementType();
  if (wide != typeOf(op.getResult(0)).getElementType())
    widenSum(b, made, wide);
  // The map may have grown.
  return after[op.getResult(0)] = made->getResult(0);
}

SmallVector<Value> OnlineMaker::step(Value from, int64_t at, int64_t count, ValueRange carried) {
  variable = from;
  number = at;
  size = count;
  before.clear();
  after.clear();
  rows.clear();
  blockSums.clear();
  slices.clear();
  for (auto [reduction, value] : llvm::zip_equal(online.reductions, carried))
    before[reduction.op.getResult(0)] = value;
  return llvm::map_to_vector(online.reductions,
                             [&](const OnlineReduction &reduction) { return now(reduction); });
}

//===----------------------------------------------------------------------===//
// Before the loop, and behind it
//===----------------------------------------------------------------------===//

SmallVector<Value> OnlineMaker::starts() {
  SmallVector<Value> starts;
  for (OnlineReduction &reduction : online.reductions) {
    Value init = reduction.op.getOutputs()[0];
    RankedTensorType type = typeOf(init);
    Type wide = carriedType(reduction);
    auto fill = init.getDefiningOp<linalg::FillOp>();
    if (online.binary && !reduction.power && online.isSubtracted(reduction)) {
      Value lowest =
          arith::ConstantOp::create(b, loc, b.getFloatAttr(type.getElementType(), kLowestScore));
      Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
      starts.push_back(linalg::FillOp::create(b, loc, lowest, empty).getResult(0));
      continue;
    }
    Operation *combiner = reduction.op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
    if (fill && isa<arith::MaxNumFOp>(combiner) &&
        matchPattern(fill.getInputs()[0], m_NaNFloat())) {
      // A maximum that leaves NaN out may start from it; differences may not.
      auto element = cast<FloatType>(type.getElementType());
      Value lowest = arith::ConstantOp::create(
          b, loc,
          b.getFloatAttr(element, APFloat::getInf(element.getFloatSemantics(), /*Negative=*/true)));
      Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), element);
      init = linalg::FillOp::create(b, loc, lowest, empty).getResult(0);
    }
    if (wide != type.getElementType())
      init = zeros(reduction.op, wide);
    starts.push_back(init);
  }
  return starts;
}

void OnlineMaker::replace(ValueRange results) {
  SmallVector<Operation *> open;
  for (auto [reduction, result] : llvm::zip_equal(online.reductions, results)) {
    b.replaceAllUsesWith(reduction.op.getResult(0), result);
    open.push_back(reduction.op);
  }
  Block *block = open.front()->getBlock();
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    SmallVector<Operation *> read;
    for (Value operand : op->getOperands())
      if (Operation *by = operand.getDefiningOp(); by && !llvm::is_contained(read, by))
        read.push_back(by);
    llvm::erase(open, op);
    b.eraseOp(op);
    open.append(read);
    // Twice in the list, it would be looked at when it is gone.
    llvm::sort(open);
    open.erase(llvm::unique(open), open.end());
  }
  // Ops that read the reductions may stand before the loop.
  sortTopologically(block);
}

/// Says which steps of the loop change a row.
void OnlineMaker::markReach(scf::ForOp loop) {
  if (!online.reach)
    return;
  SmallVector<OnlineAxis> axes = online.axesOfResult(online.reductions.back().op);
  int64_t number = static_cast<int64_t>(online.reductions.size()) - 1,
          dim = llvm::find(axes, online.reach->rows) - axes.begin();
  loop->setAttr(kReachAttr,
                b.getDenseI64ArrayAttr({number, dim, online.reach->first.value_or(-kReachesAll),
                                        online.reach->last.value_or(kReachesAll)}));
}

scf::ForOp OnlineMaker::make(int64_t block, bool masks) {
  Operation *last = online.reductions.back().op;
  b.setInsertionPointAfter(last);
  SmallVector<Value> totals = starts();
  if (!masks)
    block = std::min(block, online.extent);
  int64_t whole = online.extent / block * block;
  if (masks && (whole < online.extent || whole == block)) {
    end = online.extent;
    whole = std::max(end, block + 1);
  }
  Value from = arith::ConstantIndexOp::create(b, loc, 0),
        to = arith::ConstantIndexOp::create(b, loc, whole),
        by = arith::ConstantIndexOp::create(b, loc, block);
  auto loop = scf::ForOp::create(b, loc, from, to, by, totals);
  markReach(loop);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next = step(loop.getInductionVar(), 0, block, loop.getRegionIterArgs());
    // In the end, where nobody needs what was before any more.
    for (unsigned i = 0; i < next.size(); ++i)
      if (!online.reductions[i].power)
        next[i] = linalg::CopyOp::create(b, loc, next[i], loop.getRegionIterArg(i)).getResult(0);
    scf::YieldOp::create(b, loc, next);
  }
  totals.assign(loop->result_begin(), loop->result_end());
  if (whole < online.extent)
    totals = step({}, whole, online.extent - whole, totals);
  replace(finish(totals));
  return loop;
}

scf::ForOp xetile::makeOnline(RewriterBase &b, Online &online, int64_t block, bool masks) {
  return OnlineMaker(b, online).make(block, masks);
}

bool xetile::mayMask(const Online &online) {
  return !online.products && llvm::all_of(online.reductions, [&](const OnlineReduction &reduction) {
    if (!reduction.power)
      return online.isSubtracted(reduction);
    linalg::GenericOp op = reduction.op;
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      Value tensor = operand.get();
      bool isAlongN = isa<RankedTensorType>(tensor.getType()) &&
                      op.getMatchingIndexingMap(&operand).isFunctionOfDim(reduction.loop);
      Operation *by = tensor.getDefiningOp();
      return !isAlongN || !by || online.ops.contains(by) ||
             !isa<linalg::LinalgOp, tensor::PadOp>(by);
    });
  });
}
