//===- UnfoldInputs.cpp - one dimension for each part of an index ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg.generic whose inputs are indexed by sums as d0 * 32 + d1 * 2 + d2, as unpacked
// activations beside packed weights are. Out: the same on inputs expanded to d0, d1, d2.
// Refused: sums that do not count through the dimension once, element by element.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/Linalg/Contraction.h"
#include "xetile/Linalg/TileLoops.h"

using namespace mlir;
using namespace xetile;

/// The dimensions that `expr` counts through, outermost first: each is multiplied by the product of
/// the sizes of those after it.
static FailureOr<SmallVector<unsigned>> digitsOf(AffineExpr expr, ArrayRef<int64_t> sizes) {
  SmallVector<std::pair<int64_t, unsigned>> terms;
  std::function<bool(AffineExpr)> collect = [&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part)) {
      terms.push_back({1, dim.getPosition()});
      return true;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (binary && binary.getKind() == AffineExprKind::Add)
      return collect(binary.getLHS()) && collect(binary.getRHS());
    if (!binary || binary.getKind() != AffineExprKind::Mul)
      return false;
    auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
    auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!dim || !factor)
      return false;
    terms.push_back({factor.getValue(), dim.getPosition()});
    return true;
  };
  if (!collect(expr))
    return failure();
  // Of equal factors only one dimension can have more than one element.
  llvm::sort(terms, [](auto a, auto b) { return a > b; });
  int64_t weight = 1;
  for (auto [number, term] : llvm::enumerate(llvm::reverse(terms))) {
    auto [factor, dim] = term;
    bool outermost = number + 1 == terms.size();
    if (factor != weight || (!outermost && ShapedType::isDynamic(sizes[dim])))
      return failure();
    weight *= outermost ? 1 : sizes[dim];
  }
  return llvm::map_to_vector(terms, [](auto term) { return term.second; });
}

FailureOr<linalg::GenericOp> xetile::unfoldInputs(RewriterBase &b, Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureTensorSemantics() || generic.getNumDpsInits() != 1)
    return failure();
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
  SmallVector<Value> inputs(generic.getInputs());
  Location loc = op->getLoc();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  // All inputs are judged before anything is built.
  SmallVector<SmallVector<SmallVector<unsigned>>> digits(inputs.size());
  bool any = false;
  for (unsigned i = 0; i < inputs.size(); ++i)
    for (AffineExpr expr : maps[i].getResults()) {
      FailureOr<SmallVector<unsigned>> dims = digitsOf(expr, sizes);
      if (failed(dims))
        return failure();
      any |= dims->size() > 1;
      digits[i].push_back(*dims);
    }
  if (!any)
    return failure();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    SmallVector<Index> extents;
    SmallVector<AffineExpr> results;
    for (auto [place, dims] : llvm::enumerate(digits[i])) {
      ReassociationIndices &group = groups.emplace_back();
      int64_t inner = 1;
      for (unsigned dim : ArrayRef(dims).drop_front())
        inner = saturatingProduct(inner, sizes[dim]);
      for (unsigned dim : dims) {
        group.push_back(shape.size());
        shape.push_back(sizes[dim]);
        results.push_back(b.getAffineDimExpr(dim));
        extents.push_back(
            ShapedType::isDynamic(sizes[dim])
                ? floorDivIndex(b, loc, tensor::getMixedSize(b, loc, input, place), inner)
                : Index(b.getIndexAttr(sizes[dim])));
      }
    }
    maps[i] = AffineMap::get(maps[i].getNumDims(), 0, results, b.getContext());
    if (shape.size() != size_t(type.getRank()))
      input = tensor::ExpandShapeOp::create(
          b, loc, RankedTensorType::get(shape, type.getElementType()), input, groups, extents);
  }
  auto unfolded =
      linalg::GenericOp::create(b, loc, generic.getResultTypes(), inputs, generic.getOutputs(),
                                maps, generic.getIteratorTypesArray());
  IRMapping mapping;
  generic.getRegion().cloneInto(&unfolded.getRegion(), mapping);
  unfolded->setDiscardableAttrs(llvm::to_vector(generic->getDiscardableAttrs()));
  return unfolded;
}

Result<Contraction> xetile::matchOrUnfold(RewriterBase &rewriter, Operation *op,
                                          Operation *&standIn) {
  standIn = nullptr;
  Result<Contraction> matmul = matchContraction(op, /*onTensors=*/true);
  if (matmul)
    return matmul;
  FailureOr<linalg::GenericOp> unfolded = unfoldInputs(rewriter, op);
  if (failed(unfolded))
    return matmul;
  matmul = matchContraction(*unfolded, /*onTensors=*/true);
  if (matmul)
    standIn = *unfolded;
  else
    eraseStandIn(rewriter, *unfolded);
  return matmul;
}

void xetile::eraseStandIn(RewriterBase &rewriter, Operation *standIn) {
  SmallVector<Value> inputs(standIn->getOperands());
  rewriter.eraseOp(standIn);
  for (Value input : inputs)
    if (auto expand = input.getDefiningOp<tensor::ExpandShapeOp>(); expand && expand->use_empty())
      rewriter.eraseOp(expand);
}
