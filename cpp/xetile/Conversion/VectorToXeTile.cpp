//===- VectorToXeTile.cpp - vector transfers and contractions to XeTile ----------===//
// In: vector.transfer_read/write of 2D vectors on memrefs, vector.contract of the matmul form,
// vector.transpose. Out: init_tile with load_tile/store_tile, tile_mma, tile_transpose; nothing
// else changes. Refused: masks, permuted or broadcast transfers, other ranks, memrefs without a
// stride of 1, other contractions.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
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
  std::optional<SmallVector<int64_t>> strides = getMemRefStrides(memref);
  if (!strides || !llvm::is_contained(*strides, 1))
    return op.emitOpError(
               "cannot become a tile: expected a memref with column or row stride 1, got ")
           << memref;
  return success();
}

/// The order of a tile on a memref: column-major where only the rows are adjacent in memory.
static TileAttr getEncoding(MemRefType memref) {
  std::optional<SmallVector<int64_t>> strides = getMemRefStrides(memref);
  if (strides->back() == 1)
    return {};
  return TileAttr::get(memref.getContext(), {}, {0, 1}, {}, MemorySpace::Global, false);
}

/// Whether a transfer touches nothing outside of the memref, by its in_bounds or by its sizes.
static bool isInside(VectorTransferOpInterface op) {
  auto memref = cast<MemRefType>(op.getShapedType());
  for (unsigned dim : {0, 1}) {
    if (op.isDimInBounds(dim))
      continue;
    std::optional<int64_t> index = getConstantIntValue(op.getIndices()[dim]);
    if (!index || *index < 0 || memref.isDynamicDim(dim) ||
        *index + op.getVectorType().getDimSize(dim) > memref.getDimSize(dim))
      return false;
  }
  return true;
}

/// The tile that a transfer touches. A subview becomes offsets in its source where the transfer is
/// inside of it, else its own bounds count. A memref of dynamic shape is described by its run-time
/// sizes and strides.
static Value createTile(OpBuilder &builder, VectorTransferOpInterface op) {
  Location loc = op.getLoc();
  VectorType vector = op.getVectorType();
  auto base = cast<TypedValue<MemRefType>>(op.getBase());
  SmallVector<OpFoldResult> offsets = getAsOpFoldResult(op.getIndices());
  auto view = base.getDefiningOp<memref::SubViewOp>();
  while (view && isInside(op) && view.hasUnitStride() && view.getSourceType().getRank() == 2 &&
         getMemRefStrides(view.getSourceType())) {
    for (auto [offset, start] : llvm::zip_equal(offsets, view.getMixedOffsets())) {
      Value sum = builder.createOrFold<arith::AddIOp>(
          loc, getValueOrCreateConstantIndexOp(builder, loc, start),
          getValueOrCreateConstantIndexOp(builder, loc, offset));
      offset = getAsOpFoldResult(sum);
    }
    base = cast<TypedValue<MemRefType>>(view.getSource());
    view = base.getDefiningOp<memref::SubViewOp>();
  }
  MemRefType memref = base.getType();
  SmallVector<OpFoldResult> shape, strides;
  if (!memref.hasStaticShape()) {
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, base);
    shape = metadata.getConstifiedMixedSizes();
    strides = metadata.getConstifiedMixedStrides();
  }
  auto tile =
      TileType::get(vector.getShape(), vector.getElementType(), getEncoding(base.getType()));
  return InitTileOp::create(builder, loc, tile, base, offsets, shape, strides);
}

static LogicalResult convertRead(IRRewriter &rewriter, vector::TransferReadOp op) {
  if (failed(checkTransfer(op)))
    return failure();
  Attribute padding;
  if (op.hasOutOfBoundsDim() && !matchPattern(op.getPadding(), m_Constant(&padding)))
    return op.emitOpError(
        "cannot become a tile: expected a constant padding value for a transfer that may be out of "
        "bounds");
  Value tile = createTile(rewriter, op);
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
  Value tile = createTile(rewriter, op);
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

/// Other transposes than that of a matrix are left alone: not all vectors belong to tiles.
static void convertTranspose(IRRewriter &rewriter, vector::TransposeOp op) {
  if (op.getPermutation() == ArrayRef<int64_t>{1, 0} && !op.getResultVectorType().isScalable())
    rewriter.replaceOpWithNewOp<TileTransposeOp>(op, op.getResultVectorType(), op.getVector(),
                                                 op.getPermutation(), WgMapAttr());
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
      if (auto transpose = dyn_cast<vector::TransposeOp>(op))
        convertTranspose(rewriter, transpose);
      return WalkResult::advance();
    };
    if (getOperation()->walk(convert).wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
