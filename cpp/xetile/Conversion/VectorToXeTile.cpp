//===- VectorToXeTile.cpp - vector transfers and contractions to XeTile ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vector.transfer_read/write of 1D and 2D vectors on memrefs, vector.contract of two matrices,
// vector.transpose, multi_reduction and broadcast of them. Out: init_tile with
// load_tile/store_tile, tile_mma, tile_transpose, tile_reduce, tile_broadcast; nothing else
// changes. Refused: masks, vectors of other ranks, memrefs without a stride of 1 along the vector,
// other contractions.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Conversion/MatrixForms.h"
#include "xetile/Conversion/Passes.h"
#include "xetile/IR/XeTileOps.h"

namespace xetile {
#define GEN_PASS_DEF_CONVERTVECTORTOXETILE
#include "xetile/Conversion/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Checks that tiles can have the shape and elements of a vector.
static LogicalResult checkTileType(Operation *op, VectorType vector) {
  if (vector.isScalable())
    return op->emitOpError("cannot become a tile: expected a vector of fixed length, got ")
           << vector;
  return TileType::verify([&] { return op->emitOpError("cannot become a tile: "); },
                          vector.getShape(), vector.getElementType(), {});
}

/// The dimensions of the memref that are the rows and the columns of the vector; nothing for one
/// that the vector repeats itself along.
using MatrixDims = std::array<std::optional<unsigned>, 2>;

static std::optional<MatrixDims> getMatrixDims(VectorTransferOpInterface op) {
  MatrixDims dims;
  if (op.getPermutationMap().getNumResults() != 2)
    return std::nullopt;
  for (auto [result, dim] : llvm::zip_equal(op.getPermutationMap().getResults(), dims)) {
    if (auto expr = dyn_cast<AffineDimExpr>(result))
      dim = expr.getPosition();
    else if (!isa<AffineConstantExpr>(result) || !isa<vector::TransferReadOp>(op))
      return std::nullopt;
  }
  return dims[0] || dims[1] ? std::optional(dims) : std::nullopt;
}

/// True if rows and columns are the two dimensions of the memref.
static bool isPlain(VectorTransferOpInterface op) {
  return op.getPermutationMap().isIdentity() && op.getPermutationMap().getNumDims() == 2;
}

/// Checks what transfer_read and transfer_write share.
static LogicalResult checkTransfer(VectorTransferOpInterface op) {
  auto memref = dyn_cast<MemRefType>(op.getShapedType());
  if (!memref)
    return op.emitOpError("cannot become a tile: expected a memref, got ")
           << op.getShapedType() << "; bufferize before";
  if (op.getVectorType().getRank() != 2)
    return op.emitOpError("cannot become a tile: expected a vector of one or two dimensions, got ")
           << op.getVectorType();
  if (op.getMask())
    return op.emitOpError(
        "cannot become a tile: masked transfers are not supported; vectorize with tile sizes that "
        "divide the problem, or with transform.xetile.hang_over_edges");
  if (failed(checkTileType(op, op.getVectorType())))
    return failure();
  if (memref.getElementType() != op.getVectorType().getElementType())
    return op.emitOpError(
               "cannot become a tile: expected a memref with the vector's elements, got ")
           << memref << " and " << op.getVectorType();
  std::optional<MatrixDims> dims = getMatrixDims(op);
  if (!dims)
    return op.emitOpError("cannot become a tile: expected a permutation_map to one or two of the "
                          "memref's dimensions, got ")
           << AffineMapAttr::get(op.getPermutationMap());
  std::optional<SmallVector<int64_t>> strides =
      memref.getRank() == 2 ? getMemRefStrides(memref) : std::nullopt;
  SmallVector<int64_t> all;
  int64_t offset;
  if (!strides && succeeded(memref.getStridesAndOffset(all, offset)))
    strides = all;
  auto isOne = [&](std::optional<unsigned> dim) { return dim && (*strides)[*dim] == 1; };
  if (!strides || (!isOne((*dims)[0]) && !isOne((*dims)[1])))
    return op.emitOpError(
               "cannot become a tile: expected a memref with column or row stride 1, got ")
           << memref;
  if (!getMemorySpace(memref))
    return op.emitOpError(
               "cannot become a tile: expected a memref in global or shared memory, got ")
           << memref;
  return success();
}

/// The properties of a tile on a memref: column-major where only the rows are adjacent in memory.
static TileAttr getEncoding(MemRefType memref) {
  std::optional<SmallVector<int64_t>> strides = getMemRefStrides(memref);
  SmallVector<int64_t> order;
  if (strides->back() != 1)
    order = {0, 1};
  MemorySpace space = getMemorySpace(memref).value_or(MemorySpace::Global);
  if (order.empty() && space == MemorySpace::Global)
    return {};
  return TileAttr::get(memref.getContext(), {}, order, {}, space, false);
}

/// True if a transfer is in bounds, by its in_bounds or by static sizes.
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

namespace {
/// A matrix in memory, and where a vector starts in it.
struct Matrix {
  TypedValue<MemRefType> memref;
  SmallVector<OpFoldResult> offsets;
};
} // namespace

/// A subview becomes offsets in its source where the transfer is inside of it, else its own bounds
/// count.
static Matrix getPlainMatrix(OpBuilder &builder, VectorTransferOpInterface op) {
  Location loc = op.getLoc();
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
  return {base, offsets};
}

/// The type of a view without the dimensions that are not `kept`, in the view's order. Upstream's
/// inference tells dimensions by their sizes: of several of one element it may keep another, whose
/// stride is no stride of the matrix.
static MemRefType dropOthers(MemRefType view, ArrayRef<std::optional<unsigned>> kept) {
  auto [strides, offset] = view.getStridesAndOffset();
  SmallVector<int64_t> shape, steps;
  for (int64_t dim = 0; dim < view.getRank(); ++dim) {
    if (!llvm::is_contained(kept, std::optional<unsigned>(dim)))
      continue;
    shape.push_back(view.getDimSize(dim));
    steps.push_back(strides[dim]);
  }
  return MemRefType::get(shape, view.getElementType(),
                         StridedLayoutAttr::get(view.getContext(), offset, steps),
                         view.getMemorySpace());
}

/// The matrix in which a vector lies that is transposed, repeated or in a batch: a view of the
/// memref with the vector's rows and columns. What it is repeated along has size 1.
static Matrix getViewedMatrix(OpBuilder &builder, VectorTransferOpInterface op) {
  Location loc = op.getLoc();
  MatrixDims dims = *getMatrixDims(op);
  Value base = op.getBase();
  auto memref = cast<MemRefType>(base.getType());
  SmallVector<OpFoldResult> indices = getAsOpFoldResult(op.getIndices()), starts, sizes;
  SmallVector<int64_t> kept;
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  for (int64_t dim = 0; dim < memref.getRank(); ++dim) {
    bool isMatrix = dim == dims[0] || dim == dims[1];
    starts.push_back(isMatrix ? zero : indices[dim]);
    sizes.push_back(isMatrix ? memref::getMixedSize(builder, loc, base, dim) : one);
    if (isMatrix)
      kept.push_back(memref.getDimSize(dim));
  }
  if (int64_t(kept.size()) < memref.getRank()) {
    SmallVector<OpFoldResult> steps(memref.getRank(), one);
    MemRefType type = dropOthers(memref::SubViewOp::inferResultType(memref, starts, sizes, steps),
                                 {dims[0], dims[1]});
    base = memref::SubViewOp::create(builder, loc, type, base, starts, sizes, steps);
  }
  SmallVector<OpFoldResult> offsets;
  for (std::optional<unsigned> dim : dims)
    offsets.push_back(dim ? indices[*dim] : zero);
  if (!dims[0] || !dims[1]) {
    SmallVector<OpFoldResult> shape{memref::getMixedSize(builder, loc, base, 0), one};
    SmallVector<int64_t> sides{kept[0], 1};
    if (!dims[0]) {
      std::swap(shape[0], shape[1]);
      std::swap(sides[0], sides[1]);
    }
    base = memref::ExpandShapeOp::create(builder, loc, sides, base,
                                         ArrayRef<ReassociationIndices>{{0, 1}}, shape);
  } else if (*dims[0] > *dims[1]) {
    auto swapped = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, builder.getContext());
    base = memref::TransposeOp::create(builder, loc, base, AffineMapAttr::get(swapped));
  }
  return {cast<TypedValue<MemRefType>>(base), offsets};
}

