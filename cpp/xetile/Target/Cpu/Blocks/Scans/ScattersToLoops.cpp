//===- ScattersToLoops.cpp - scatters on tensors as loops --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a linalg.generic that combines updates with rows by their numbers. Out: scf.for over the
// updates, around a combination of elements. Refused: nothing; other ops stay.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "xetile/Linalg/Scatter.h"
#include "xetile/Target/Cpu/Passes.h"

namespace xetile {
#define GEN_PASS_DEF_SCATTERSTOLOOPS
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

namespace {

/// Writes one scatter as loops.
class LoopWriter {
public:
  LoopWriter(OpBuilder &b, Scatter scatter)
      : b(b), loc(scatter.op.getLoc()), scatter(scatter), op(scatter.op),
        ranges(cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, loc)),
        indices(op.getNumLoops()) {
    // The numbers of rows first, then what they have beside one another.
    for (auto kind : {utils::IteratorType::reduction, utils::IteratorType::parallel})
      for (auto [loop, is] : llvm::enumerate(op.getIteratorTypesArray()))
        if (is == kind && loop != scatter.loop)
          order.push_back(loop);
  }

  Value write() { return writeLoops(0, scatter.init()); }

private:
  Value writeLoops(unsigned next, Value all);
  Value writeRow(unsigned next, Value all);
  Value combine(Value all);
  Value scalar(IRMapping &known, Value value);
  bool rowIsKnown(unsigned next);
  Value asValue(OpFoldResult index) { return getValueOrCreateConstantIndexOp(b, loc, index); }

  OpBuilder &b;
  Location loc;
  Scatter scatter;
  linalg::GenericOp op;
  SmallVector<Range> ranges;
  SmallVector<Value> indices;
  SmallVector<unsigned> order;
};

/// True if the loops before `next` are all that the row's number depends on.
bool LoopWriter::rowIsKnown(unsigned next) {
  std::optional<llvm::SmallBitVector> loops = loopsBehind(op, scatter.row);
  if (!loops)
    return false;
  for (unsigned loop : ArrayRef(order).take_front(next))
    loops->reset(loop);
  return loops->none();
}

/// A number of the body, at the loops' indices.
Value LoopWriter::scalar(IRMapping &known, Value value) {
  if (Value found = known.lookupOrNull(value))
    return found;
  auto keep = [&](Value made) {
    known.map(value, made);
    return made;
  };
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBody()) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    if (!isa<RankedTensorType>(operand.get().getType()))
      return operand.get();
    SmallVector<Value> at;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<OpFoldResult> loops = llvm::map_to_vector(indices, [&](Value each) {
      return each ? OpFoldResult(each) : OpFoldResult(b.getIndexAttr(0));
    });
    for (AffineExpr expr : map.getResults())
      at.push_back(asValue(affine::makeComposedFoldedAffineApply(
          b, loc, AffineMap::get(map.getNumDims(), 0, expr), loops)));
    return keep(tensor::ExtractOp::create(b, loc, operand.get(), at));
  }
  Operation *by = value.getDefiningOp();
  if (!by || by->getBlock() != op.getBody())
    return value;
  if (auto index = dyn_cast<linalg::IndexOp>(by))
    return keep(indices[index.getDim()]);
  for (Value operand : by->getOperands())
    known.map(operand, scalar(known, operand));
  Operation *copy = b.clone(*by, known);
  return copy->getResult(cast<OpResult>(value).getResultNumber());
}

Value LoopWriter::combine(Value all) {
  IRMapping known;
  SmallVector<Value> at;
  for (AffineExpr expr : scatter.resultMap().getResults())
    at.push_back(indices[cast<AffineDimExpr>(expr).getPosition()]);
  Value after = scalar(known, scatter.update);
  if (scatter.combine) {
    Value before = tensor::ExtractOp::create(b, loc, all, at);
    OperationState state(loc, scatter.combine->getName(), {before, after}, {before.getType()},
                         scatter.combine->getAttrs());
    after = b.create(state)->getResult(0);
  }
  return tensor::InsertOp::create(b, loc, after, all, at);
}

/// Updates of a row, if it exists.
Value LoopWriter::writeRow(unsigned next, Value all) {
  IRMapping known;
  Value row = scalar(known, scatter.row);
  if (!row.getType().isIndex())
    row = arith::IndexCastOp::create(b, loc, b.getIndexType(), row);
  unsigned dim = *scatter.resultMap().getResultPosition(b.getAffineDimExpr(scatter.loop));
  Value size = asValue(tensor::getMixedSize(b, loc, all, dim));
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, size);
  auto branch = scf::IfOp::create(b, loc, all.getType(), exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, all);
  b.setInsertionPointToStart(branch.thenBlock());
  indices[scatter.loop] = row;
  Value after = writeLoops(next, all);
  indices[scatter.loop] = Value();
  scf::YieldOp::create(b, loc, after);
  return branch.getResult(0);
}

Value LoopWriter::writeLoops(unsigned next, Value all) {
  if (!indices[scatter.loop] && rowIsKnown(next))
    return writeRow(next, all);
  if (next == order.size())
    return combine(all);
  const Range &range = ranges[order[next]];
  auto loop = scf::ForOp::create(b, loc, asValue(range.offset), asValue(range.size),
                                 asValue(range.stride), all);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  indices[order[next]] = loop.getInductionVar();
  Value after = writeLoops(next + 1, loop.getRegionIterArg(0));
  scf::YieldOp::create(b, loc, after);
  return loop.getResult(0);
}

struct ScattersToLoops : xetile::impl::ScattersToLoopsBase<ScattersToLoops> {
  void runOnOperation() override {
    SmallVector<Scatter> found;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (std::optional<Scatter> scatter = Scatter::match(op))
        found.push_back(*scatter);
    });
    for (Scatter &scatter : found) {
      OpBuilder builder(scatter.op);
      scatter.op.getResult(0).replaceAllUsesWith(LoopWriter(builder, scatter).write());
      scatter.op.erase();
    }
  }
};

} // namespace
