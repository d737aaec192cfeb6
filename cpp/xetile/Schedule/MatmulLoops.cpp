//===- MatmulLoops.cpp - the matmuls that schedules for GPUs take ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg op. Out: which of its loops are m, n and k, and which input has which.
// Refused: what is no product of matrices on tensors, or one that the matrix unit has no types for.
#include "xetile/Schedule/MatmulLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Support/DebugStringHelper.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;

namespace xetile::transform_ops {
namespace {

/// Reads the contraction, and takes for m and n the last loops of the result of each of the two
/// inputs.
Result<MatmulLoops> findLoops(Operation *op) {
  Result<Contraction> product = matchProduct(op);
  if (!product)
    return product.error();
  if (product->roles[kK].size() != 1)
    return Error("expected one dimension to sum over, as in C[m, n] += A[m, k] * B[k, n]");
  for (Operation &inner : op->getRegion(0).front())
    if (isa<CastOpInterface>(inner) && !isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(inner))
      return Error("expected products of factors as they are or extended, got " +
                   inner.getName().getStringRef());
  MatmulLoops loops;
  static_cast<Contraction &>(loops) = *product;
  loops.k = product->tiled(kK);
  SmallVector<unsigned> result;
  for (AffineExpr expr : loops.map(2).getResults())
    result.push_back(cast<AffineDimExpr>(expr).getPosition());
  auto lastOf = [&](MatmulDim role) {
    return *llvm::find_if(llvm::reverse(result), [&](unsigned loop) {
      return llvm::is_contained(loops.roles[role], loop);
    });
  };
  loops.m = lastOf(kM);
  loops.n = lastOf(kN);
  if (llvm::find(result, loops.m) > llvm::find(result, loops.n)) {
    std::swap(loops.m, loops.n);
    std::swap(loops.a, loops.b);
  }
  for (unsigned loop : result)
    if (loop != loops.m && loop != loops.n)
      loops.outer.push_back(loop);
  return loops;
}

Problem checkTensors(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return ("expected " + op->getName().getStringRef() +
            " on tensors, got memrefs: schedules start before bufferisation")
        .str();
  for (Value operand : op->getOperands())
    if (auto type = cast<RankedTensorType>(operand.getType());
        llvm::is_contained(type.getShape(), 0))
      return "expected sizes other than zero, got " + debugString(type);
  return {};
}

/// Tiles lie in two dimensions of a matrix, one of which is contiguous.
Problem checkInnermost(const MatmulLoops &loops) {
  struct Operand {
    StringLiteral name;
    unsigned number;
    std::array<unsigned, 2> loops;
  };
  for (auto [name, number, own] :
       {Operand{"A", loops.a, {loops.m, loops.k}}, Operand{"B", loops.b, {loops.k, loops.n}},
        Operand{"the result", 2, {loops.m, loops.n}}}) {
    unsigned last = cast<AffineDimExpr>(loops.map(number).getResults().back()).getPosition();
    if (!llvm::is_contained(own, last))
      return ("expected the last dimension of " + name +
              " to be one of the product's, got a batch; transpose before the matmul")
          .str();
  }
  return {};
}

} // namespace

bool MatmulLoops::isNormalized() const {
  if (m != 0 || n != 1 || k != 2)
    return false;
  for (auto [index, loop] : llvm::enumerate(outer))
    if (loop != index + 3)
      return false;
  return true;
}

bool looksLikeMatmul(Operation *op) {
  // A named one is meant as a matmul, whatever is wrong with it.
  return isa<linalg::MatmulOp, linalg::BatchMatmulOp, linalg::ContractOp>(op) || findLoops(op);
}

Result<MatmulLoops> matchMatmul(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return Error("expected a linalg op, got " + op->getName().getStringRef());
  if (Problem why = checkTensors(linalgOp))
    return Error(*why);
  Result<MatmulLoops> loops = findLoops(op);
  if (!loops)
    return loops;
  if (Problem why = checkInnermost(*loops))
    return Error(*why);
  Type a = loops->elementType(loops->a), b = loops->elementType(loops->b),
       c = loops->elementType(2);
  if (!isMmaTypeCombination(a, b, c))
    return Error(Twine("expected ") + kMmaTypeCombinations + ", got " + debugString(a) + " x " +
                 debugString(b) + " -> " + debugString(c));
  return loops;
}

} // namespace xetile::transform_ops
