//===- MatrixForms.cpp - vector operations as ones on matrices --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: transfers of 1D vectors, vector.contract of two matrices in any order of their dimensions.
// Out: transfers of rows and columns between shape_casts, contractions a[m, k] * b[k, n] of
// operands that are read transposed. Refused: nothing; what is no such stays.
//===----------------------------------------------------------------------===//
#include "xetile/Conversion/MatrixForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xetile {
namespace {

AffineMap swapped(MLIRContext *context) {
  return AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, context);
}

/// The matrix `value` transposed: read so from memory where nothing else reads it, behind its
/// extensions, else by a vector.transpose. What it takes the place of is added to `stale`.
Value transpose(RewriterBase &rewriter, Value value, SmallVectorImpl<Operation *> &stale) {
  auto type = cast<VectorType>(value.getType());
  auto turned = VectorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
  Operation *op = value.getDefiningOp();
  OpBuilder::InsertionGuard guard(rewriter);
  auto read = dyn_cast_or_null<vector::TransferReadOp>(op);
  if (read && read->hasOneUse() && !read.getMask() && isa<MemRefType>(read.getBase().getType())) {
    rewriter.setInsertionPoint(read);
    stale.push_back(read);
    AffineMap map = swapped(op->getContext()).compose(read.getPermutationMap());
    std::array<bool, 2> inBounds{read.isDimInBounds(1), read.isDimInBounds(0)};
    return vector::TransferReadOp::create(
        rewriter, read.getLoc(), turned, read.getBase(), read.getIndices(), AffineMapAttr::get(map),
        read.getPadding(), /*mask=*/Value(), rewriter.getBoolArrayAttr(inBounds));
  }
  if (op && op->hasOneUse() && isa<arith::ExtSIOp, arith::ExtUIOp, arith::ExtFOp>(op)) {
    Value narrow = transpose(rewriter, op->getOperand(0), stale);
    rewriter.setInsertionPoint(op);
    stale.push_back(op);
    return rewriter
        .create(op->getLoc(), op->getName().getIdentifier(), narrow, turned, op->getAttrs())
        ->getResult(0);
  }
  rewriter.setInsertionPointAfterValue(value);
  return vector::TransposeOp::create(rewriter, value.getLoc(), value, ArrayRef<int64_t>{1, 0});
}

/// The two dimensions that an operand of a contraction has; nothing for other operands.
std::optional<std::array<unsigned, 2>> dimsOf(AffineMap map) {
  if (map.getNumResults() != 2 || !map.isProjectedPermutation())
    return std::nullopt;
  return std::array<unsigned, 2>{map.getDimPosition(0), map.getDimPosition(1)};
}

/// Writes a contraction over k of matrices whose dimensions are in another order as that of
/// a[m, k] * b[k, n].
void orient(RewriterBase &rewriter, vector::ContractionOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto a = dimsOf(maps[0]), b = dimsOf(maps[1]), c = dimsOf(maps[2]);
  SmallVector<vector::IteratorType> kinds = op.getIteratorTypesArray();
  bool isProduct =
      a && b && c && kinds.size() == 3 && llvm::count(kinds, vector::IteratorType::reduction) == 1;
  if (!isProduct || !isa<VectorType>(op.getResultType()) ||
      isa<vector::MaskOp>(op->getParentOp()) || isRowMajorMatmul(op.getIndexingMaps()))
    return;
  auto has = [](std::array<unsigned, 2> dims, unsigned dim) {
    return llvm::is_contained(dims, dim);
  };
  Value left = op.getLhs(), right = op.getRhs();
  unsigned m = (*c)[0], n = (*c)[1];
  if (has(*a, n) && has(*b, m)) {
    std::swap(left, right);
    std::swap(a, b);
  }
  if (!has(*a, m) || !has(*b, n) || has(*a, n) || has(*b, m))
    return;
  SmallVector<Operation *> stale;
  if ((*a)[0] != m)
    left = transpose(rewriter, left, stale);
  if ((*b)[1] != n)
    right = transpose(rewriter, right, stale);
  rewriter.setInsertionPoint(op);
  AffineExpr i, j, k;
  bindDims(op.getContext(), i, j, k);
  auto row = [&](AffineExpr x, AffineExpr y) {
    return AffineMap::get(3, 0, {x, y}, op.getContext());
  };
  Attribute parallel =
                vector::IteratorTypeAttr::get(op.getContext(), vector::IteratorType::parallel),
            reduction =
                vector::IteratorTypeAttr::get(op.getContext(), vector::IteratorType::reduction);
  rewriter.replaceOpWithNewOp<vector::ContractionOp>(
      op, left, right, op.getAcc(),
      rewriter.getAffineMapArrayAttr({row(i, k), row(k, j), row(i, j)}),
      rewriter.getArrayAttr({parallel, parallel, reduction}), op.getKind());
  for (Operation *each : llvm::reverse(stale))
    rewriter.eraseOp(each);
}

