//===- VectorToXeTile.cpp - vector transfers and contractions to XeTile ----------===//
// In: vector.transfer_read/write of 2D vectors on memrefs, vector.contract of the matmul form.
// Out: init_tile with load_tile/store_tile, tile_mma; nothing else changes.
// Refused: masks, permuted or broadcast transfers, other ranks, column strides other than 1, other
// contractions.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Conversion/Passes.h"
#include "xetile/IR/XeTileOps.h"

namespace xetile {
#define GEN_PASS_DEF_CONVERTVECTORTOXETILE
#include "xetile/Conversion/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Checks what transfer_read and transfer_write share.
static LogicalResult checkTransfer(VectorTransferOpInterface op) {
  auto memref = dyn_cast<MemRefType>(op.getShapedType());
  if (!memref)
    return op.emitOpError("cannot become a tile: expected a memref, got ")
           << op.getShapedType() << "; bufferize before";
  if (memref.getRank() != 2 || op.getVectorType().getRank() != 2)
    return op.emitOpError("cannot become a tile: expected a 2D memref and vector, got ")
           << memref << " and " << op.getVectorType();
  if (op.getMask())
    return op.emitOpError(
        "cannot become a tile: masked transfers are not supported; vectorize with tile sizes that "
        "divide the problem");
  if (!op.getPermutationMap().isIdentity())
    return op.emitOpError("cannot become a tile: expected an identity permutation_map, got ")
           << AffineMapAttr::get(op.getPermutationMap());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return op.emitOpError("cannot become a tile: expected a memref with column stride 1, got ")
           << memref;
  return success();
}

/// The tile that a transfer touches. A memref of dynamic shape is described by its run-time sizes
/// and strides.
static Value createTile(OpBuilder &builder, Location loc, TypedValue<MemRefType> base,
                        ValueRange offsets, VectorType vector) {
  MemRefType memref = base.getType();
  SmallVector<OpFoldResult> shape, strides;
  if (!memref.hasStaticShape()) {
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, base);
    shape = metadata.getConstifiedMixedSizes();
    strides = metadata.getConstifiedMixedStrides();
  }
  auto tile = TileType::get(vector.getShape(), vector.getElementType());
  return InitTileOp::create(builder, loc, tile, base, getAsOpFoldResult(offsets), shape, strides);
}

static LogicalResult convertRead(IRRewriter &rewriter, vector::TransferReadOp op) {
  if (failed(checkTransfer(op)))
    return failure();
  Attribute padding;
  if (op.hasOutOfBoundsDim() && !matchPattern(op.getPadding(), m_Constant(&padding)))
    return op.emitOpError(
        "cannot become a tile: expected a constant padding value for a transfer that may be out of "
        "bounds");
  Value tile = createTile(rewriter, op.getLoc(), cast<TypedValue<MemRefType>>(op.getBase()),
                          op.getIndices(), op.getVectorType());
  auto load = LoadTileOp::create(rewriter, op.getLoc(), op.getVectorType(), tile,
                                 dyn_cast_or_null<TypedAttr>(padding));
  if (load.hasZeroPadding())
    load.removePaddingAttr();
  rewriter.replaceOp(op, load);
  return success();
}

static LogicalResult convertWrite(IRRewriter &rewriter, vector::TransferWriteOp op) {
  if (failed(checkTransfer(op)))
    return failure();
  Value tile = createTile(rewriter, op.getLoc(), cast<TypedValue<MemRefType>>(op.getBase()),
                          op.getIndices(), op.getVectorType());
  rewriter.replaceOpWithNewOp<StoreTileOp>(op, op.getVector(), tile);
  return success();
}

static LogicalResult convertContract(IRRewriter &rewriter, vector::ContractionOp op) {
  if (!isRowMajorMatmul(op.getIndexingMaps()) || op.getKind() != vector::CombiningKind::ADD)
    return op.emitOpError("cannot become a tile_mma: expected the sum over k of a[m, k] * b[k, n]");
  if (isa<vector::MaskOp>(op->getParentOp()))
    return op.emitOpError("cannot become a tile_mma: masked contractions are not supported; "
                          "vectorize with tile sizes "
                          "that divide the problem");
  rewriter.replaceOpWithNewOp<TileMmaOp>(op, op.getResultType(), op.getLhs(), op.getRhs(),
                                         op.getAcc(), WgMapAttr());
  return success();
}

namespace {
struct ConvertVectorToXeTile : xetile::impl::ConvertVectorToXeTileBase<ConvertVectorToXeTile> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    auto convert = [&](Operation *op) -> WalkResult {
      rewriter.setInsertionPoint(op);
      if (auto read = dyn_cast<vector::TransferReadOp>(op))
        return convertRead(rewriter, read);
      if (auto write = dyn_cast<vector::TransferWriteOp>(op))
        return convertWrite(rewriter, write);
      if (auto contract = dyn_cast<vector::ContractionOp>(op))
        return convertContract(rewriter, contract);
      return WalkResult::advance();
    };
    if (getOperation()->walk(convert).wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
