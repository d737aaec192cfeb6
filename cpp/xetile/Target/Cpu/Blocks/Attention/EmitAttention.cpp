//===- EmitAttention.cpp - attention as loops over heads and rows -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: ops of an attention on tensors, their plan. Out: scf.forall over heads and parts of the rows,
// scf.for over blocks of rows, the ops on matrices of one head in them. Nothing is refused: the
// plan is legal.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Blocks/Attention/EmitAttention.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xetile/IR/XeTileAttrs.h"
#include "xetile/Linalg/Attention/AttentionOps.h"
#include "xetile/Linalg/TileLoops.h"
#include "xetile/Target/Cpu/Blocks/Rows/RowPlan.h"
#include "xetile/Target/Cpu/Matmul/Config/Request.h"

using namespace mlir;
using namespace xetile;

namespace {
class Emitter {
public:
  Emitter(RewriterBase &b, AttentionPlan &plan)
      : b(b), plan(plan), loc(plan.output.getLoc()), zero(b.getIndexAttr(0)) {}

  void emit();

private:
  Value emitPart(Value part, Index length);
  Value emitBlock(Value into, Index row);
  void emitOp(linalg::GenericOp op, Value into = {});
  Value sliceOf(linalg::GenericOp op, OpOperand *operand, AffineMap map);
  Value initOf(linalg::GenericOp op, AffineMap map);
  Value emptyOf(linalg::GenericOp op, AffineMap map, Type element);
  Value reusable(linalg::GenericOp op);

  SmallVector<unsigned> headLoops(Operation *op);
  Index sizeOf(AttentionPlan::Loop loop);
  Index offsetOf(AttentionPlan::Loop loop);
  AffineMap withoutHeads(linalg::GenericOp op, AffineMap map);

  RewriterBase &b;
  AttentionPlan &plan;
  Location loc;
  Index zero;
  /// Where the body is: a head, and the first row of a block.
  SmallVector<Index> head;
  Index firstRow;
  /// Before the loop over blocks, where a head's own work and slices go; null without one.
  Operation *rowLoop = nullptr;
  DenseMap<Value, Value> tiles;
};
} // namespace

SmallVector<unsigned> Emitter::headLoops(Operation *op) {
  SmallVector<unsigned> found;
  for (auto [number, loop] : llvm::enumerate(plan.loops[op]))
    if (loop.dim == AttentionDim::Head)
      found.push_back(number);
  return found;
}

Index Emitter::sizeOf(AttentionPlan::Loop loop) {
  switch (loop.dim) {
  case AttentionDim::Head:
    return b.getIndexAttr(1);
  case AttentionDim::Row:
    return b.getIndexAttr(plan.blockRows);
  case AttentionDim::Key:
    return b.getIndexAttr(plan.keys);
  case AttentionDim::Inner:
    return b.getIndexAttr(plan.inner);
  case AttentionDim::Value:
    break;
  }
  return b.getIndexAttr(plan.values);
}

Index Emitter::offsetOf(AttentionPlan::Loop loop) {
  return loop.dim == AttentionDim::Head  ? head[loop.head]
         : loop.dim == AttentionDim::Row ? firstRow
                                         : zero;
}

/// `map`, of `op`, by the loops that are left of it.
AffineMap Emitter::withoutHeads(linalg::GenericOp op, AffineMap map) {
  SmallVector<AffineExpr> places(map.getNumDims(), b.getAffineConstantExpr(0)), results;
  SmallVector<unsigned> dropped = headLoops(op);
  unsigned left = 0;
  for (unsigned loop : llvm::seq(map.getNumDims()))
    if (!llvm::is_contained(dropped, loop))
      places[loop] = b.getAffineDimExpr(left++);
  for (AffineExpr expr : map.getResults())
    if (!llvm::is_contained(dropped, cast<AffineDimExpr>(expr).getPosition()))
      results.push_back(expr.replaceDims(places));
  return AffineMap::get(left, 0, results, b.getContext());
}

Value Emitter::emptyOf(linalg::GenericOp op, AffineMap map, Type element) {
  SmallVector<int64_t> shape;
  for (AffineExpr expr : map.getResults()) {
    AttentionPlan::Loop loop = plan.loops[op][cast<AffineDimExpr>(expr).getPosition()];
    if (loop.dim != AttentionDim::Head)
      shape.push_back(*getConstantIntValue(sizeOf(loop)));
  }
  return tensor::EmptyOp::create(b, loc, shape, element);
}

