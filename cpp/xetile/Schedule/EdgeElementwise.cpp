//===- EdgeElementwise.cpp - what surrounds the matmul, on whole tiles --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: slices of tensors, elementwise linalg ops, tiles to insert. Out: the same on vectors of whole
// tiles; a slice that ends at the matrix's edge is no slice any more.
// Refused: nothing; the parts of EdgeVectorizer.cpp refuse.
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/Linalg/Elementwise.h"
#include "xetile/Schedule/EdgeVectorizer.h"
#include "xetile/Schedule/KParts.h"
#include "xetile/Target/Host/SizeBounds.h"

using namespace mlir;

namespace xetile::transform_ops {

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

using Bounds = ValueBoundsConstraintSet;

/// True if `offset` is computed from the induction variable of one of the loops.
static bool isLoopPlace(OpFoldResult offset) {
  auto isIndex = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<scf::ForallOp, scf::ForOp>(argument.getOwner()->getParentOp());
  };
  auto value = dyn_cast<Value>(offset);
  if (!value)
    return false;
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  return isIndex(value) || (apply && llvm::any_of(apply.getOperands(), isIndex));
}

/// True if `offset + map(operands)`, for a `map` of one result, equals the size of the source.
static bool reachesEdge(Value source, unsigned dim, OpFoldResult offset, AffineMap map,
                        ValueRange operands) {
  auto type = cast<RankedTensorType>(source.getType());
  if (type.isDynamicDim(dim))
    return false;
  SmallVector<Value> all(operands);
  Builder b(map.getContext());
  unsigned symbols = map.getNumSymbols();
  AffineExpr place;
  if (std::optional<int64_t> constant = getConstantIntValue(offset)) {
    place = b.getAffineConstantExpr(*constant);
  } else {
    place = b.getAffineSymbolExpr(symbols++);
    all.push_back(cast<Value>(offset));
  }
  AffineMap end = AffineMap::get(map.getNumDims(), symbols, map.getResult(0) + place);
  FailureOr<int64_t> size = Bounds::computeConstantBound(
      presburger::BoundType::EQ, Bounds::Variable(end, all), takesOperandSize);
  return succeeded(size) && *size == type.getDimSize(dim);
}

/// True if a vector of `size` elements may be read from the source instead: it is in bounds of the
/// slice, or the slice ends with the source.
bool EdgeVectorizer::isEdgeOrWhole(tensor::ExtractSliceOp slice, unsigned dim, int64_t size,
                                   bool startsAtZero) {
  OpFoldResult offset = slice.getMixedOffsets()[dim], length = slice.getMixedSizes()[dim];
  Value source = slice.getSource();
  // A tile is never cut along m or n once more: tiling along k alone slices it as a whole.
  if (known.contains(source))
    return isZeroInteger(offset);
  // Tiles that tiling made end where the loop does, whose end is a matrix's. Which of the matmul's
  // matrices gave it says nothing: they all agree.
  if (loop->isAncestor(slice) && slice.getSourceType().isDynamicDim(dim))
    return isZeroInteger(offset) || isLoopPlace(offset);
  // All of another slice.
  if (auto outer = source.getDefiningOp<tensor::ExtractSliceOp>();
      outer && isZeroInteger(offset) && outer.getDroppedDims().none() &&
      isEqualConstantIntOrValue(outer.getMixedSizes()[dim], length))
    return true;
  if (std::optional<int64_t> fixed = getConstantIntValue(length)) {
    if (startsAtZero && *fixed >= size)
      return true;
    std::optional<int64_t> place = getConstantIntValue(offset);
    return place && *place + *fixed == slice.getSourceType().getDimSize(dim);
  }
  if (auto min = cast<Value>(length).getDefiningOp<affine::AffineMinOp>()) {
    AffineMap map = min.getMap();
    return llvm::all_of(llvm::seq<unsigned>(0, map.getNumResults()), [&](unsigned i) {
      auto constant = dyn_cast<AffineConstantExpr>(map.getResult(i));
      return (constant && startsAtZero && constant.getValue() >= size) ||
             reachesEdge(source, dim, offset, map.getSubMap({i}), min.getOperands());
    });
  }
  return isZeroInteger(offset) &&
         provesBound(Bounds::Variable(length), Bounds::EQ, Bounds::Variable(source, dim));
}