/// The tile that a transfer touches, with size 1 where the vector repeats itself. A memref of
/// dynamic shape is described by its run-time sizes and strides.
static Value createTile(OpBuilder &builder, VectorTransferOpInterface op) {
  Location loc = op.getLoc();
  auto [base, offsets] = isPlain(op) ? getPlainMatrix(builder, op) : getViewedMatrix(builder, op);
  SmallVector<int64_t> sides(op.getVectorType().getShape());
  MatrixDims dims = *getMatrixDims(op);
  for (unsigned side : {0, 1})
    if (!dims[side])
      sides[side] = 1;
  MemRefType memref = base.getType();
  SmallVector<OpFoldResult> shape, strides;
  if (!memref.hasStaticShape()) {
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, base);
    shape = metadata.getConstifiedMixedSizes();
    strides = metadata.getConstifiedMixedStrides();
  }
  auto tile = TileType::get(sides, op.getVectorType().getElementType(), getEncoding(memref));
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
  ArrayRef<int64_t> sides = cast<TileType>(tile.getType()).getShape();
  auto load = LoadTileOp::create(rewriter, op.getLoc(),
                                 VectorType::get(sides, op.getVectorType().getElementType()), tile,
                                 dyn_cast_or_null<TypedAttr>(padding));
  if (load.hasZeroPadding())
    load.removePaddingAttr();
  Value vector = load;
  MatrixDims dims = *getMatrixDims(op);
  for (int64_t side : {0, 1})
    if (!dims[side])
      vector = TileBroadcastOp::create(rewriter, op.getLoc(), op.getVectorType(), vector,
                                       ArrayRef<int64_t>{side}, WgMapAttr());
  rewriter.replaceOp(op, vector);
  return success();
}

