//===- EdgeVectorizer.cpp - the matmul of a workgroup on whole tiles ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an scf.forall over tiles of a matmul on tensors, with a loop along k. Out: its body on
// vectors of whole tiles, reads that are zero and writes that are dropped beyond the edges.
// Refused: ops that are neither the matmul nor elementwise, tiles of other sizes.
#include "xetile/Schedule/EdgeVectorizer.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Linalg/Elementwise.h"

using namespace mlir;

namespace xetile::transform_ops {

EdgeVectorizer::Part EdgeVectorizer::fail(Operation *op, const Twine &reason) {
  if (why.empty()) {
    why = reason.str();
    where = op;
  }
  return {};
}

EdgeVectorizer::Request EdgeVectorizer::whole(Value tensor, ArrayRef<int> roles, Shape shape) {
  SmallVector<OpFoldResult> offsets(roles.size(), rewriter.getIndexAttr(0));
  return {tensor, offsets, Roles(roles), shape, SmallVector<bool>(roles.size(), false)};
}

bool EdgeVectorizer::Request::startsAtZero() const {
  return llvm::all_of(offsets, [](OpFoldResult offset) { return isZeroInteger(offset); });
}

EdgeVectorizer::Roles EdgeVectorizer::rolesOf(AffineMap map, unsigned row, unsigned column) const {
  Roles roles;
  for (AffineExpr expr : map.getResults()) {
    unsigned loopNumber = cast<AffineDimExpr>(expr).getPosition();
    roles.push_back(loopNumber == row ? Row : loopNumber == column ? Column : None);
  }
  return roles;
}

Value EdgeVectorizer::zeros(Type element, Shape shape) {
  auto type = VectorType::get(shape, element);
  return arith::ConstantOp::create(rewriter, loop.getLoc(), rewriter.getZeroAttr(type));
}

//===----------------------------------------------------------------------===//
// Vectors of tensors
//===----------------------------------------------------------------------===//

EdgeVectorizer::Part EdgeVectorizer::getKnown(const Request &request) {
  auto [part, roles] = known.lookup(request.tensor);
  if (!request.startsAtZero())
    return fail(loop, "a tile is cut once more inside of the loop");
  Shape shape{part.vector ? cast<VectorType>(part.vector.getType()).getDimSize(0) : 0,
              part.vector ? cast<VectorType>(part.vector.getType()).getDimSize(1) : 0};
  bool isSwapped = roles != request.roles;
  if (isSwapped) {
    Roles swapped = roles;
    for (int &role : swapped)
      role = role == None ? None : 1 - role;
    if (swapped != request.roles)
      return fail(loop, "a tile of the result is used with other dimensions than it has");
    std::swap(shape[0], shape[1]);
  }
  if (shape != request.shape)
    return fail(loop, "a tile of the result is used with another size than it has");
  if (!isSwapped)
    return part;
  return {vector::TransposeOp::create(rewriter, part.vector.getLoc(), part.vector,
                                      ArrayRef<int64_t>{1, 0}),
          false};
}

EdgeVectorizer::Part EdgeVectorizer::get(Request request) {
  while (true) {
    Value tensor = request.tensor;
    if (known.contains(tensor))
      return getKnown(request);
    if (auto argument = dyn_cast<BlockArgument>(tensor)) {
      if (argument.getOwner() != loop.getBody() || loop.getTiedOpOperand(argument) == nullptr)
        return read(request);
      // The start of an output: what computes it is computed here, memory is read here.
      Value init = loop.getTiedOpOperand(argument)->get();
      Operation *source = init.getDefiningOp();
      if (!source || !(isElementwiseOnTensors(source) || isa<tensor::EmptyOp>(source)))
        return read(request);
      unread.insert(argument);
      request.tensor = init;
      continue;
    }
    Operation *op = tensor.getDefiningOp();
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      if (!lookThrough(request, slice))
        return read(request);
      continue;
    }
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op); expand && lookThrough(request, expand))
      continue;
    // The whole of a tile, as loops along k put it back.
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op);
        insert && loop->isAncestor(insert) && known.contains(insert.getDest()) &&
        insert.getSourceType().getRank() == insert.getDestType().getRank() &&
        llvm::all_of(insert.getMixedOffsets(),
                     [](OpFoldResult offset) { return isZeroInteger(offset); })) {
      request.tensor = insert.getSource();
      continue;
    }
    unsigned result = cast<OpResult>(tensor).getResultNumber();
    if (op == contraction.op)
      return computeContraction() ? getKnown(request) : Part();
    if (auto forOp = dyn_cast<scf::ForOp>(op); forOp && loop->isAncestor(forOp))
      return computeLoop(forOp) ? getKnown(request) : Part();
    if (isElementwiseOnTensors(op))
      return computeElementwise(cast<linalg::LinalgOp>(op), result, request);
    Type element = getElementTypeOrSelf(tensor);
    if (isa<tensor::EmptyOp, ub::PoisonOp>(op))
      return {zeros(element, request.shape), true};
    SplatElementsAttr splat;
    if (matchPattern(tensor, m_Constant(&splat))) {
      auto type = VectorType::get(request.shape, element);
      auto value = DenseElementsAttr::get(type, splat.getSplatValue<Attribute>());
      bool isZero = value == rewriter.getZeroAttr(type);
      return {arith::ConstantOp::create(rewriter, loop.getLoc(), value), isZero};
    }
    if (loop->isAncestor(op) && !isa<tensor::CastOp>(op))
      return fail(op, "expected the matmul and elementwise ops in the loop over workgroups, got " +
                          op->getName().getStringRef());
    return read(request);
  }
}