/// Makes a request of a slice one of its source. False if it must stay one of the slice, whose own
/// bounds count.
bool EdgeVectorizer::lookThrough(Request &request, tensor::ExtractSliceOp slice) {
  if (!slice.getDroppedDims().none() || !slice.hasUnitStride())
    return false;
  Request outer = request;
  outer.tensor = slice.getSource();
  AffineExpr a, b;
  bindSymbols(rewriter.getContext(), a, b);
  for (auto [dim, role] : llvm::enumerate(request.roles)) {
    bool startsAtZero = isZeroInteger(request.offsets[dim]);
    if (role != None) {
      int64_t size = request.shape[role];
      if (!isEdgeOrWhole(slice, dim, size, startsAtZero))
        return false;
      std::optional<int64_t> length = getConstantIntValue(slice.getMixedSizes()[dim]);
      outer.inside[dim] = request.inside[dim] || (startsAtZero && length && *length >= size);
    }
    OpFoldResult start = slice.getMixedOffsets()[dim];
    outer.offsets[dim] =
        startsAtZero ? start
                     : affine::makeComposedFoldedAffineApply(rewriter, slice.getLoc(), a + b,
                                                             {start, request.offsets[dim]});
  }
  request = outer;
  return true;
}

/// Parts of a dimension that tiles divide: none hangs over the end of a part, and behind the last
/// element there are zeros, as behind the tensor.
bool EdgeVectorizer::lookThrough(Request &request, tensor::ExpandShapeOp expand) {
  std::optional<KParts> parts = partsOf(expand.getResult());
  if (!parts)
    return false;
  unsigned part = parts->dim, within = parts->dim + 1;
  int role = request.roles[within];
  if (request.roles[part] != None || role == None || parts->size % request.shape[role] != 0)
    return false;
  AffineExpr a, b;
  bindSymbols(rewriter.getContext(), a, b);
  request.offsets[part] =
      affine::makeComposedFoldedAffineApply(rewriter, expand.getLoc(), a * parts->size + b,
                                            {request.offsets[part], request.offsets[within]});
  request.roles[part] = role;
  request.inside[part] = !parts->isPadded;
  request.offsets.erase(request.offsets.begin() + within);
  request.roles.erase(request.roles.begin() + within);
  request.inside.erase(request.inside.begin() + within);
  request.tensor = parts->source;
  return true;
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

/// True if `op` folds to zero when `zeros` are zero.
static bool foldsToZero(Operation &op, const llvm::SmallPtrSetImpl<Value> &zeros) {
  Builder b(op.getContext());
  SmallVector<Attribute> operands;
  for (Value operand : op.getOperands()) {
    Attribute constant;
    if (zeros.contains(operand))
      constant = b.getZeroAttr(operand.getType());
    else
      matchPattern(operand, m_Constant(&constant));
    operands.push_back(constant);
  }
  SmallVector<OpFoldResult> results;
  if (failed(op.fold(operands, results)) || results.size() != 1)
    return false;
  if (auto value = dyn_cast<Value>(results[0]))
    return zeros.contains(value);
  return isa<TypedAttr>(cast<Attribute>(results[0])) &&
         cast<Attribute>(results[0]) == b.getZeroAttr(op.getResult(0).getType());
}

/// Operations of `body` on vectors of `shape`, whose operands `mapping` has; `zeros` are those
/// values that are zero outside.
static void cloneOnVectors(OpBuilder &rewriter, Location loc, Block &body, ArrayRef<int64_t> shape,
                           IRMapping &mapping, llvm::SmallPtrSetImpl<Value> &zeros) {
  for (Operation &inner : body.without_terminator()) {
    Value value = inner.getResult(0);
    auto type = VectorType::get(shape, value.getType());
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      auto splat = DenseElementsAttr::get(type, constant.getValue());
      mapping.map(value, arith::ConstantOp::create(rewriter, loc, splat).getResult());
      if (constant.getValue() == rewriter.getZeroAttr(value.getType()))
        zeros.insert(value);
      continue;
    }
    for (Value operand : inner.getOperands())
      if (!mapping.contains(operand)) { // from outside of the op
        auto operandType = VectorType::get(shape, operand.getType());
        mapping.map(operand,
                    vector::BroadcastOp::create(rewriter, loc, operandType, operand).getResult());
      }
    Operation *copy = rewriter.clone(inner, mapping);
    copy->getResult(0).setType(type);
    if (foldsToZero(inner, zeros))
      zeros.insert(value);
  }
}