/// A transfer of a vector as one of a row or a column: its memref, where it begins, and its map.
struct Line {
  Value base;
  SmallVector<Value> indices;
  AffineMap map;
  VectorType type;
  bool isRow;
};

std::optional<Line> makeLine(RewriterBase &rewriter, VectorTransferOpInterface op) {
  auto memref = dyn_cast<MemRefType>(op.getShapedType());
  VectorType type = op.getVectorType();
  AffineMap map = op.getPermutationMap();
  if (!memref || type.getRank() != 1 || type.isScalable() || op.getMask() ||
      map.getNumResults() != 1 || !isa<AffineDimExpr>(map.getResult(0)))
    return std::nullopt;
  unsigned along = map.getDimPosition(0), rank = memref.getRank();
  Line line;
  line.base = op.getBase();
  line.indices = llvm::to_vector(op.getIndices());
  Location loc = op.getLoc();
  if (rank == 1) {
    Value size =
        memref.isDynamicDim(0) ? memref::DimOp::create(rewriter, loc, line.base, 0) : Value();
    SmallVector<OpFoldResult> shape{rewriter.getIndexAttr(1)};
    shape.push_back(size ? OpFoldResult(size) : rewriter.getIndexAttr(memref.getDimSize(0)));
    line.base =
        memref::ExpandShapeOp::create(rewriter, loc, ArrayRef<int64_t>{1, memref.getDimSize(0)},
                                      line.base, ArrayRef<ReassociationIndices>{{0, 1}}, shape);
    line.indices.insert(line.indices.begin(), arith::ConstantIndexOp::create(rewriter, loc, 0));
    along = 1;
    rank = 2;
  }
  line.isRow = along == rank - 1;
  unsigned other = line.isRow ? rank - 2 : rank - 1;
  line.map = AffineMap::getMultiDimMapWithTargets(
      rank, line.isRow ? ArrayRef<unsigned>{other, along} : ArrayRef<unsigned>{along, other},
      op.getContext());
  int64_t size = type.getDimSize(0);
  line.type = VectorType::get(line.isRow ? ArrayRef<int64_t>{1, size} : ArrayRef<int64_t>{size, 1},
                              type.getElementType());
  return line;
}

ArrayAttr boundsOf(RewriterBase &rewriter, const Line &line, VectorTransferOpInterface op) {
  bool inside = op.isDimInBounds(0);
  return rewriter.getBoolArrayAttr(line.isRow ? ArrayRef<bool>{true, inside}
                                              : ArrayRef<bool>{inside, true});
}

void widen(RewriterBase &rewriter, vector::TransferReadOp op) {
  rewriter.setInsertionPoint(op);
  std::optional<Line> line = makeLine(rewriter, op);
  if (!line)
    return;
  auto read = vector::TransferReadOp::create(
      rewriter, op.getLoc(), line->type, line->base, line->indices, AffineMapAttr::get(line->map),
      op.getPadding(), /*mask=*/Value(), boundsOf(rewriter, *line, op));
  rewriter.replaceOpWithNewOp<vector::ShapeCastOp>(op, op.getVectorType(), read);
}

void widen(RewriterBase &rewriter, vector::TransferWriteOp op) {
  rewriter.setInsertionPoint(op);
  std::optional<Line> line = makeLine(rewriter, op);
  if (!line)
    return;
  Value matrix =
      vector::ShapeCastOp::create(rewriter, op.getLoc(), line->type, op.getValueToStore());
  vector::TransferWriteOp::create(rewriter, op.getLoc(), matrix, line->base, line->indices,
                                  AffineMapAttr::get(line->map), /*mask=*/Value(),
                                  boundsOf(rewriter, *line, op));
  rewriter.eraseOp(op);
}

} // namespace

void makeMatrixForms(Operation *root) {
  IRRewriter rewriter(root->getContext());
  root->walk([&](vector::ContractionOp op) { orient(rewriter, op); });
  root->walk([&](Operation *op) {
    if (auto read = dyn_cast<vector::TransferReadOp>(op))
      widen(rewriter, read);
    else if (auto write = dyn_cast<vector::TransferWriteOp>(op))
      widen(rewriter, write);
  });
}

} // namespace xetile