/// The slice of an operand that `op` reads in this block.
Value Emitter::sliceOf(linalg::GenericOp op, OpOperand *operand, AffineMap map) {
  Value value = operand->get();
  if (!isa<RankedTensorType>(value.getType()))
    return value;
  if (Value tile = tiles.lookup(value))
    return tile;
  if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
    Value empty = emptyOf(op, map, getElementTypeOrSelf(value.getType()));
    return linalg::FillOp::create(b, loc, fill.getInputs(), ValueRange(empty)).getResult(0);
  }
  SmallVector<Index> offsets, sizes;
  bool hasRows = false;
  for (auto [number, loop] : llvm::enumerate(plan.loops[op])) {
    hasRows |= loop.dim == AttentionDim::Row && map.isFunctionOfDim(number);
    offsets.push_back(offsetOf(loop));
    sizes.push_back(sizeOf(loop));
  }
  OpBuilder::InsertionGuard guard(b);
  if (rowLoop && !hasRows)
    b.setInsertionPoint(rowLoop);
  return extractTile(b, loc, value, map, offsets, sizes, headLoops(op));
}

/// Memory of an input that `op` reads last, element by element, and none else behind it.
Value Emitter::reusable(linalg::GenericOp op) {
  OpOperand *init = op.getDpsInitOperand(0);
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto producer = input->get().getDefiningOp<linalg::GenericOp>();
    if (!producer || !plan.loops.contains(producer) || plan.hasRows(producer) != plan.hasRows(op) ||
        getElementTypeOrSelf(input->get().getType()) !=
            getElementTypeOrSelf(init->get().getType()) ||
        op.getMatchingIndexingMap(input) != op.getMatchingIndexingMap(init))
      continue;
    // The epilogue of a matmul is fused to its tiles.
    if (isContraction(producer) && input->get().hasOneUse())
      continue;
    if (llvm::all_of(input->get().getUses(), [&](OpOperand &use) {
          return use.getOwner()->isBeforeInBlock(op) || &use == input;
        }))
      return tiles.lookup(input->get());
  }
  return {};
}

Value Emitter::initOf(linalg::GenericOp op, AffineMap map) {
  OpOperand *init = op.getDpsInitOperand(0);
  if (op.payloadUsesValueFromOperand(init))
    return sliceOf(op, init, map);
  if (op.getNumReductionLoops() == 0)
    if (Value memory = reusable(op))
      return memory;
  return emptyOf(op, map, getElementTypeOrSelf(init->get().getType()));
}

/// `op` on the matrices of a head; the result goes to `into`, if that is given.
void Emitter::emitOp(linalg::GenericOp op, Value into) {
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    inputs.push_back(sliceOf(op, input, map));
    maps.push_back(withoutHeads(op, map));
  }
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  maps.push_back(withoutHeads(op, written));
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (into && fill) {
    into = linalg::FillOp::create(b, loc, fill.getInputs(), ValueRange(into)).getResult(0);
  } else if (!into) {
    into = initOf(op, written);
  }
  SmallVector<utils::IteratorType> kinds;
  for (auto [kind, loop] : llvm::zip_equal(op.getIteratorTypesArray(), plan.loops[op]))
    if (loop.dim != AttentionDim::Head)
      kinds.push_back(kind);
  auto tile = linalg::GenericOp::create(b, op.getLoc(), TypeRange(into.getType()), inputs,
                                        ValueRange(into), maps, kinds);
  IRMapping mapping;
  op.getRegion().cloneInto(&tile.getRegion(), mapping);
  tiles[op->getResult(0)] = tile.getResult(0);
  if (op != plan.scores && op != plan.output)
    return;
  // Threads share heads and parts; keys and values are packed for all blocks of theirs.
  PartialConfig config;
  config.threads = {1, 1, 1};
  tile->setAttr(kConfigAttr, MatmulConfigAttr::get(b.getContext(), config));
  if (rowLoop)
    tile->setAttr(kPackBeforeLoopAttr, b.getUnitAttr());
}

