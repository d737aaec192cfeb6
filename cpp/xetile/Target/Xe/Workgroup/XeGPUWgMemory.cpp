//===- XeGPUWgMemory.cpp - a workgroup's accesses to memory, by pieces ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: descriptors and accesses of a workgroup, the plan. Out: those of one subgroup's pieces; where
// they are in the tile is added to the offsets of the accesses. Refused: nothing; the plan has.
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "xetile/Target/Xe/Workgroup/XeGPUWgPlan.h"

using namespace mlir;
using namespace xetile;

namespace {

/// The layout of an access for the lanes of a subgroup: its own, or that of the descriptor.
template <typename OpTy> xegpu::DistributeLayoutAttr getLaneLayout(OpTy op) {
  xegpu::DistributeLayoutAttr layout = op.getLayoutAttr();
  if (!layout)
    layout = dyn_cast_if_present<xegpu::DistributeLayoutAttr>(op.getTensorDescType().getLayout());
  return layout ? dropSubgroups(layout) : layout;
}

/// create_nd_tdesc and update_nd_offset: the same for each shape.
template <typename OpTy> struct DistributeDescriptor : DistributeXeGPU<OpTy> {
  using DistributeXeGPU<OpTy>::DistributeXeGPU;
  LogicalResult matchAndRewrite(OpTy op, typename DistributeXeGPU<OpTy>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> copies;
    for (auto [number, type] : llvm::enumerate(this->plan.descriptors.getTypes(op->getResult(0)))) {
      Operation *copy = rewriter.clone(*op);
      copy->getResult(0).setType(type);
      if constexpr (std::is_same_v<OpTy, xegpu::UpdateNdOffsetOp>)
        copy->setOperand(0, adaptor.getTensorDesc()[number]);
      copies.push_back(copy->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {copies});
    return success();
  }
};

/// The offsets of an access with those of a subgroup's piece added to the last of them.
template <typename OpTy>
void addOffsets(OpTy copy, ConversionPatternRewriter &rewriter, XeGPUWgPlan &plan,
                const Ownership &tile, ArrayRef<int64_t> round) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(copy);
  Location loc = copy.getLoc();
  SmallVector<OpFoldResult> offsets = copy.getMixedOffsets();
  while (offsets.size() < tile.rank())
    offsets.insert(offsets.begin(), rewriter.getIndexAttr(0));
  unsigned first = offsets.size() - tile.rank();
  for (unsigned dim = 0; dim < tile.rank(); ++dim) {
    OpFoldResult piece =
        plan.place.getOffset(rewriter, loc, tile, dim, tile.dims[dim].pieceSize, round[dim]);
    OpFoldResult &offset = offsets[first + dim];
    if (isConstantIntValue(piece, 0))
      continue;
    if (isConstantIntValue(offset, 0)) {
      offset = piece;
      continue;
    }
    offset = rewriter.createOrFold<arith::AddIOp>(
        loc, getValueOrCreateConstantIndexOp(rewriter, loc, offset),
        getValueOrCreateConstantIndexOp(rewriter, loc, piece));
  }
  SmallVector<Value> values;
  SmallVector<int64_t> constants;
  dispatchIndexOpFoldResults(offsets, values, constants);
  copy.getOffsetsMutable().assign(values);
  copy.setConstOffsetsAttr(rewriter.getDenseI64ArrayAttr(constants));
}

/// load_nd, store_nd and prefetch_nd: one for each piece.
template <typename OpTy> struct DistributeBlockAccess : DistributeXeGPU<OpTy> {
  using DistributeXeGPU<OpTy>::DistributeXeGPU;
  LogicalResult matchAndRewrite(OpTy op, typename DistributeXeGPU<OpTy>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    XeGPUWgPlan &plan = this->plan;
    Ownership tile = *getTileOfAccess(op, plan.layouts);
    Value descriptor =
        adaptor.getTensorDesc()[plan.descriptors.getNumber(op.getTensorDesc(), tile.pieceShape())];
    // Pieces are counted in the vector's order.
    SmallVector<int64_t> toTile = llvm::to_vector(llvm::seq<int64_t>(0, tile.rank())), rounds;
    if constexpr (std::is_same_v<OpTy, xegpu::LoadNdOp>) {
      if (auto permutation = op.getTranspose())
        toTile = invertPermutationVector(*permutation);
      rounds = this->getOwnership(op.getValue()).rounds();
    } else {
      rounds = tile.rounds();
    }
    xegpu::DistributeLayoutAttr lanes = getLaneLayout(op);
    SmallVector<Value> pieces;
    unsigned number = 0;
    forEachIndex(rounds, [&](ArrayRef<int64_t> round) {
      auto copy = cast<OpTy>(rewriter.clone(*op));
      copy.getTensorDescMutable().assign(descriptor);
      SmallVector<int64_t> tileRound;
      for (int64_t dim : toTile)
        tileRound.push_back(round[dim]);
      addOffsets(copy, rewriter, plan, tile, tileRound);
      copy.removeLayoutAttr();
      bool isInMemoryOrder = true;
      if constexpr (std::is_same_v<OpTy, xegpu::LoadNdOp>) {
        copy->getResult(0).setType(
            getPieceType(this->getOwnership(op.getValue()), op.getValue().getType()));
        pieces.push_back(copy->getResult(0));
        isInMemoryOrder = op.getLayoutAttr() || !(op.getTranspose() || op.getPacked());
      } else if constexpr (std::is_same_v<OpTy, xegpu::StoreNdOp>) {
        copy.getValueMutable().assign(adaptor.getValue()[number]);
      }
      if (lanes && isInMemoryOrder)
        copy.setLayoutAttr(lanes);
      ++number;
    });
    if constexpr (std::is_same_v<OpTy, xegpu::LoadNdOp>)
      rewriter.replaceOpWithMultiple(op, {pieces});
    else
      rewriter.eraseOp(op);
    return success();
  }
};

/// load_matrix and store_matrix: the same, of shared memory that the kernel has itself.
template <typename OpTy> struct DistributeMatrixAccess : DistributeXeGPU<OpTy> {
  using DistributeXeGPU<OpTy>::DistributeXeGPU;
  LogicalResult matchAndRewrite(OpTy op, typename DistributeXeGPU<OpTy>::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    constexpr bool isLoad = std::is_same_v<OpTy, xegpu::LoadMatrixOp>;
    Value value = isLoad ? op->getResult(0) : op->getOperand(0);
    const Ownership &ownership = this->getOwnership(value);
    SmallVector<Value> pieces;
    unsigned number = 0;
    forEachIndex(ownership.rounds(), [&](ArrayRef<int64_t> round) {
      auto copy = cast<OpTy>(rewriter.clone(*op));
      addOffsets(copy, rewriter, this->plan, ownership, round);
      if (xegpu::DistributeLayoutAttr layout = op.getLayoutAttr()) {
        copy.removeLayoutAttr();
        if (xegpu::DistributeLayoutAttr lanes = dropSubgroups(layout))
          copy.setLayoutAttr(lanes);
      }
      if constexpr (isLoad) {
        copy->getResult(0).setType(getPieceType(ownership, value.getType()));
        pieces.push_back(copy->getResult(0));
      } else {
        copy->setOperand(0, adaptor.getData()[number]);
      }
      ++number;
    });
    if (isLoad)
      rewriter.replaceOpWithMultiple(op, {pieces});
    else
      rewriter.eraseOp(op);
    return success();
  }
};

/// Where several subgroups own a piece the first of them updates it, and tells the others what was
/// there before if somebody asks.
struct DistributeAtomic : DistributeXeGPU<xegpu::AtomicRMWOp> {
  using DistributeXeGPU::DistributeXeGPU;
  LogicalResult matchAndRewrite(xegpu::AtomicRMWOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const Ownership &ownership = getOwnership(op.getResult());
    auto type = cast<VectorType>(op.getResult().getType());
    auto update = [&] {
      SmallVector<Value> before;
      for (auto [tile, mask, value] :
           llvm::zip_equal(adaptor.getTensorDesc(), adaptor.getMask(), adaptor.getValue())) {
        auto copy = cast<xegpu::AtomicRMWOp>(rewriter.clone(*op));
        copy.getTensorDescMutable().assign(tile);
        copy.getMaskMutable().assign(mask);
        copy.getValueMutable().assign(value);
        copy.getResult().setType(cast<VectorType>(getPieceType(ownership, type)));
        before.push_back(copy.getResult());
      }
      return before;
    };
    if (!plan.guarded.contains(op)) {
      rewriter.replaceOpWithMultiple(op, {update()});
      return success();
    }
    SmallVector<Value> pieces =
        updateByFirstOwner(rewriter, getExchange(rewriter, loc), plan.place, plan.scratch, loc,
                           ownership, type, !op->use_empty(), update);
    if (pieces.empty())
      rewriter.eraseOp(op);
    else
      rewriter.replaceOpWithMultiple(op, {pieces});
    return success();
  }
};
} // namespace

