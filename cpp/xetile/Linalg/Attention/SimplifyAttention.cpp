//===- SimplifyAttention.cpp - attention in few ops, indexed by dimensions ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function of an attention's ops alone. Out: linalg.generic and fills, reshapes of arguments
// and of the result; contractions read what was copied, in the order that it has in memory.
// Refused: what upstream's patterns do not come to an end with.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "xetile/Linalg/Attention/AttentionOps.h"
#include "xetile/Linalg/Passes.h"
#include "xetile/Linalg/Simplify.h"

namespace xetile {
#define GEN_PASS_DEF_SIMPLIFYATTENTION
#include "xetile/Linalg/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

static void eraseDead(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// One kind of ops, and no reshapes between them: dimensions that were merged come apart.
static LogicalResult generalize(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  if (failed(applyPatternsGreedily(function, std::move(patterns))))
    return failure();
  IRRewriter rewriter(context);
  for (Operation &op : llvm::make_early_inc_range(function.front()))
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
        linalgOp && !isa<linalg::GenericOp, linalg::FillOp>(op)) {
      rewriter.setInsertionPoint(&op);
      if (failed(linalg::generalizeNamedOp(rewriter, linalgOp)))
        return failure();
    }
  // Dimensions of size one are indexed by constants, which upstream's patterns below do not take.
  if (failed(dropUnitDims(function)))
    return failure();
  RewritePatternSet reshapes(context);
  linalg::populateFoldReshapeOpsByExpansionPatterns(reshapes, [](OpOperand *) { return true; });
  linalg::populateEraseUnusedOperandsAndResultsPatterns(reshapes);
  tensor::populateFoldTensorEmptyPatterns(reshapes);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(reshapes, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(reshapes, context);
  linalg::FillOp::getCanonicalizationPatterns(reshapes, context);
  return applyPatternsGreedily(function, std::move(reshapes));
}

/// The one input of an op whose elements are all read once or copied, each for its own result.
static OpOperand *mainInput(linalg::GenericOp op) {
  if (op.getNumParallelLoops() != op.getNumLoops() || op->getNumResults() != 1 ||
      op.hasIndexSemantics() || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return nullptr;
  OpOperand *main = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation())
      return nullptr;
    if (!main || map.getNumResults() > op.getMatchingIndexingMap(main).getNumResults())
      main = input;
  }
  return main;
}

/// Indices of `use` by the loops of `producer` instead of by the places of its result.
static AffineMap throughProducer(AffineMap use, linalg::GenericOp producer, AffineMap read) {
  AffineMap written = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  return read.compose(inversePermutation(written)).compose(use);
}

static void setMap(linalg::GenericOp op, unsigned operand, AffineMap map) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand] = map;
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

/// Lets a contraction read what was copied, and work that is left keep the order in memory of what
/// it reads: copies to packed blocks transpose in registers.
static void readInPlace(linalg::GenericOp contraction, unsigned operand) {
  IRRewriter b(contraction.getContext());
  while (auto producer = contraction->getOperand(operand).getDefiningOp<linalg::GenericOp>()) {
    OpOperand *input = mainInput(producer);
    if (!input || isContraction(producer))
      return;
    AffineMap use = contraction.getIndexingMapsArray()[operand];
    AffineMap read = producer.getMatchingIndexingMap(input);
    auto yield = cast<linalg::YieldOp>(producer.getBody()->getTerminator());
    if (yield.getOperand(0) == producer.getMatchingBlockArgument(input)) {
      setMap(contraction, operand, throughProducer(use, producer, read));
      contraction->setOperand(operand, input->get());
      continue;
    }
    AffineMap written = producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
    if (!read.isPermutation() || read == written || !producer->hasOneUse() ||
        producer.payloadUsesValueFromOperand(producer.getDpsInitOperand(0)))
      return;
    auto type = cast<RankedTensorType>(input->get().getType());
    auto result = cast<RankedTensorType>(producer->getResult(0).getType());
    setMap(contraction, operand, throughProducer(use, producer, read));
    b.setInsertionPoint(producer);
    Value empty =
        tensor::EmptyOp::create(b, producer.getLoc(), type.getShape(), result.getElementType());
    setMap(producer, producer.getDpsInitOperand(0)->getOperandNumber(), read);
    producer.getDpsInitOperand(0)->set(empty);
    producer->getResult(0).setType(cast<RankedTensorType>(empty.getType()));
    return;
  }
}

/// True if a tensor is exp of differences, from its maximum, say: so small that their products with
/// values do not overflow before the division by the sum.
static bool isPowers(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op)
    return false;
  auto power = op.getBody()->getTerminator()->getOperand(0).getDefiningOp<math::ExpOp>();
  return power && power.getOperand().getDefiningOp<arith::SubFOp>();
}

