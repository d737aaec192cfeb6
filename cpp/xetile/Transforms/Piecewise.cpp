//===- Piecewise.cpp - rewrites that act on each piece of a value alike ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Transforms/Piecewise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace {

struct ApplyToPieces : ConversionPattern {
  ApplyToPieces(const TypeConverter &converter, MLIRContext *context,
                std::function<bool(Operation *)> isPiecewise)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context),
        isPiecewise(std::move(isPiecewise)) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isPiecewise(op))
      return rewriter.notifyMatchFailure(op, "not applied piece by piece");
    SmallVector<SmallVector<Type>> resultTypes(op->getNumResults());
    for (auto [result, types] : llvm::zip_equal(op->getResults(), resultTypes))
      if (failed(getTypeConverter()->convertType(result, types)))
        return rewriter.notifyMatchFailure(op, "no type for the pieces of the result");
    size_t numPieces = 1;
    for (ValueRange pieces : operands)
      numPieces = std::max(numPieces, pieces.size());

    SmallVector<SmallVector<Value>> results(op->getNumResults());
    for (size_t piece = 0; piece < numPieces; ++piece) {
      OperationState state(op->getLoc(), op->getName());
      for (ValueRange pieces : operands)
        state.operands.push_back(pieces.size() == 1 ? pieces.front() : pieces[piece]);
      for (ArrayRef<Type> types : resultTypes)
        state.types.push_back(types[piece]);
      state.attributes = op->getDiscardableAttrDictionary();
      state.propertiesAttr = op->getPropertiesAsAttribute();
      Operation *copy = rewriter.create(state);
      for (auto [list, result] : llvm::zip_equal(results, copy->getResults()))
        list.push_back(result);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

  std::function<bool(Operation *)> isPiecewise;
};

struct CutConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!splat || failed(getTypeConverter()->convertType(op.getResult(), types)))
      return rewriter.notifyMatchFailure(op, "not a constant with equal elements");
    SmallVector<Value> pieces;
    for (Type type : types)
      pieces.push_back(arith::ConstantOp::create(rewriter, op.getLoc(),
                                                 splat.resizeSplat(cast<ShapedType>(type))));
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};
} // namespace

void xetile::populatePiecewisePatterns(const TypeConverter &converter, RewritePatternSet &patterns,
                                       std::function<bool(Operation *)> isPiecewise) {
  patterns.add<CutConstant>(converter, patterns.getContext());
  patterns.add<ApplyToPieces>(converter, patterns.getContext(), std::move(isPiecewise));
}