EdgeVectorizer::Part EdgeVectorizer::computeElementwise(linalg::LinalgOp op, unsigned result,
                                                        const Request &request) {
  Location loc = op.getLoc();
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  unsigned numLoops = op.getNumLoops();
  Roles loopRoles(numLoops, None);
  SmallVector<OpFoldResult> loopOffsets(numLoops, rewriter.getIndexAttr(0));
  SmallVector<bool> loopInside(numLoops, false);
  for (unsigned dim = 0; dim < numLoops; ++dim) {
    unsigned number = out.getDimPosition(dim);
    loopRoles[number] = request.roles[dim];
    loopOffsets[number] = request.offsets[dim];
    loopInside[number] = request.inside[dim];
  }
  Block *body = op.getBlock();
  IRMapping mapping;
  llvm::SmallPtrSet<Value, 8> zero;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    Type element = getElementTypeOrSelf(operand.get());
    auto type = VectorType::get(request.shape, element);
    if (!isa<ShapedType>(operand.get().getType())) {
      mapping.map(argument, vector::BroadcastOp::create(rewriter, loc, type, operand.get()));
      if (matchPattern(operand.get(), m_Zero()) || matchPattern(operand.get(), m_AnyZeroFloat()))
        zero.insert(argument);
      continue;
    }
    Request part{operand.get(), {}, {}, request.shape, {}};
    bool hasRow = false, hasColumn = false;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      part.offsets.push_back(dim ? loopOffsets[dim.getPosition()] : rewriter.getIndexAttr(0));
      part.roles.push_back(dim ? loopRoles[dim.getPosition()] : None);
      part.inside.push_back(dim && loopInside[dim.getPosition()]);
      hasRow |= part.roles.back() == Row;
      hasColumn |= part.roles.back() == Column;
    }
    Part vector = get(part);
    if (!vector)
      return {};
    mapping.map(argument, vector.vector);
    // Along a dimension that it repeats itself in, it is not zero anywhere.
    if (vector.isZeroOutside && hasRow && hasColumn)
      zero.insert(argument);
  }
  cloneOnVectors(rewriter, loc, *body, request.shape, mapping, zero);
  Value yielded = body->getTerminator()->getOperand(result);
  if (Value vector = mapping.lookupOrNull(yielded))
    return {vector, zero.contains(yielded)};
  auto type = VectorType::get(request.shape, yielded.getType());
  return {vector::BroadcastOp::create(rewriter, loc, type, yielded), false};
}

//===----------------------------------------------------------------------===//
// The loop over workgroups
//===----------------------------------------------------------------------===//

/// Rows and columns of a tile of the matmul's result, or of what is computed of one; empty if it is
/// neither.
EdgeVectorizer::Roles EdgeVectorizer::rolesOfResult(Value tensor) const {
  if (auto found = known.find(tensor); found != known.end())
    return found->second.second;
  Operation *op = tensor.getDefiningOp();
  if (!op || !loop->isAncestor(op))
    return {};
  if (op == contraction.op || op->isAncestor(contraction.op))
    return resultRoles;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !isElementwiseOnTensors(op))
    return {};
  for (OpOperand *input : linalgOp.getDpsInputOperands()) {
    AffineMap map = linalgOp.getMatchingIndexingMap(input);
    Roles roles = map.isPermutation() ? rolesOfResult(input->get()) : Roles();
    if (roles.empty())
      continue;
    Roles loopRoles(linalgOp.getNumLoops(), None), result;
    for (auto [dim, role] : llvm::enumerate(roles))
      loopRoles[map.getDimPosition(dim)] = role;
    AffineMap out = linalgOp.getMatchingIndexingMap(
        linalgOp.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber()));
    for (unsigned dim = 0; dim < out.getNumResults(); ++dim)
      result.push_back(loopRoles[out.getDimPosition(dim)]);
    return result;
  }
  return {};
}

