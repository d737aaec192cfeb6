//===- Scan.cpp - ops that combine each element with those before ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg.generic. Out: its parts, if it is a scan; or a new scan. Refused: nothing; other ops
// are none.
//===----------------------------------------------------------------------===//
#include "xetile/Linalg/Scan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xetile;

static bool isConversion(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
}

/// True if `value` depends on one of the op's accumulators.
static bool readsResults(linalg::GenericOp op, Value value) {
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Value each = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(each))
      if (argument.getOwner() == op.getBody() && argument.getArgNumber() >= op.getNumDpsInputs())
        return true;
    Operation *by = each.getDefiningOp();
    if (by && by->getBlock() == op.getBody() && seen.insert(by).second)
      llvm::append_range(open, by->getOperands());
  }
  return false;
}

/// True if the first result is indexed by all loops and the second by all but `loop`.
static bool hasResults(linalg::GenericOp op, unsigned loop) {
  AffineMap all = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  AffineMap last = op.getMatchingIndexingMap(op.getDpsInitOperand(1));
  return all.isPermutation() && last.isProjectedPermutation() &&
         last.getNumResults() + 1 == op.getNumLoops() && !last.isFunctionOfDim(loop) &&
         op.getResult(1).use_empty();
}

std::optional<Scan> Scan::match(Operation *op) {
  Scan scan;
  scan.op = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!scan.op || !scan.op.hasPureTensorSemantics() || scan.op.getNumResults() != 2 ||
      scan.op.getNumParallelLoops() + 1 != scan.op.getNumLoops())
    return std::nullopt;
  SmallVector<unsigned> loops;
  scan.op.getReductionDims(loops);
  if (loops.size() != 1 || !hasResults(scan.op, loops.front()))
    return std::nullopt;
  scan.loop = loops.front();
  Operation *yield = scan.op.getBody()->getTerminator();
  scan.combine = yield->getOperand(1).getDefiningOp();
  if (!scan.combine || scan.combine->getBlock() != scan.op.getBody() ||
      scan.combine->getNumOperands() != 2 || scan.combine->getNumResults() != 1 ||
      !scan.combine->hasTrait<OpTrait::IsCommutative>())
    return std::nullopt;
  std::optional<TypedAttr> neutral = arith::getNeutralElement(scan.combine);
  unsigned at = scan.combine->getOperand(0) == scan.last() ? 0 : 1;
  if (!neutral || scan.combine->getOperand(at) != scan.last())
    return std::nullopt;
  scan.neutral = *neutral;
  scan.element = scan.combine->getOperand(1 - at);
  if (readsResults(scan.op, scan.element))
    return std::nullopt;
  Value written = yield->getOperand(0);
  while (written != scan.combine->getResult(0)) {
    Operation *convert = written.getDefiningOp();
    if (!convert || convert->getBlock() != scan.op.getBody() || !isConversion(convert))
      return std::nullopt;
    scan.rounds.push_back(convert);
    written = convert->getOperand(0);
  }
  std::reverse(scan.rounds.begin(), scan.rounds.end());
  return scan;
}

std::optional<vector::CombiningKind> Scan::kind() { return linalg::getCombinerOpKind(combine); }

bool Scan::startsFromNeutral() {
  auto fill = op.getOutputs()[1].getDefiningOp<linalg::FillOp>();
  Attribute start;
  return fill && matchPattern(fill.getInputs()[0], m_Constant(&start)) && start == neutral;
}

Value xetile::combineLike(OpBuilder &b, Location loc, Operation *combine, Value before,
                          Value element) {
  OperationState state(loc, combine->getName(), {before, element}, {before.getType()},
                       combine->getAttrs());
  return b.create(state)->getResult(0);
}

Value xetile::createScan(
    OpBuilder &b, Location loc, Value input, unsigned dim, Type element, TypedAttr neutral,
    llvm::function_ref<std::pair<Value, Value>(OpBuilder &, Value, Value)> body) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, input), kept = sizes;
  kept.erase(kept.begin() + dim);
  Value all = tensor::EmptyOp::create(b, loc, sizes, element);
  Value start = arith::ConstantOp::create(b, loc, neutral);
  Value last = tensor::EmptyOp::create(b, loc, kept, neutral.getType());
  last = linalg::FillOp::create(b, loc, start, last).getResult(0);
  AffineMap whole = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  kinds[dim] = utils::IteratorType::reduction;
  auto scan =
      linalg::GenericOp::create(b, loc, TypeRange{all.getType(), last.getType()}, input,
                                ValueRange{all, last}, {whole, whole, whole.dropResult(dim)}, kinds,
                                [&](OpBuilder &inside, Location, ValueRange values) {
                                  auto [written, sum] = body(inside, values[0], values[2]);
                                  linalg::YieldOp::create(inside, loc, ValueRange{written, sum});
                                });
  return scan.getResult(0);
}