EdgeVectorizer::Part EdgeVectorizer::read(const Request &request) {
  Location loc = loop.getLoc();
  auto tensor = cast<RankedTensorType>(request.tensor.getType());
  Type element = tensor.getElementType();
  auto type = VectorType::get(request.shape, element);
  SmallVector<Value> indices = getValueOrCreateConstantIndexOp(rewriter, loc, request.offsets);
  AffineExpr zero = rewriter.getAffineConstantExpr(0);
  SmallVector<AffineExpr> from(2, zero);
  SmallVector<bool> inside(2, true);
  for (auto [dim, role] : llvm::enumerate(request.roles)) {
    if (role == None)
      continue;
    from[role] = rewriter.getAffineDimExpr(dim);
    bool isWhole = isZeroInteger(request.offsets[dim]) && !tensor.isDynamicDim(dim) &&
                   tensor.getDimSize(dim) >= request.shape[role];
    inside[role] = request.inside[dim] || isWhole;
  }
  if (from[0] == zero && from[1] == zero) {
    Value number = tensor::ExtractOp::create(rewriter, loc, request.tensor, indices);
    return {vector::BroadcastOp::create(rewriter, loc, type, number), false};
  }
  Value padding = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(element));
  Value vector = vector::TransferReadOp::create(
      rewriter, loc, type, request.tensor, indices, padding,
      AffineMap::get(request.roles.size(), 0, from, rewriter.getContext()), inside);
  return {vector, true};
}

//===----------------------------------------------------------------------===//
// The matmul
//===----------------------------------------------------------------------===//

/// Whatever is out of bounds along k must be zero in both operands: what was computed of zeros may
/// be something else, and infinity times zero is no zero.
Value EdgeVectorizer::maskBeyondK(Part part, Value tensor, unsigned dim, bool isColumn) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto vector = cast<VectorType>(part.vector.getType());
  if (part.isZeroOutside || type.getDimSize(dim) == tile[2])
    return part.vector;
  Location loc = loop.getLoc();
  OpFoldResult size = tensor::getMixedSize(rewriter, loc, tensor, dim);
  Value limit = getValueOrCreateConstantIndexOp(rewriter, loc, size);
  Value all = arith::ConstantIndexOp::create(rewriter, loc, vector.getDimSize(isColumn ? 0 : 1));
  SmallVector<Value> bounds{isColumn ? all : limit, isColumn ? limit : all};
  Value mask = vector::CreateMaskOp::create(
      rewriter, loc, VectorType::get(vector.getShape(), rewriter.getI1Type()), bounds);
  Value zero = zeros(vector.getElementType(), {vector.getDimSize(0), vector.getDimSize(1)});
  return arith::SelectOp::create(rewriter, loc, mask, part.vector, zero);
}