static LogicalResult convertWrite(IRRewriter &rewriter, vector::TransferWriteOp op) {
  if (failed(checkTransfer(op)))
    return failure();
  Value tile = createTile(rewriter, op);
  rewriter.replaceOpWithNewOp<StoreTileOp>(op, op.getVector(), tile);
  return success();
}

namespace {
/// An operand of a product as tile_mma takes it.
struct Factor {
  Value vector;
  bool isUnsigned = false;
};
} // namespace

/// The bytes that an operand of i32 is made of: sign- or zero-extended, or a constant. Other
/// operands stay what they are; vector.contract extends bytes as signed ones.
static Factor getBytes(OpBuilder &builder, Value operand) {
  auto type = cast<VectorType>(operand.getType());
  if (!type.getElementType().isSignlessInteger(32))
    return {operand};
  VectorType bytes = type.clone(builder.getI8Type());
  DenseIntElementsAttr constant;
  if (matchPattern(operand, m_Constant(&constant))) {
    auto values = constant.getValues<APInt>();
    bool isSigned = llvm::all_of(values, [](const APInt &x) { return x.isSignedIntN(8); });
    if (!isSigned && !llvm::all_of(values, [](const APInt &x) { return x.isIntN(8); }))
      return {operand};
    Attribute narrow =
        constant.mapValues(builder.getI8Type(), [](const APInt &x) { return x.trunc(8); });
    return {arith::ConstantOp::create(builder, operand.getLoc(), cast<TypedAttr>(narrow)),
            !isSigned};
  }
  Operation *extension = operand.getDefiningOp();
  if (!isa_and_present<arith::ExtSIOp, arith::ExtUIOp>(extension))
    return {operand};
  Value narrow = extension->getOperand(0);
  unsigned bits = getElementTypeOrSelf(narrow).getIntOrFloatBitWidth();
  bool isUnsigned = isa<arith::ExtUIOp>(extension);
  if (bits < 8)
    narrow = isUnsigned
                 ? arith::ExtUIOp::create(builder, operand.getLoc(), bytes, narrow).getResult()
                 : arith::ExtSIOp::create(builder, operand.getLoc(), bytes, narrow);
  return bits > 8 ? Factor{operand} : Factor{narrow, isUnsigned};
}

