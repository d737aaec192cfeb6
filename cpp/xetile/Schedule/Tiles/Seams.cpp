//===- Seams.cpp - where tensors are put together of others ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a tensor on its way to tiles, one of its dimensions. Out: indices where inputs of
// concatenations begin and end: elements between two of them are read where they are, without
// selects. Refused: nothing; sizes that a run knows have no seams behind them.
#include "xetile/Schedule/Tiles/Seams.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Schedule/Tiles/TileWriter.h"
#include <set>

using namespace mlir;

namespace xetile::transform_ops {
namespace {

class Finder {
public:
  explicit Finder(llvm::SmallSet<int64_t, 4> &seams) : seams(seams) {}

  /// Index i of what was asked for is index i + `shift` of dimension `dim` of `tensor`.
  void visit(Value tensor, unsigned dim, int64_t shift, unsigned depth) {
    constexpr unsigned kDeepest = 16;
    Operation *op = tensor.getDefiningOp();
    if (!op || depth > kDeepest || isInMemory(tensor) ||
        !seen.insert({tensor.getAsOpaquePointer(), dim, shift}).second)
      return;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      ofSlice(slice, dim, shift, depth);
    else if (auto concat = dyn_cast<tensor::ConcatOp>(op))
      ofConcat(concat, dim, shift, depth);
    else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      ofLinalg(linalgOp, cast<OpResult>(tensor).getResultNumber(), dim, shift, depth);
  }

private:
  void ofSlice(tensor::ExtractSliceOp op, unsigned dim, int64_t shift, unsigned depth) {
    if (op.getDroppedDims().any() || !op.hasUnitStride())
      return;
    int64_t offset = op.getStaticOffsets()[dim];
    if (!ShapedType::isDynamic(offset))
      visit(op.getSource(), dim, shift + offset, depth + 1);
  }
  void ofConcat(tensor::ConcatOp op, unsigned dim, int64_t shift, unsigned depth) {
    for (Value input : op.getInputs()) {
      visit(input, dim, shift, depth + 1);
      if (op.getDim() != dim)
        continue;
      int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(dim);
      if (ShapedType::isDynamic(size))
        return;
      shift -= size;
      seams.insert(-shift);
    }
  }
  void ofLinalg(linalg::LinalgOp op, unsigned result, unsigned dim, int64_t shift, unsigned depth) {
    AffineExpr loop = op.getMatchingIndexingMap(op.getDpsInitOperand(result)).getResult(dim);
    if (op.getNumReductionLoops() != 0 || !isa<AffineDimExpr>(loop))
      return;
    for (OpOperand *input : op.getDpsInputOperands())
      if (std::optional<unsigned> at = op.getMatchingIndexingMap(input).getResultPosition(loop))
        visit(input->get(), *at, shift, depth + 1);
  }

  llvm::SmallSet<int64_t, 4> &seams;
  std::set<std::tuple<void *, unsigned, int64_t>> seen;
};

} // namespace

void findSeams(Value tensor, unsigned dim, llvm::SmallSet<int64_t, 4> &seams) {
  Finder(seams).visit(tensor, dim, 0, 0);
}

} // namespace xetile::transform_ops
