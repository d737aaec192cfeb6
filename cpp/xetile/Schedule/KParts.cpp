//===- KParts.cpp - operands of a matmul cut into parts of k ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: tensors, matmuls. Out: the tensor behind a view in parts; sizes, and whether the 2D unit
// takes the matrices. Refused: nothing; other tensors are no views in parts.
#include "xetile/Schedule/KParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Facts/SaturatingProduct.h"
#include "xetile/IR/BytesOf.h"
#include "xetile/IR/WindowedMatrix.h"
#include "xetile/IR/XeTileTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xetile::transform_ops {

std::optional<KParts> partsOf(Value tensor) {
  auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand || !expand.getResultType().hasStaticShape())
    return std::nullopt;
  KParts parts;
  bool found = false;
  for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices())) {
    if (group.size() == 1)
      continue;
    if (found || group.size() != 2)
      return std::nullopt;
    found = true;
    parts.dim = dim;
    parts.size = expand.getResultType().getDimSize(group[1]);
  }
  if (!found)
    return std::nullopt;
  parts.source = expand.getSrc();
  auto pad = parts.source.getDefiningOp<tensor::PadOp>();
  if (!pad)
    return parts;
  Value padding = pad.getConstantPaddingValue();
  if (!padding || !(matchPattern(padding, m_AnyZeroFloat()) || matchPattern(padding, m_Zero())))
    return std::nullopt;
  for (auto [dim, low, high] : llvm::enumerate(pad.getStaticLow(), pad.getStaticHigh()))
    if (low != 0 || (high != 0 && dim != parts.dim))
      return std::nullopt;
  parts.isPadded = true;
  parts.source = pad.getSource();
  return parts;
}

bool fillsParts(tensor::PadOp pad) {
  return !pad->use_empty() && llvm::all_of(pad->getUsers(), [](Operation *user) {
    return isa<tensor::ExpandShapeOp>(user) && partsOf(user->getResult(0));
  });
}

/// True if the matrices that tiles of `tensor` lie in fit the 2D unit's surface limits.
static bool isSurface(RankedTensorType tensor, AffineMap map, ArrayRef<unsigned> loops,
                      const TargetInfo &device) {
  if (!tensor.hasStaticShape())
    return false;
  uint64_t bits = tensor.getElementTypeBitWidth(), width = 1, height = 1, pitch = 1;
  uint64_t stride = bits / 8;
  bool isFirst = true;
  for (int64_t dim = tensor.getRank() - 1; dim >= 0; --dim) {
    uint64_t size = tensor.getDimSize(dim);
    if (!llvm::is_contained(loops, map.getDimPosition(dim))) {
      // A batch starts at any multiple of this.
      if (size > 1 && device.checkBaseAlign(stride))
        return false;
    } else if (isFirst) {
      width = llvm::SaturatingMultiply(size, stride);
      isFirst = false;
    } else {
      height = size;
      pitch = stride;
    }
    stride = llvm::SaturatingMultiply(stride, size);
  }
  return !device.checkSurface(width, height, pitch, bits);
}

MatmulProblem describeMatmul(const MatmulLoops &contraction, const TargetInfo *device) {
  linalg::LinalgOp op = contraction.op;
  ArrayRef<int64_t> sizes = contraction.sizes;
  auto known = [](int64_t size) { return ShapedType::isDynamic(size) ? -1 : size; };
  MatmulProblem problem = {known(sizes[contraction.m]), known(sizes[contraction.n]),
                           known(sizes[contraction.k]), memoryBits(contraction.elementType(0)),
                           false};
  for (unsigned loop : contraction.outer) {
    bool isKnown = problem.batches >= 0 && !ShapedType::isDynamic(sizes[loop]);
    problem.batches = isKnown ? saturatingProduct(problem.batches, sizes[loop]) : -1;
  }
  // Windows of an image are no rows of memory.
  if (auto func = op->getParentOfType<func::FuncOp>())
    problem.byElements = func->hasAttr(kWindowAttr);
  std::array<unsigned, 3> loops = {contraction.m, contraction.n, contraction.k};
  for (OpOperand &operand : op->getOpOperands()) {
    Value tensor = operand.get();
    AffineMap map = op.getMatchingIndexingMap(&operand);
    // Parts of k lie in one matrix.
    if (std::optional<KParts> parts = partsOf(tensor);
        parts && map.getDimPosition(parts->dim + 1) == contraction.k &&
        llvm::is_contained(contraction.outer, map.getDimPosition(parts->dim))) {
      tensor = parts->source;
      map = map.dropResult(parts->dim);
    }
    problem.byElements |=
        device && !isSurface(cast<RankedTensorType>(tensor.getType()), map, loops, *device);
  }
  return problem;
}

} // namespace xetile::transform_ops