static LogicalResult convertContract(IRRewriter &rewriter, vector::ContractionOp op) {
  if (!isRowMajorMatmul(op.getIndexingMaps()) || op.getKind() != vector::CombiningKind::ADD)
    return op.emitOpError("cannot become a tile_mma: expected the sum over k of a[m, k] * b[k, n], "
                          "or of these transposed");
  if (isa<vector::MaskOp>(op->getParentOp()))
    return op.emitOpError("cannot become a tile_mma: masked contractions are not supported; "
                          "vectorize with tile sizes "
                          "that divide the problem");
  auto a = op.getLhsType(), b = op.getRhsType();
  auto result = dyn_cast<VectorType>(op.getResultType());
  for (VectorType vector : {a, b, result})
    if (!vector || vector.isScalable() || !isBoundedShape(vector.getShape()))
      return op.emitOpError(
                 "cannot become a tile_mma: expected 2D vectors of fixed length and fewer "
                 "than 2^31 elements, got ")
             << (vector ? Type(vector) : op.getResultType());
  Factor left = getBytes(rewriter, op.getLhs()), right = getBytes(rewriter, op.getRhs());
  Type ofA = getElementTypeOrSelf(left.vector), ofB = getElementTypeOrSelf(right.vector);
  if (!isMmaTypeCombination(ofA, ofB, result.getElementType()))
    return op.emitOpError("cannot become a tile_mma: it has no ")
           << ofA << " * " << ofB << " -> " << result.getElementType() << "; expected "
           << kMmaTypeCombinations
           << (ofA.isInteger(32) || ofB.isInteger(32)
                   ? ", or bytes extended right before the contraction"
                   : "");
  Operation *wide[] = {op.getLhs().getDefiningOp(), op.getRhs().getDefiningOp()};
  rewriter.replaceOpWithNewOp<TileMmaOp>(op, op.getResultType(), left.vector, right.vector,
                                         op.getAcc(), WgMapAttr(), left.isUnsigned,
                                         right.isUnsigned);
  for (Operation *extension : wide)
    if (extension && isOpTriviallyDead(extension))
      rewriter.eraseOp(extension);
  return success();
}

/// True for matrices and rows of fixed sizes; other vectors are left alone, as not all of them
/// belong to tiles.
static bool isOfTiles(VectorType type) {
  return (type.getRank() == 1 || type.getRank() == 2) && !type.isScalable() &&
         isBoundedShape(type.getShape());
}

/// The rows or columns of a matrix are reduced to a row, as upstream's op has it, or all of it to a
/// number.
static void convertReduction(IRRewriter &rewriter, vector::MultiDimReductionOp op) {
  VectorType from = op.getSourceVectorType();
  ArrayRef<int64_t> dims = op.getReductionDims();
  if (from.getRank() != 2 || !isOfTiles(from) || dims.empty() ||
      !from.getElementType().isIntOrFloat())
    return;
  Location loc = op.getLoc();
  SmallVector<int64_t> shape(from.getShape());
  for (int64_t dim : dims)
    shape[dim] = 1;
  Value reduced = TileReduceOp::create(rewriter, loc, VectorType::get(shape, from.getElementType()),
                                       op.getKind(), op.getSource(), dims, WgMapAttr());
  if (auto to = dyn_cast<VectorType>(op.getDestType()))
    reduced = vector::ShapeCastOp::create(rewriter, loc, to, reduced);
  else
    reduced = vector::ExtractOp::create(rewriter, loc, reduced, ArrayRef<int64_t>{0, 0});
  rewriter.replaceOp(op,
                     vector::makeArithReduction(rewriter, loc, op.getKind(), op.getAcc(), reduced));
}

