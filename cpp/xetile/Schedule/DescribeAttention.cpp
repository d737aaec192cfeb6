//===- DescribeAttention.cpp - sizes of an attention, how it lies in memory ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: reductions of scores in a function on tensors. Out: elements of keys and values, and how far
// apart their rows are in memory. Refused: nothing; what is not known is said to be so.
#include "xetile/Schedule/DescribeAttention.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "xetile/Linalg/Contraction.h"
#include <numeric>

using namespace mlir;

namespace xetile::transform_ops {
namespace {

bool isNarrow(linalg::LinalgOp op) {
  return llvm::all_of(op.getDpsInputs(), [](Value input) {
    return isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(input.getType()));
  });
}

/// Takes `matrix` for one that is loaded: its rows in memory, or that it is computed.
void addMatrix(Value matrix, AttentionProblem &problem) {
  auto widen = [&](int64_t number) {
    problem.unit = ShapedType::isDynamic(number) ? 1 : std::gcd(problem.unit, number);
  };
  while (Operation *op = matrix.getDefiningOp()) {
    if (!isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    widen(cast<RankedTensorType>(matrix.getType()).getShape().back());
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      widen(slice.getStaticOffsets().back());
      if (!slice.hasUnitStride())
        problem.unit = 1;
    }
    matrix = op->getOperand(0);
  }
  auto type = cast<RankedTensorType>(matrix.getType());
  if (type.getRank() == 0)
    problem.isComputed = true;
  else
    widen(type.getShape().back());
  Operation *made = matrix.getDefiningOp();
  problem.isComputed |= made && !isa<bufferization::ToTensorOp>(made);
}

bool multiplies(Operation *op) { return isContraction(op) || sumsProducts(op); }

/// The product that powers are computed of, and its loop along n.
struct Scores {
  linalg::GenericOp op;
  unsigned keys = 0;
};

/// None where there are no scores, or several.
std::optional<Scores> findScores(const Online &online) {
  std::optional<Scores> found;
  for (Operation *op : online.ops) {
    auto reader = cast<linalg::GenericOp>(op);
    std::optional<unsigned> along = online.loopOf(reader);
    for (OpOperand *operand : reader.getDpsInputOperands()) {
      auto made = operand->get().getDefiningOp<linalg::GenericOp>();
      if (!made || online.ops.contains(made) || !multiplies(made) || (found && found->op == made))
        continue;
      if (found || !along)
        return std::nullopt;
      AffineMap read = reader.getMatchingIndexingMap(operand);
      AffineMap written = made.getMatchingIndexingMap(made.getDpsInitOperand(0));
      std::optional<unsigned> dim =
          read.getResultPosition(getAffineDimExpr(*along, reader.getContext()));
      if (!dim)
        return std::nullopt;
      found = Scores{made, written.getDimPosition(*dim)};
    }
  }
  return found;
}

/// Queries and keys.
void addScores(Scores scores, AttentionProblem &problem) {
  SmallVector<unsigned> reduced;
  scores.op.getReductionDims(reduced);
  problem.inner = scores.op.getStaticLoopRanges()[reduced.front()];
  for (OpOperand *operand : scores.op.getDpsInputOperands()) {
    addMatrix(operand->get(), problem);
    AffineMap map = scores.op.getMatchingIndexingMap(operand);
    if (!map.isFunctionOfDim(scores.keys))
      problem.hasRowsOfQueries &= map.getNumResults() != 0 &&
                                  map.getDimPosition(map.getNumResults() - 1) == reduced.front();
  }
}

} // namespace

std::optional<AttentionProblem> describeAttention(const Online &online) {
  const OnlineReduction &reduction = online.reductions.back();
  linalg::GenericOp last = reduction.op;
  std::optional<Scores> scores = findScores(online);
  if (!reduction.power || !multiplies(last) || !scores || !isNarrow(scores->op) || !isNarrow(last))
    return std::nullopt;
  AttentionProblem problem;
  auto output = cast<RankedTensorType>(last.getResult(0).getType());
  if (output.getRank() != 0)
    problem.columns = output.getShape().back();
  problem.unit = 0;
  addScores(*scores, problem);
  for (Value input : last.getDpsInputs()) {
    Operation *made = input.getDefiningOp();
    if (!made || !online.ops.contains(made))
      addMatrix(input, problem);
  }
  return problem;
}

} // namespace xetile::transform_ops
