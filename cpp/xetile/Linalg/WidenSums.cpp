//===- WidenSums.cpp - sums of narrow floats in f32 --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: linalg ops on tensors that add or multiply into results of f16 or bf16 (matvec, dot,
// convolutions, pooling, linalg.reduce). Out: the same with f32 results, rounded once behind them.
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

static bool isNarrow(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

/// `value` in f32; a product that nothing else reads is not rounded before.
static Value widen(OpBuilder &b, Location loc, Value value) {
  Type f32 = b.getF32Type();
  if (auto product = value.getDefiningOp<arith::MulFOp>(); product && product->hasOneUse()) {
    auto extend = [&](Value factor) { return arith::ExtFOp::create(b, loc, f32, factor); };
    return arith::MulFOp::create(b, loc, extend(product.getLhs()), extend(product.getRhs()),
                                 product.getFastmath());
  }
  return arith::ExtFOp::create(b, loc, f32, value);
}

/// What the wide sums start from.
static Value widenInit(OpBuilder &b, Location loc, Value init) {
  auto type = cast<RankedTensorType>(init.getType());
  auto wide = RankedTensorType::get(type.getShape(), b.getF32Type());
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return arith::ExtFOp::create(b, loc, wide, init);
  Value start = arith::ExtFOp::create(b, loc, b.getF32Type(), fill.getInputs()[0]);
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, fill.getOutputs()[0]),
                                        b.getF32Type());
  return linalg::FillOp::create(b, loc, start, empty).getResult(0);
}

namespace {
struct WidenSums : xetile::impl::WidenSumsBase<WidenSums> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      widenSums(rewriter, op);
  }

private:
  static void widenSums(IRRewriter &rewriter, linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
      return;
    // Vector or scalar code keeps the sums of these in registers, in f32. Outside of loops other
    // passes may make another op of one, which has no such code.
    std::string why;
    FailureOr<xetile::Contraction> kernel = xetile::matchContraction(op, /*onTensors=*/true, why);
    if (succeeded(kernel) && kernel->batch.empty() && !xetile::isInFunction(op))
      return;
    SmallVector<unsigned> narrow;
    mlir::Block &body = op->getRegion(0).front();
    for (unsigned result = 0; result < op->getNumResults(); ++result) {
      BlockArgument sum = op.getMatchingBlockArgument(op.getDpsInitOperand(result));
      if (isNarrow(sum.getType()) &&
          xetile::findSumStep(body, sum, body.getTerminator()->getOperand(result)))
        narrow.push_back(result);
    }
    if (narrow.empty())
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
    rebuild(rewriter, cast<linalg::GenericOp>(op.getOperation()), narrow);
  }

  static void rebuild(IRRewriter &rewriter, linalg::GenericOp op, ArrayRef<unsigned> narrow) {
    Location loc = op.getLoc();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> inits(op.getOutputs());
    for (unsigned result : narrow)
      inits[result] = widenInit(rewriter, loc, inits[result]);
    auto wide =
        linalg::GenericOp::create(rewriter, loc, TypeRange(ValueRange(inits)), op.getInputs(),
                                  inits, op.getIndexingMapsArray(), op.getIteratorTypesArray());
    wide->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
    rewriter.inlineRegionBefore(op.getRegion(), wide.getRegion(), wide.getRegion().begin());
    mlir::Block &body = wide.getRegion().front();
    for (unsigned result : narrow) {
      BlockArgument sum = body.getArgument(wide.getNumDpsInputs() + result);
      Operation *step = xetile::findSumStep(body, sum, body.getTerminator()->getOperand(result));
      rewriter.setInsertionPoint(step);
      sum.setType(rewriter.getF32Type());
      IRMapping map;
      for (Value operand : step->getOperands())
        if (operand != sum && !map.contains(operand))
          map.map(operand, widen(rewriter, loc, operand));
      Operation *next = rewriter.clone(*step, map);
      next->getResult(0).setType(rewriter.getF32Type());
      rewriter.replaceOp(step, next);
    }
    rewriter.setInsertionPointAfter(wide);
    SmallVector<Value> results(wide.getResults());
    for (unsigned result : narrow)
      results[result] =
          arith::TruncFOp::create(rewriter, loc, op.getResult(result).getType(), results[result]);
    rewriter.replaceOp(op, results);
  }
};
} // namespace
