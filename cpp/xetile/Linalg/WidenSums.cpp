//===- WidenSums.cpp - sums in wider floats ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on tensors that add or multiply into results of f16 or bf16 (matvec, dot,
// convolutions, pooling, linalg.reduce). Out: the same with f32 results, rounded once behind them;
// with the option, f64 results for short sums of windows of f32.
// Refused: nothing; tiles of contractions, whose own lowering sums in f32, stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/InFunction.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Linalg/SumStep.h"

namespace xetile {
#define GEN_PASS_DEF_WIDENSUMS
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;

/// So few additions to an element are rounded too seldom to matter.
static constexpr int64_t kFewAdditions = 64;

/// `value` in the type `wide`; a product that nothing else reads is not rounded before.
static Value widen(OpBuilder &b, Location loc, Value value, Type wide) {
  if (auto product = value.getDefiningOp<arith::MulFOp>(); product && product->hasOneUse()) {
    auto extend = [&](Value factor) { return arith::ExtFOp::create(b, loc, wide, factor); };
    return arith::MulFOp::create(b, loc, extend(product.getLhs()), extend(product.getRhs()),
                                 product.getFastmath());
  }
  return arith::ExtFOp::create(b, loc, wide, value);
}

/// True if `step` adds a product.
static bool addsProduct(Operation *step) {
  return isa<math::FmaOp>(step) ||
         (!isa<arith::MulFOp>(step) && llvm::any_of(step->getOperands(), [](Value operand) {
           return operand.getDefiningOp<arith::MulFOp>();
         }));
}

/// The init value of the widened sums.
static Value widenInit(OpBuilder &b, Location loc, Value init, Type element) {
  auto type = cast<RankedTensorType>(init.getType());
  auto wide = RankedTensorType::get(type.getShape(), element);
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return arith::ExtFOp::create(b, loc, wide, init);
  Value start = arith::ExtFOp::create(b, loc, element, fill.getInputs()[0]);
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, fill.getOutputs()[0]), element);
  return linalg::FillOp::create(b, loc, start, empty).getResult(0);
}

namespace {
struct WidenSums : xetile::impl::WidenSumsBase<WidenSums> {
  using WidenSumsBase::WidenSumsBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      widenSums(rewriter, op);
  }

private:
  /// The wider type of the sums of `op` that start from `narrow`, if they shall have one.
  Type wideType(linalg::LinalgOp op, Type narrow) {
    MLIRContext *context = op.getContext();
    if (shortF32 == 0)
      return isa<FloatType>(narrow) && narrow.getIntOrFloatBitWidth() < 32
                 ? Float32Type::get(context)
                 : Type();
    return narrow.isF32() && isShort(op) ? Float64Type::get(context) : Type();
  }

  /// True if `op` reduces windows, is in no loop, and does so few additions that wider ones cost
  /// little.
  bool isShort(linalg::LinalgOp op) {
    int64_t all = 1, added = 1;
    for (auto [extent, kind] :
         llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
      if (ShapedType::isDynamic(extent) || llvm::MulOverflow(all, extent, all))
        return false;
      added *= linalg::isReductionIterator(kind) ? extent : 1;
    }
    auto isWindow = [](AffineMap map) { return !map.isProjectedPermutation(); };
    return llvm::any_of(op.getIndexingMapsArray(), isWindow) && xetile::isInFunction(op) &&
           all <= shortF32 && added > kFewAdditions;
  }

  void widenSums(IRRewriter &rewriter, linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
      return;
    // Vector or scalar code keeps the sums of these in registers, in f32. Outside of loops other
    // passes may make another op of one, which has no such code.
    xetile::Result<xetile::Contraction> kernel = xetile::matchContraction(op, /*onTensors=*/true);
    if (kernel && kernel->batch.empty() && !xetile::isInFunction(op))
      return;
    SmallVector<Type> wide(op->getNumResults());
    mlir::Block &body = op->getRegion(0).front();
    for (unsigned result = 0; result < op->getNumResults(); ++result) {
      BlockArgument sum = op.getMatchingBlockArgument(op.getDpsInitOperand(result));
      Operation *step = xetile::findSumStep(body, sum, body.getTerminator()->getOperand(result));
      if (step && (shortF32 == 0 || addsProduct(step)))
        wide[result] = wideType(op, sum.getType());
    }
    if (llvm::none_of(wide, [](Type type) { return bool(type); }))
      return;
    rewriter.setInsertionPoint(op);
    if (!isa<linalg::GenericOp>(op)) {
      Attribute mark = op->getAttr(xetile::kScheduleAttr);
      FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
      if (failed(generic))
        return;
      if (mark)
        (*generic)->setAttr(xetile::kScheduleAttr, mark);
      op = *generic;
    }
    rebuild(rewriter, cast<linalg::GenericOp>(op.getOperation()), wide);
  }

  /// `types` has the wider type of each result, or none.
  static void rebuild(IRRewriter &rewriter, linalg::GenericOp op, ArrayRef<Type> types) {
    Location loc = op.getLoc();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> inits(op.getOutputs());
    for (auto [init, type] : llvm::zip_equal(inits, types))
      if (type)
        init = widenInit(rewriter, loc, init, type);
    auto wide =
        linalg::GenericOp::create(rewriter, loc, TypeRange(ValueRange(inits)), op.getInputs(),
                                  inits, op.getIndexingMapsArray(), op.getIteratorTypesArray());
    wide->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    rewriter.inlineRegionBefore(op.getRegion(), wide.getRegion(), wide.getRegion().begin());
    mlir::Block &body = wide.getRegion().front();
    for (auto [result, type] : llvm::enumerate(types)) {
      if (!type)
        continue;
      BlockArgument sum = body.getArgument(wide.getNumDpsInputs() + result);
      Operation *step = xetile::findSumStep(body, sum, body.getTerminator()->getOperand(result));
      rewriter.setInsertionPoint(step);
      sum.setType(type);
      IRMapping map;
      for (Value operand : step->getOperands())
        if (operand != sum && !map.contains(operand))
          map.map(operand, widen(rewriter, loc, operand, type));
      Operation *next = rewriter.clone(*step, map);
      next->getResult(0).setType(type);
      rewriter.replaceOp(step, next);
    }
    rewriter.setInsertionPointAfter(wide);
    SmallVector<Value> results(wide.getResults());
    for (auto [result, type] : llvm::enumerate(types))
      if (type)
        results[result] =
            arith::TruncFOp::create(rewriter, loc, op.getResult(result).getType(), results[result]);
    rewriter.replaceOp(op, results);
  }
};
} // namespace
