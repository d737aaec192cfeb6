//===- VectorPlan.cpp - which loop of a linalg op becomes vectors ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "xetile/Target/Cpu/Lowering/VectorLoops/VectorPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "xetile/Linalg/Elementwise.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace xetile;

/// True if the result's indexing map is injective in the parallel dimensions: each of them once,
/// and constants.
static bool hasPlainResult(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1)
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  llvm::SmallSet<unsigned, 4> dims;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!isa<AffineConstantExpr>(expr) && (!dim || !dims.insert(dim.getPosition()).second))
      return false;
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  return llvm::all_of(llvm::seq(op.getNumLoops()), [&](unsigned dim) {
    return dims.contains(dim) == linalg::isParallelIterator(kinds[dim]);
  });
}

/// `column`, or `column + x` with an x that does not depend on it.
static bool stepsByOne(AffineExpr expr, unsigned column) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == column;
  if (expr.getKind() != AffineExprKind::Add)
    return false;
  auto sum = cast<AffineBinaryOpExpr>(expr);
  return (stepsByOne(sum.getLHS(), column) && !sum.getRHS().isFunctionOfDim(column)) ||
         (stepsByOne(sum.getRHS(), column) && !sum.getLHS().isFunctionOfDim(column));
}

static bool liesAlong(linalg::LinalgOp op, OpOperand &operand, unsigned column) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!isa<ShapedType>(operand.get().getType()) || !map.isFunctionOfDim(column))
    return true;
  if (!stepsByOne(map.getResults().back(), column) ||
      llvm::any_of(map.getResults().drop_back(),
                   [&](AffineExpr expr) { return expr.isFunctionOfDim(column); }))
    return false;
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  return !type || (succeeded(type.getStridesAndOffset(strides, offset)) && strides.back() == 1);
}

/// The op that combines what the body computes with the result so far; its order may change.
static Operation *findCombiner(mlir::Block &body) {
  BlockArgument sofar = body.getArguments().back();
  Operation *op = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!sofar.hasOneUse() || *sofar.user_begin() != op || !op || op->getNumOperands() != 2 ||
      !op->hasOneUse() || !linalg::getCombinerOpKind(op) || !arith::getNeutralElement(op))
    return nullptr;
  return op;
}

std::optional<VectorPlan> xetile::planVectors(linalg::LinalgOp op, int64_t vectorBits) {
  if (op.hasIndexSemantics() || op.getNumLoops() == 0 || op->getNumRegions() != 1 ||
      !hasPlainResult(op))
    return std::nullopt;
  mlir::Block &body = op->getRegion(0).front();
  if (!isElementwiseBody(body))
    return std::nullopt;

  int64_t widest = 8;
  for (Operation &inner : body.without_terminator())
    for (Type type : inner.getResultTypes())
      widest = std::max<int64_t>(widest, type.getIntOrFloatBitWidth());
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8)
      return std::nullopt;
    widest = std::max<int64_t>(widest, element.getIntOrFloatBitWidth());
  }

  VectorPlan plan;
  plan.length = vectorBits / widest;
  if (plan.length <= 1)
    return std::nullopt;
  auto fits = [&](unsigned column) {
    return llvm::all_of(op->getOpOperands(),
                        [&](OpOperand &operand) { return liesAlong(op, operand, column); });
  };
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  bool found = false;
  AffineExpr end = result.getNumResults() == 0 ? AffineExpr() : result.getResults().back();
  if (auto last = dyn_cast_if_present<AffineDimExpr>(end)) {
    plan.column = last.getPosition();
    found = fits(plan.column);
    // A few columns would leave most of a vector empty.
    if (found &&
        (ShapedType::isDynamic(extents[plan.column]) || extents[plan.column] > plan.length / 2))
      return plan;
  }
  if (Operation *combiner = findCombiner(body)) {
    for (unsigned dim = op.getNumLoops(); dim-- > 0;) {
      // Less than a vector, as the taps of a window, is not worth adding up its lanes.
      bool isShort = !ShapedType::isDynamic(extents[dim]) && extents[dim] < plan.length;
      if (isShort || result.isFunctionOfDim(dim) || !fits(dim))
        continue;
      plan.column = dim;
      plan.combiner = combiner;
      return plan;
    }
  }
  return found ? std::optional(plan) : std::nullopt;
}
