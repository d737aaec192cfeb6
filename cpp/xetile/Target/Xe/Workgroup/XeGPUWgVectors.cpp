//===- XeGPUWgVectors.cpp - a workgroup's operations on vectors, by pieces ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: operations on a workgroup's vectors, the plan. Out: those on one subgroup's pieces; what
// other subgroups need goes through shared local memory. Refused: nothing; the plan has.
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "xetile/IR/NeutralValue.h"
#include "xetile/Target/Xe/Workgroup/XeGPUWgPlan.h"
#include "xetile/Transforms/FreePieces.h"
#include "xetile/Transforms/Piecewise.h"

using namespace mlir;
using namespace xetile;

namespace {

/// Piece (i, j) of the result is the product of piece i of a and piece j of b: the operands have k
/// whole.
struct DistributeDpas : DistributeXeGPU<xegpu::DpasOp> {
  using DistributeXeGPU::DistributeXeGPU;
  LogicalResult matchAndRewrite(xegpu::DpasOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type type = getPieceType(getOwnership(op.getResult()), op.getResult().getType());
    size_t columns = adaptor.getRhs().size();
    SmallVector<Value> pieces;
    for (Value a : adaptor.getLhs())
      for (auto [column, b] : llvm::enumerate(adaptor.getRhs())) {
        auto copy = cast<xegpu::DpasOp>(rewriter.clone(*op));
        copy.getLhsMutable().assign(a);
        copy.getRhsMutable().assign(b);
        if (op.getAcc())
          copy.getAccMutable().assign(
              adaptor.getAcc()[(pieces.size() / columns) * columns + column]);
        copy->getResult(0).setType(type);
        pieces.push_back(copy->getResult(0));
      }
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

struct DistributeConvert : DistributeXeGPU<xegpu::ConvertLayoutOp> {
  using DistributeXeGPU::DistributeXeGPU;
  LogicalResult matchAndRewrite(xegpu::ConvertLayoutOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> pieces =
        getExchange(rewriter, op.getLoc()).move(plan.moves.at(op), adaptor.getSource());
    xegpu::DistributeLayoutAttr from = dropSubgroups(op.getInputLayoutAttr()),
                                to = dropSubgroups(op.getTargetLayoutAttr());
    // Its layout of lanes stays.
    if (from && to)
      for (Value &piece : pieces)
        piece =
            xegpu::ConvertLayoutOp::create(rewriter, op.getLoc(), piece.getType(), piece, from, to);
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

/// Operations that give one piece of each: shape_cast and bitcast keep their order, transpose
/// permutes it, broadcast repeats them.
template <typename OpTy> struct DistributeStructural : DistributeXeGPU<OpTy> {
  using DistributeXeGPU<OpTy>::DistributeXeGPU;
  LogicalResult matchAndRewrite(OpTy op, typename DistributeXeGPU<OpTy>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Ownership &result = this->getOwnership(op->getResult(0)),
                    &source = this->getOwnership(op->getOperand(0));
    Type type = getPieceType(result, op->getResult(0).getType());
    SmallVector<int64_t> sourceRounds = source.rounds();
    SmallVector<Value> pieces;
    forEachIndex(result.rounds(), [&](ArrayRef<int64_t> round) {
      size_t number = pieces.size();
      if constexpr (std::is_same_v<OpTy, vector::TransposeOp>) {
        number = numberOf(applyPermutation(round, invertPermutationVector(op.getPermutation())),
                          sourceRounds);
      } else if constexpr (std::is_same_v<OpTy, vector::BroadcastOp>) {
        SmallVector<int64_t> index(round.take_back(source.rank()));
        for (auto [at, rounds] : llvm::zip_equal(index, sourceRounds))
          at = rounds == 1 ? 0 : at;
        number = numberOf(index, sourceRounds);
      }
      Operation *copy = rewriter.clone(*op);
      copy->setOperand(0, adaptor.getOperands().front()[number]);
      copy->getResult(0).setType(type);
      pieces.push_back(copy->getResult(0));
    });
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

template <typename OpTy> struct DistributeFree : DistributeXeGPU<OpTy> {
  using DistributeXeGPU<OpTy>::DistributeXeGPU;
  LogicalResult matchAndRewrite(OpTy op, typename DistributeXeGPU<OpTy>::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value result = op->getResult(0);
    const Ownership &ownership = this->getOwnership(result);
    auto type = cast<VectorType>(getPieceType(ownership, result.getType()));
    rewriter.replaceOpWithMultiple(
        op, {createFreePieces(rewriter, op, ownership, type, this->plan.place)});
    return success();
  }
};

/// A scalar is repeated, and a vector as the pieces go.
struct DistributeBroadcast : DistributeXeGPU<vector::BroadcastOp> {
  using DistributeXeGPU::DistributeXeGPU;
  LogicalResult matchAndRewrite(vector::BroadcastOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (isa<VectorType>(op.getSourceType()))
      return DistributeStructural<vector::BroadcastOp>(*getTypeConverter(), getContext(), plan)
          .matchAndRewrite(op, adaptor, rewriter);
    return DistributeFree<vector::BroadcastOp>(*getTypeConverter(), getContext(), plan)
        .matchAndRewrite(op, adaptor, rewriter);
  }
};

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// vector.multi_reduction and vector.reduction.
template <typename OpTy> struct DistributeReduction : DistributeXeGPU<OpTy> {
  using DistributeXeGPU<OpTy>::DistributeXeGPU;
  LogicalResult matchAndRewrite(OpTy op, typename DistributeXeGPU<OpTy>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ReducedDims reduced = *getReducedDims(op);
    const Ownership &source = this->getOwnership(reduced.source);
    Type element = cast<VectorType>(reduced.source.getType()).getElementType(),
         wide = getReductionType(reduced.kind, element, reduced.dims, source);
    SmallVector<Value> accs(reduced.acc ? llvm::to_vector(adaptor.getAcc()) : SmallVector<Value>());

    SmallVector<Value> sums = mergePieces(rewriter, loc, reduced.kind, reduced.dims, source,
                                          adaptor.getOperands().front(), wide);
    auto accOf = [&](unsigned piece) {
      return accs.empty() ? Value()
                          : convertFloat(rewriter, loc, accs[accs.size() == 1 ? 0 : piece], wide);
    };
    SmallVector<Value> pieces;
    auto found = this->plan.reductions.find(op);
    if (found == this->plan.reductions.end()) {
      for (auto [piece, sum] : llvm::enumerate(sums))
        pieces.push_back(reduce(rewriter, loc, reduced, sum, accOf(piece)));
    } else {
      const CrossReduction &decision = found->second;
      VectorExchange exchange = this->getExchange(rewriter, loc);
      Value buffer =
          this->plan.scratch.create(rewriter, loc, decision.partial.shape(), getStorageType(wide));
      auto type = VectorType::get(decision.partial.pieceShape(), wide);
      SmallVector<Value> partials;
      for (Value sum : sums) {
        Value partial = reduce(rewriter, loc, reduced, sum, Value());
        partials.push_back(
            isa<VectorType>(partial.getType())
                ? vector::ShapeCastOp::create(rewriter, loc, type, partial).getResult()
                : vector::BroadcastOp::create(rewriter, loc, type, partial).getResult());
      }
      exchange.store(buffer, decision.partial, partials);
      for (auto [piece, all] : llvm::enumerate(exchange.load(buffer, decision.all, wide)))
        pieces.push_back(reduce(rewriter, loc, reduced, all, accOf(piece)));
    }
    for (Value &piece : pieces)
      piece = convertFloat(rewriter, loc, piece, element);
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }

private:
  static Value reduce(OpBuilder &builder, Location loc, const ReducedDims &reduced, Value vector,
                      Value acc) {
    auto type = cast<VectorType>(vector.getType());
    if (type.getRank() == 1)
      return acc ? vector::ReductionOp::create(builder, loc, reduced.kind, vector, acc)
                 : vector::ReductionOp::create(builder, loc, reduced.kind, vector);
    SmallVector<bool> mask(type.getRank(), false);
    SmallVector<int64_t> shape;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (llvm::is_contained(reduced.dims, dim))
        mask[dim] = true;
      else
        shape.push_back(type.getDimSize(dim));
    if (!acc) {
      TypedAttr neutral = getNeutralValue(reduced.kind, type.getElementType());
      if (!shape.empty())
        neutral = DenseElementsAttr::get(VectorType::get(shape, type.getElementType()),
                                         Attribute(neutral));
      acc = arith::ConstantOp::create(builder, loc, neutral);
    }
    return vector::MultiDimReductionOp::create(builder, loc, vector, acc, mask, reduced.kind);
  }
};
} // namespace

void xetile::populateXeGPUWgVectorPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns, XeGPUWgPlan &plan) {
  patterns.add<DistributeDpas, DistributeConvert, DistributeBroadcast,
               DistributeStructural<vector::TransposeOp>, DistributeStructural<vector::ShapeCastOp>,
               DistributeStructural<vector::BitCastOp>,
               DistributeReduction<vector::MultiDimReductionOp>,
               DistributeReduction<vector::ReductionOp>, DistributeFree<arith::ConstantOp>,
               DistributeFree<ub::PoisonOp>, DistributeFree<vector::StepOp>,
               DistributeFree<vector::CreateMaskOp>, DistributeFree<vector::ConstantMaskOp>>(
      converter, patterns.getContext(), plan);
  populatePiecewisePatterns(converter, patterns, [](Operation *op) {
    return isElementwiseOnVectors(op) ||
           isa<xegpu::CreateDescOp, xegpu::UpdateOffsetOp, xegpu::LoadGatherOp,
               xegpu::StoreScatterOp, xegpu::PrefetchOp>(op);
  });
}
