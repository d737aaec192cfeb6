//===- XeGPUWgSlices.cpp - slices and transfers of a workgroup, by pieces -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: slices and insertions of a workgroup's vectors, vector.transfer_read and transfer_write, the
// plan. Out: those of one subgroup's pieces. Refused: nothing; the plan has.
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "xetile/Target/Xe/Workgroup/XeGPUWgPlan.h"

using namespace mlir;
using namespace xetile;

namespace {

/// Dimensions that are cut have one piece: the pieces of operands and results are numbered alike.
template <typename OpTy> struct DistributeSlice : DistributeXeGPU<OpTy> {
  using DistributeXeGPU<OpTy>::DistributeXeGPU;
  LogicalResult matchAndRewrite(OpTy op, typename DistributeXeGPU<OpTy>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value result = op->getResult(0);
    auto vector = dyn_cast<VectorType>(result.getType());
    Type type = vector ? getPieceType(this->getOwnership(result), vector) : result.getType();
    size_t count = vector ? this->getOwnership(result).numPieces() : 1;
    SmallVector<Value> pieces;
    for (size_t number = 0; number < count; ++number) {
      Operation *copy = rewriter.clone(*op);
      for (auto [operand, values] : llvm::zip_equal(copy->getOpOperands(), adaptor.getOperands()))
        operand.set(values[values.size() == 1 ? 0 : number]);
      copy->getResult(0).setType(type);
      if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(copy)) {
        SmallVector<int64_t> sizes;
        for (auto [size, offset] : llvm::zip(cast<VectorType>(type).getShape(), slice.getOffsets()))
          sizes.push_back(size);
        slice.setSizesAttr(rewriter.getI64ArrayAttr(sizes));
      }
      pieces.push_back(copy->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};

/// Where a piece begins is added to the indices of the dimensions that its own run along.
template <typename OpTy> struct DistributeTransfer : DistributeXeGPU<OpTy> {
  using DistributeXeGPU<OpTy>::DistributeXeGPU;
  LogicalResult matchAndRewrite(OpTy op, typename DistributeXeGPU<OpTy>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    constexpr bool isRead = std::is_same_v<OpTy, vector::TransferReadOp>;
    Location loc = op.getLoc();
    Value vector = op.getVector();
    const Ownership &ownership = this->getOwnership(vector);
    Type type = getPieceType(ownership, vector.getType());
    SmallVector<Value> pieces;
    unsigned number = 0;
    forEachIndex(ownership.rounds(), [&](ArrayRef<int64_t> round) {
      auto copy = cast<OpTy>(rewriter.clone(*op));
      SmallVector<Value> indices(op.getIndices());
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(copy);
      for (auto [dim, expr] : llvm::enumerate(op.getPermutationMap().getResults())) {
        auto along = dyn_cast<AffineDimExpr>(expr);
        if (!along) // the same everywhere
          continue;
        Value offset = getValueOrCreateConstantIndexOp(
            rewriter, loc,
            this->plan.place.getOffset(rewriter, loc, ownership, dim, ownership.dims[dim].pieceSize,
                                       round[dim]));
        Value &index = indices[along.getPosition()];
        index = rewriter.createOrFold<arith::AddIOp>(loc, index, offset);
      }
      copy.getIndicesMutable().assign(indices);
      if (op.getMask())
        copy.getMaskMutable().assign(adaptor.getMask()[number]);
      if constexpr (isRead) {
        copy->getResult(0).setType(type);
        pieces.push_back(copy->getResult(0));
      } else {
        copy->setOperand(0, adaptor.getOperands().front()[number]);
      }
      ++number;
    });
    if constexpr (isRead)
      rewriter.replaceOpWithMultiple(op, {pieces});
    else
      rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void xetile::populateXeGPUWgSlicePatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns, XeGPUWgPlan &plan) {
  patterns.add<
      DistributeSlice<vector::ExtractOp>, DistributeSlice<vector::InsertOp>,
      DistributeSlice<vector::ExtractStridedSliceOp>, DistributeSlice<vector::InsertStridedSliceOp>,
      DistributeTransfer<vector::TransferReadOp>, DistributeTransfer<vector::TransferWriteOp>>(
      converter, patterns.getContext(), plan);
}