/// All ops of rows on the block from `row` of the part, whose result goes to its place in `into`.
Value Emitter::emitBlock(Value into, Index row) {
  for (linalg::GenericOp op : plan.ops)
    if (plan.hasRows(op) && op != plan.last)
      emitOp(op);
  AffineMap written = plan.last.getMatchingIndexingMap(plan.last.getDpsInitOperand(0));
  AffineMap map = withoutHeads(plan.last, written);
  SmallVector<Index> offsets, sizes;
  for (AttentionPlan::Loop loop : plan.loops[plan.last]) {
    if (loop.dim == AttentionDim::Head)
      continue;
    offsets.push_back(loop.dim == AttentionDim::Row ? row : zero);
    sizes.push_back(sizeOf(loop));
  }
  emitOp(plan.last, extractTile(b, loc, into, map, offsets, sizes));
  return insertTile(b, loc, tiles[plan.last->getResult(0)], into, map, offsets, sizes);
}

/// All blocks of a part of `length` rows.
Value Emitter::emitPart(Value part, Index length) {
  for (linalg::GenericOp op : plan.ops)
    if (!plan.hasRows(op))
      emitOp(op);
  Index partRow = firstRow;
  if (getConstantIntValue(length) == plan.blockRows)
    return emitBlock(part, zero);
  Value blocks = asValue(b, loc, ceilDivIndex(b, loc, length, plan.blockRows));
  Value first = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, first, blocks, one, ValueRange(part));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  rowLoop = loop;
  // The last block begins earlier where rows are left: each has as many.
  Index row = mulIndex(b, loc, loop.getInductionVar(), plan.blockRows);
  row = minIndex(b, loc, row, subIndex(b, loc, length, b.getIndexAttr(plan.blockRows)));
  firstRow = addIndex(b, loc, partRow, row);
  scf::YieldOp::create(b, loc, emitBlock(loop.getRegionIterArgs()[0], row));
  return loop.getResult(0);
}

void Emitter::emit() {
  linalg::GenericOp last = plan.last;
  b.setInsertionPoint(last);
  auto type = cast<RankedTensorType>(last->getResult(0).getType());
  Value all = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<Index> bounds;
  for (int64_t count : plan.heads)
    bounds.push_back(b.getIndexAttr(count));
  bounds.push_back(b.getIndexAttr(plan.parts));
  auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(all), std::nullopt);
  forall->setAttr(kRowsAttr, b.getUnitAttr());
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<Value> ids = forall.getInductionVars();
  for (Value id : ArrayRef(ids).drop_back())
    head.push_back(id);
  Index length = b.getIndexAttr(plan.rows);
  firstRow = zero;
  if (plan.parts > 1) {
    firstRow = mulIndex(b, loc, ids.back(), plan.partRows);
    length = b.getIndexAttr(plan.partRows);
    if (plan.rows % plan.partRows != 0)
      length = minIndex(b, loc, length, subIndex(b, loc, b.getIndexAttr(plan.rows), firstRow));
  }
  AffineMap written = last.getMatchingIndexingMap(last.getDpsInitOperand(0));
  SmallVector<Index> offsets, sizes, at, extent;
  for (AttentionPlan::Loop loop : plan.loops[last]) {
    offsets.push_back(offsetOf(loop));
    sizes.push_back(loop.dim == AttentionDim::Row ? length : sizeOf(loop));
  }
  Value shared = forall.getRegionIterArgs()[0];
  Value part = extractTile(b, loc, shared, written, offsets, sizes, headLoops(last));
  part = emitPart(part, length);
  for (AffineExpr expr : written.getResults()) {
    at.push_back(offsets[cast<AffineDimExpr>(expr).getPosition()]);
    extent.push_back(sizes[cast<AffineDimExpr>(expr).getPosition()]);
  }
  SmallVector<Index> strides(at.size(), b.getIndexAttr(1));
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(b, loc, part, shared, at, extent, strides);
  b.replaceOp(last, forall.getResult(0));
  for (linalg::GenericOp op : llvm::reverse(plan.ops))
    if (op != last)
      b.eraseOp(op);
}

void xetile::emitAttention(RewriterBase &rewriter, AttentionPlan &plan) {
  Block *block = plan.output->getBlock();
  Emitter(rewriter, plan).emit();
  // Fills and memory of whole tensors.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}