/// A row or a column that is repeated; numbers are left alone.
static void convertBroadcast(IRRewriter &rewriter, vector::BroadcastOp op) {
  auto from = dyn_cast<VectorType>(op.getSourceType());
  VectorType to = op.getResultVectorType();
  if (!from || to.getRank() != 2 || !isOfTiles(from) || !isOfTiles(to))
    return;
  Location loc = op.getLoc();
  Value source = op.getSource();
  if (from.getRank() == 1) {
    from = VectorType::get({1, from.getDimSize(0)}, from.getElementType());
    source = vector::ShapeCastOp::create(rewriter, loc, from, source);
  }
  SmallVector<int64_t> dims;
  for (int64_t dim : {0, 1})
    if (from.getDimSize(dim) != to.getDimSize(dim))
      dims.push_back(dim);
  if (dims.empty())
    rewriter.replaceOp(op, source);
  else
    rewriter.replaceOpWithNewOp<TileBroadcastOp>(op, to, source, dims, WgMapAttr());
}

/// A vector of one dimension that is repeated as a column; null for other transposes.
static Value repeatColumn(IRRewriter &rewriter, vector::TransposeOp op) {
  auto repeated = op.getVector().getDefiningOp<TileBroadcastOp>();
  auto row =
      repeated ? repeated.getVector().getDefiningOp<vector::ShapeCastOp>() : vector::ShapeCastOp();
  // A single number may be repeated along both.
  if (!row || repeated.getBroadcastDims() != ArrayRef<int64_t>{0} ||
      row.getSourceVectorType().getRank() != 1 || row.getResultVectorType().getDimSize(0) != 1)
    return {};
  VectorType vector = row.getSourceVectorType();
  Value column = vector::ShapeCastOp::create(
      rewriter, op.getLoc(), VectorType::get({vector.getDimSize(0), 1}, vector.getElementType()),
      row.getSource());
  return TileBroadcastOp::create(rewriter, op.getLoc(), op.getResultVectorType(), column,
                                 ArrayRef<int64_t>{1}, WgMapAttr());
}

/// Other transposes than that of a matrix are left alone: not all vectors belong to tiles.
static void convertTranspose(IRRewriter &rewriter, vector::TransposeOp op) {
  VectorType type = op.getResultVectorType();
  if (op.getPermutation() == ArrayRef<int64_t>{1, 0})
    if (Value column = repeatColumn(rewriter, op)) {
      rewriter.replaceOp(op, column);
      return;
    }
  if (op.getPermutation() == ArrayRef<int64_t>{1, 0} && !type.isScalable() &&
      isBoundedShape(type.getShape()))
    rewriter.replaceOpWithNewOp<TileTransposeOp>(op, op.getResultVectorType(), op.getVector(),
                                                 op.getPermutation(), WgMapAttr());
}

namespace {
struct ConvertVectorToXeTile : xetile::impl::ConvertVectorToXeTileBase<ConvertVectorToXeTile> {
  void runOnOperation() override {
    makeMatrixForms(getOperation());
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
      else if (auto reduction = dyn_cast<vector::MultiDimReductionOp>(op))
        convertReduction(rewriter, reduction);
      else if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
        convertBroadcast(rewriter, broadcast);
      return WalkResult::advance();
    };
    if (getOperation()->walk(convert).wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