EdgeVectorizer::Part EdgeVectorizer::computeContraction() {
  linalg::LinalgOp op = contraction.op;
  auto [m, n, k] = tile;
  OpOperand *a = op.getDpsInputOperand(contraction.a), *b = op.getDpsInputOperand(contraction.b),
            *c = op.getDpsInitOperand(0);
  Roles aRoles = rolesOf(op.getMatchingIndexingMap(a), contraction.m, contraction.k),
        bRoles = rolesOf(op.getMatchingIndexingMap(b), contraction.k, contraction.n);
  Part left = get(whole(a->get(), aRoles, {m, k}));
  Part right = left ? get(whole(b->get(), bRoles, {k, n})) : Part();
  Part sum = right ? get(whole(c->get(), resultRoles, {m, n})) : Part();
  if (!sum)
    return {};
  Value masked = maskBeyondK(left, a->get(), llvm::find(aRoles, Column) - aRoles.begin(),
                             /*isColumn=*/true);
  Value maskedRight = maskBeyondK(right, b->get(), llvm::find(bRoles, Row) - bRoles.begin(),
                                  /*isColumn=*/false);
  if (contraction.isUnsigned(contraction.a) || contraction.isUnsigned(contraction.b)) {
    // Bytes that vector.contract extends itself are signed.
    auto widen = [&](Value &factor, bool isUnsigned) {
      Type wide = cast<VectorType>(factor.getType()).clone(getElementTypeOrSelf(sum.vector));
      factor = isUnsigned ? arith::ExtUIOp::create(rewriter, op.getLoc(), wide, factor).getResult()
                          : arith::ExtSIOp::create(rewriter, op.getLoc(), wide, factor);
    };
    widen(masked, contraction.isUnsigned(contraction.a));
    widen(maskedRight, contraction.isUnsigned(contraction.b));
  }
  using vector::IteratorType;
  auto contract = vector::ContractionOp::create(
      rewriter, op.getLoc(), masked, maskedRight, sum.vector,
      rewriter.getArrayAttr(
          llvm::map_to_vector(linalg::MatmulOp::getDefaultIndexingMaps(op.getContext()),
                              [](AffineMap map) -> Attribute { return AffineMapAttr::get(map); })),
      rewriter.getArrayAttr(llvm::map_to_vector(
          ArrayRef{IteratorType::parallel, IteratorType::parallel, IteratorType::reduction},
          [&](IteratorType kind) -> Attribute {
            return vector::IteratorTypeAttr::get(op.getContext(), kind);
          })));
  Part part{contract.getResult(), false};
  known[op->getResult(0)] = {part, resultRoles};
  return part;
}

/// The loop along k carries the vector instead of the tile.
EdgeVectorizer::Part EdgeVectorizer::computeLoop(scf::ForOp forOp) {
  if (forOp.getNumResults() != 1)
    return fail(forOp, "expected a loop along k that carries the tile of the result alone");
  Shape shape{tile[0], tile[1]};
  Part start = get(whole(forOp.getInitArgs()[0], resultRoles, shape));
  if (!start)
    return {};
  auto vectorLoop =
      scf::ForOp::create(rewriter, forOp.getLoc(), forOp.getLowerBound(), forOp.getUpperBound(),
                         forOp.getStep(), ValueRange{start.vector});
  // Stands for the tile that the loop carried, which is never computed.
  Value carried = ub::PoisonOp::create(rewriter, forOp.getLoc(), forOp.getResult(0).getType());
  OpBuilder::InsertionGuard guard(rewriter);
  Block *body = vectorLoop.getBody();
  if (body->mightHaveTerminator())
    rewriter.eraseOp(body->getTerminator());
  rewriter.setInsertionPointToEnd(body);
  IRMapping mapping;
  mapping.map(forOp.getInductionVar(), vectorLoop.getInductionVar());
  mapping.map(forOp.getRegionIterArg(0), carried);
  for (Operation &op : forOp.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  if (Operation *copy = mapping.lookupOrNull(contraction.op.getOperation()))
    contraction.op = cast<linalg::LinalgOp>(copy);
  known[carried] = {Part{vectorLoop.getRegionIterArg(0), false}, resultRoles};
  auto yield = cast<scf::YieldOp>(forOp.getBody()->getTerminator());
  Part next = get(whole(mapping.lookupOrDefault(yield.getOperand(0)), resultRoles, shape));
  if (!next)
    return {};
  scf::YieldOp::create(rewriter, forOp.getLoc(), next.vector);
  Part part{vectorLoop.getResult(0), false};
  known[forOp.getResult(0)] = {part, resultRoles};
  return part;
}

} // namespace xetile::transform_ops