/// Multiplies or divides the output by a row's factor instead of the powers that it is computed
/// from: fewer elements, and powers are read where they are.
static void scaleOutput(linalg::GenericOp output) {
  auto scaled = output->getOperand(0).getDefiningOp<linalg::GenericOp>();
  OpOperand *powers = scaled ? mainInput(scaled) : nullptr;
  if (!powers || !scaled->hasOneUse() || scaled.getNumDpsInputs() != 2 || !isPowers(powers->get()))
    return;
  OpOperand *factor = scaled.getDpsInputOperand(1 - powers->getOperandNumber());
  mlir::Block &body = *scaled.getBody();
  Operation *product = body.getTerminator()->getOperand(0).getDefiningOp();
  auto type = cast<RankedTensorType>(output->getResult(0).getType());
  bool isScaling = isa_and_nonnull<arith::MulFOp, arith::DivFOp>(product) &&
                   llvm::hasSingleElement(body.without_terminator()) &&
                   product->getOperand(0) != product->getOperand(1) &&
                   llvm::all_of(product->getOperands(), llvm::IsaPred<BlockArgument>) &&
                   (isa<arith::MulFOp>(product) ||
                    product->getOperand(0) == scaled.getMatchingBlockArgument(powers));
  if (!isScaling || getElementTypeOrSelf(factor->get().getType()) != type.getElementType() ||
      !type.getElementType().isF32())
    return;
  AffineMap use = output.getIndexingMapsArray()[0], written = output.getIndexingMapsArray()[2];
  AffineMap read = throughProducer(use, scaled, scaled.getMatchingIndexingMap(factor));
  SmallVector<AffineExpr> places;
  for (AffineExpr expr : read.getResults()) {
    std::optional<unsigned> place = written.getResultPosition(expr);
    if (!place)
      return;
    places.push_back(getAffineDimExpr(*place, output.getContext()));
  }
  setMap(output, 0, throughProducer(use, scaled, scaled.getMatchingIndexingMap(powers)));
  output->setOperand(0, powers->get());
  IRRewriter b(output.getContext());
  b.setInsertionPointAfter(output);
  Location loc = scaled.getLoc();
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  auto result = linalg::GenericOp::create(
      b, loc, TypeRange(type), ValueRange{output->getResult(0), factor->get()}, ValueRange(empty),
      ArrayRef<AffineMap>{identity, AffineMap::get(type.getRank(), 0, places, b.getContext()),
                          identity},
      SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
      [&](OpBuilder &builder, Location at, ValueRange values) {
        Value result = builder
                           .create(at, product->getName().getIdentifier(), values.take_front(2),
                                   values[0].getType())
                           ->getResult(0);
        linalg::YieldOp::create(builder, at, result);
      });
  b.replaceAllUsesExcept(output->getResult(0), result->getResult(0), result);
}

/// Indices of dimensions that came apart, or are gone, are sums in which most terms are zero.
static void foldIndices(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
  SmallVector<Operation *> indices;
  function.walk([&](affine::AffineApplyOp op) { indices.push_back(op); });
  (void)applyOpPatternsGreedily(indices, std::move(patterns));
}

LogicalResult xetile::simplifyAttention(func::FuncOp function) {
  if (failed(generalize(function)) || failed(dropUnitDims(function)))
    return failure();
  foldIndices(function);
  eraseDead(function);
  // Elementwise consumers of the scores, such as a mask or a factor, are fused first.
  fuseElementwise(function, /*repeatCheapOps=*/false);
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, function);
  SmallVector<linalg::GenericOp> contractions;
  for (auto op : function.front().getOps<linalg::GenericOp>())
    if (isContraction(op))
      contractions.push_back(op);
  for (linalg::GenericOp op : contractions)
    for (unsigned operand : {0, 1})
      readInPlace(op, operand);
  if (!contractions.empty())
    scaleOutput(contractions.back());
  eraseDead(function);
  return success();
}

namespace {
struct SimplifyAttention : xetile::impl::SimplifyAttentionBase<SimplifyAttention> {
  using SimplifyAttentionBase::SimplifyAttentionBase;

  void runOnOperation() override {
    for (auto function : getOperation()->getRegion(0).getOps<func::FuncOp>())
      if (function.getBody().hasOneBlock() && failed(simplifyAttention(function))) {
        function.emitError(
            "expected ops that upstream's patterns bring to a common form: they came "
            "to no end; compile parts of the function by themselves");
        return signalPassFailure();
      }
    if (narrow)
      for (auto function : getOperation()->getRegion(0).getOps<func::FuncOp>())
        if (function.getBody().hasOneBlock())
          narrowAttention(function);
  }
};
} // namespace