static SmallVector<Value> toValues(OpBuilder &builder, Location loc,
                                   ArrayRef<OpFoldResult> offsets) {
  SmallVector<Value> values;
  for (OpFoldResult offset : offsets)
    values.push_back(getValueOrCreateConstantIndexOp(builder, loc, offset));
  return values;
}

void VectorExchange::storeTo(Value buffer, Value vector, ArrayRef<OpFoldResult> offsets) const {
  SmallVector<bool> inBounds(offsets.size(), true);
  vector::TransferWriteOp::create(builder, loc, vector, buffer, toValues(builder, loc, offsets),
                                  ArrayRef<bool>(inBounds));
}

Value VectorExchange::loadFrom(Value buffer, VectorType type,
                               ArrayRef<OpFoldResult> offsets) const {
  SmallVector<bool> inBounds(offsets.size(), true);
  Value padding =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  return vector::TransferReadOp::create(builder, loc, type, buffer, toValues(builder, loc, offsets),
                                        padding, ArrayRef<bool>(inBounds));
}

Value VectorExchange::permute(Value vector, ArrayRef<int64_t> permutation) const {
  return vector::TransposeOp::create(builder, loc, vector, permutation);
}

void xetile::populateXeGPUWgMemoryPatterns(const TypeConverter &converter,
                                           RewritePatternSet &patterns, XeGPUWgPlan &plan) {
  patterns.add<
      DistributeDescriptor<xegpu::CreateNdDescOp>, DistributeDescriptor<xegpu::UpdateNdOffsetOp>,
      DistributeBlockAccess<xegpu::LoadNdOp>, DistributeBlockAccess<xegpu::StoreNdOp>,
      DistributeBlockAccess<xegpu::PrefetchNdOp>, DistributeMatrixAccess<xegpu::LoadMatrixOp>,
      DistributeMatrixAccess<xegpu::StoreMatrixOp>, DistributeAtomic>(converter,
                                                                      patterns.getContext(), plan);
}
