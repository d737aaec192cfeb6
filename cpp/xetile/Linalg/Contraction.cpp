//===- Contraction.cpp - recognise a matmul by its dimensions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: any linalg op. Out: the roles m, n, k and batch of its dimensions, its sizes and units.
// Refused: ops that do not multiply and add two operands, or whose operands are indexed by other
// than dimensions alone.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/IR/BytesOf.h"

using namespace mlir;
using namespace xetile;

int64_t Contraction::extent(MatmulDim dim) const {
  int64_t product = 1;
  for (unsigned position : roles[dim]) {
    if (ShapedType::isDynamic(sizes[position]))
      return ShapedType::kDynamic;
    product = saturatingProduct(product, sizes[position]);
  }
  return product;
}

AffineMap Contraction::dropBatch(AffineMap map) const {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    if (!llvm::is_contained(batch, cast<AffineDimExpr>(expr).getPosition()))
      results.push_back(expr);
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

bool Contraction::isUnsigned(unsigned operand) const {
  mlir::Block &body = op->getRegion(0).front();
  return llvm::any_of(body.getArgument(operand).getUsers(),
                      [](Operation *user) { return isa<arith::ExtUIOp>(user); });
}

// Upstream's matcher also accepts bodies that cast between product and sum (narrower products,
// another signedness); the rewrite builds none of these. Which types may be converted is verified
// later, with an error.
bool xetile::addsProduct(mlir::Block &body) {
  auto isInput = [&](Value value, unsigned number) {
    Operation *cast = value.getDefiningOp();
    if (isa_and_nonnull<CastOpInterface>(cast) && !isa<arith::BitcastOp>(cast))
      value = cast->getOperand(0);
    return value == body.getArgument(number);
  };
  Operation *sum = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return false;
  for (unsigned side : {0, 1}) {
    Operation *product = sum->getOperand(1 - side).getDefiningOp();
    if (sum->getOperand(side) == body.getArgument(2) &&
        isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
      return (isInput(product->getOperand(0), 0) && isInput(product->getOperand(1), 1)) ||
             (isInput(product->getOperand(0), 1) && isInput(product->getOperand(1), 0));
  }
  return false;
}

/// Orders `dims` by their place in `map`: the order in memory, which roles are tiled by.
static SmallVector<unsigned> inOrderOf(AffineMap map, ArrayRef<unsigned> dims) {
  SmallVector<unsigned> ordered;
  for (AffineExpr expr : map.getResults()) {
    unsigned position = cast<AffineDimExpr>(expr).getPosition();
    if (llvm::is_contained(dims, position))
      ordered.push_back(position);
  }
  return ordered;
}

Result<Contraction> xetile::matchProduct(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return Error("expected a linalg operation, got " + op->getName().getStringRef().str());
  if (linalgOp->getNumOperands() != 3 || linalgOp.getNumDpsInits() != 1)
    return Error("expected two inputs and one output");
  SmallVector<AffineMap> maps = linalgOp.getIndexingMapsArray();
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation())
      return Error("expected every operand to be indexed by dimensions alone, each once");
  if (!linalg::isaContractionOpInterface(linalgOp) || !addsProduct(linalgOp->getRegion(0).front()))
    return Error("expected a contraction: products of two operands, added to the third");
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(linalgOp);
  if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty())
    return Error("expected dimensions m, n and k, as in C[m, n] += A[m, k] * B[k, n]");
  Contraction result;
  result.op = linalgOp;
  result.batch = inOrderOf(maps[2], dims->batch);
  result.roles[kM] = inOrderOf(maps[0], dims->m);
  result.roles[kN] = inOrderOf(maps[1], dims->n);
  result.roles[kK] = inOrderOf(maps[0], dims->k);
  result.sizes = linalgOp.getStaticLoopRanges();
  return result;
}

Result<Contraction> xetile::matchContraction(Operation *op, bool onTensors) {
  Result<Contraction> matched = matchProduct(op);
  if (!matched)
    return matched;
  Contraction result = *matched;
  for (Value operand : op->getOperands()) {
    if (onTensors ? !isa<RankedTensorType>(operand.getType()) : !isa<MemRefType>(operand.getType()))
      return Error(onTensors ? "expected operands to be tensors"
                             : "expected operands to be memrefs");
    if (!isAddressable(cast<ShapedType>(operand.getType())))
      return Error("expected operands of fewer than 2^44 elements, which a process can address");
  }
  if (result.batch.size() + result.roles[kM].size() + result.roles[kN].size() +
          result.roles[kK].size() !=
      result.sizes.size())
    return Error("expected every dimension to be one of batch, m, n and k");
  if (!onTensors)
    return result; // units are for the rewrite alone
  for (MatmulDim dim : {kM, kN, kK})
    for (unsigned inner : ArrayRef(result.roles[dim]).drop_front()) {
      if (ShapedType::isDynamic(result.sizes[inner]))
        return Error("expected the inner dimensions of blocked operands to have static sizes");
      if (result.sizes[inner] == 0)
        return Error("expected the inner dimensions of blocked operands to have elements");
      result.unit[dim] *= result.sizes[inner];
    }
  return result;
}

bool xetile::isContraction(Operation *op) { return op && matchContraction(op, /*onTensors=*/true); }

/// Past reshapes and slices, what makes `factor`; null for arguments.
static Operation *findMaker(Value factor) {
  Operation *made = factor.getDefiningOp();
  while (
      isa_and_present<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(made))
    made = made->getOperand(0).getDefiningOp();
  return made;
}

static bool isComputed(Value factor) {
  Operation *made = findMaker(factor);
  if (!isa_and_present<linalg::LinalgOp>(made) || isa<linalg::FillOp>(made))
    return false;
  llvm::SetVector<Operation *> before;
  before.insert(made);
  unsigned tensors = 0;
  for (unsigned i = 0; i < before.size(); ++i) {
    auto op = dyn_cast<linalg::LinalgOp>(before[i]);
    if (op && op.getNumReductionLoops() != 0)
      return false;
    for (Value operand : op ? SmallVector<Value>(op.getDpsInputs())
                            : SmallVector<Value>(before[i]->getOperands())) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      if (Operation *other = operand.getDefiningOp())
        before.insert(other);
      else
        ++tensors;
    }
  }
  return tensors > 1;
}

bool xetile::hasComputedFactors(Operation *scope) {
  return scope
      ->walk([](linalg::LinalgOp op) {
        return isContraction(op) && llvm::any_of(op.getDpsInputs(), isComputed)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}