/// The vector goes to the whole output, at its place; the slice that is inserted is what was
/// written.
LogicalResult EdgeVectorizer::write(tensor::ParallelInsertSliceOp insert) {
  Location loc = insert.getLoc();
  Roles roles = rolesOfResult(insert.getSource());
  if (roles.empty() || insert.getSourceType().getRank() != insert.getDestType().getRank()) {
    (void)fail(insert, "expected a tile of the matmul's result, or of what is computed of it");
    return failure();
  }
  Part part = get(whole(insert.getSource(), roles, {tile[0], tile[1]}));
  if (!part)
    return failure();
  SmallVector<AffineExpr> to(2);
  SmallVector<bool> inside(2, false);
  for (auto [dim, role] : llvm::enumerate(roles))
    if (role != None) {
      to[role] = rewriter.getAffineDimExpr(dim);
      std::optional<int64_t> size = getConstantIntValue(insert.getMixedSizes()[dim]);
      inside[role] = size && *size == tile[role];
    }
  SmallVector<Value> indices =
      getValueOrCreateConstantIndexOp(rewriter, loc, insert.getMixedOffsets());
  auto written = vector::TransferWriteOp::create(
      rewriter, loc, part.vector, insert.getDest(), indices,
      AffineMap::get(roles.size(), 0, to, rewriter.getContext()), inside);
  Value slice = tensor::ExtractSliceOp::create(rewriter, loc, insert.getSourceType(),
                                               written.getResult(), insert.getMixedOffsets(),
                                               insert.getMixedSizes(), insert.getMixedStrides());
  rewriter.modifyOpInPlace(insert, [&] { insert.getSourceMutable().assign(slice); });
  return success();
}

/// Memory that is written without being read before need not be filled by the host.
void EdgeVectorizer::dropUnreadInits() {
  for (Value argument : unread) {
    OpOperand *init = loop.getTiedOpOperand(cast<BlockArgument>(argument));
    Operation *source = init->get().getDefiningOp();
    if (!source || isa<tensor::EmptyOp>(source))
      continue;
    rewriter.setInsertionPoint(loop);
    Location loc = source->getLoc();
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, tensor::getMixedSizes(rewriter, loc, init->get()),
                                getElementTypeOrSelf(init->get()));
    rewriter.modifyOpInPlace(loop, [&] { init->set(empty); });
  }
}

static void eraseDead(RewriterBase &rewriter, Block *body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body))) {
    for (Region &region : op.getRegions())
      for (Block &block : region)
        eraseDead(rewriter, &block);
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
  }
}

FailureOr<scf::ForallOp> EdgeVectorizer::run() {
  SmallVector<Operation *> matmuls;
  loop->walk([&](Operation *op) {
    if (looksLikeMatmul(op))
      matmuls.push_back(op);
  });
  if (matmuls.size() != 1) {
    (void)fail(loop,
               "expected one matmul in the loop over workgroups, found " + Twine(matmuls.size()));
    return failure();
  }
  Result<MatmulLoops> found = matchMatmul(matmuls.front());
  std::string reason;
  if (!found)
    reason = found.error().message;
  else
    contraction = *found;
  if (reason.empty() && !contraction.isNormalized())
    reason = "expected the matmul's loops in the order m, n, k, batches; run normalize_matmul "
             "before tiling";
  if (reason.empty()) {
    SmallVector<int64_t> ranges = contraction.op.getStaticLoopRanges();
    for (unsigned outer : contraction.outer)
      if (ranges[outer] != 1)
        reason = "expected batches to be tiled by 1";
    for (unsigned i = 0; i < 3; ++i)
      if (reason.empty() && !ShapedType::isDynamic(ranges[i]) && ranges[i] > tile[i])
        reason = ("expected tiles of at most " + Twine(tile[i]) + ", got " + Twine(ranges[i]) +
                  " in loop " + Twine(i))
                     .str();
  }
  if (!reason.empty()) {
    (void)fail(matmuls.front(), reason);
    return failure();
  }
  resultRoles = rolesOf(contraction.op.getMatchingIndexingMap(contraction.op.getDpsInitOperand(0)),
                        contraction.m, contraction.n);
  rewriter.setInsertionPoint(loop.getTerminator());
  for (Operation &op : *loop.getTerminator().getBody()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (insert && failed(write(insert)))
      return failure();
  }
  dropUnreadInits();
  eraseDead(rewriter, loop.getBody());
  return loop;
}

} // namespace xetile::transform_ops
