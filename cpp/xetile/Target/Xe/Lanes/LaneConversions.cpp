//===- LaneConversions.cpp - where layouts meet -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: vectors with layouts. Out: conversions before operations that want operands in other lanes.
// Refused: nothing.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/Xe/Lanes/LaneAssigner.h"

using namespace mlir;
using namespace xetile;

void LaneAssigner::convertOperand(OpOperand &operand, LaneLayoutAttr wanted) {
  Value value = operand.get();
  if (!isVector(value) || get(value) == wanted)
    return;
  if (free.contains(value))
    return operand.set(free.make(value, wanted));
  OpBuilder builder(operand.getOwner());
  Value converted =
      ConvertLanesOp::create(builder, operand.getOwner()->getLoc(), value.getType(), value);
  layouts[converted] = wanted;
  operand.set(converted);
}

void LaneAssigner::convertTo(OpOperand &operand, Value like) {
  if (isVector(operand.get()))
    convertOperand(operand, get(like));
}

void LaneAssigner::convertToNatural(OpOperand &operand) {
  if (isVector(operand.get()))
    convertOperand(operand,
                   LaneMap::natural(shapeOf(operand.get()), lanes).attr(module.getContext()));
}

/// To the instruction's lanes.
void LaneAssigner::convertOperands(xegpu::DpasOp op) {
  const DpasForm &form = forms.find(op)->second;
  MLIRContext *context = op->getContext();
  convertOperand(op.getLhsMutable(), form.a.attr(context));
  convertOperand(op.getRhsMutable(), form.b.attr(context));
  if (op.getAcc())
    convertOperand(op.getAccMutable()[0], form.c.attr(context));
  layouts[op.getResult()] = form.c.attr(context);
}

/// To lanes that a message stores, if there are such.
void LaneAssigner::convertOperands(xegpu::StoreNdOp op) {
  MessageRequest request;
  request.vector = cast<VectorType>(op.getValue().getType());
  if (isRowsOfElements(op.getTensorDesc(), request.vector))
    return;
  request.tile = op.getTensorDescType();
  request.access = BlockAccess::Store;
  request.lanes = get(op.getValue());
  if (planner.plan(request))
    return;
  request.lanes = LaneMap::natural(request.vector.getShape(), lanes).attr(op->getContext());
  if (planner.plan(request))
    convertOperand(op.getValueMutable(), request.lanes);
}

/// To the lanes of rows, where it is stored by blocks, or of columns.
void LaneAssigner::convertOperands(xegpu::StoreMatrixOp op) {
  auto vector = dyn_cast<VectorType>(op.getData().getType());
  if (!vector)
    return;
  if (std::optional<LaneMap> words = op.getSubgroupBlockIo()
                                         ? mapOfBlockRows(op.getMemDesc().getType(), vector, lanes)
                                         : mapOfBlockColumns(op.getMemDesc(), vector, lanes))
    convertOperand(op.getDataMutable(), words->attr(op->getContext()));
}

/// Results of a loop have the lanes of what it carries.
void LaneAssigner::carryLayouts(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [argument, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
      if (isVector(argument))
        layouts[result] = get(argument);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults()))
      if (isVector(argument))
        layouts[result] = get(argument);
  }
}

/// Values that regions carry, to the lanes of their arguments or results.
void LaneAssigner::convertCarried(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, yielded] : llvm::zip_equal(
             loop.getInitArgsMutable(), loop.getRegionIterArgs(), *loop.getYieldedValuesMutable()))
      if (isVector(argument)) {
        convertTo(init, argument);
        convertTo(yielded, argument);
      }
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (OpResult result : branch.getResults())
      if (isVector(result)) {
        convertTo(branch.thenYield()->getOpOperand(result.getResultNumber()), result);
        convertTo(branch.elseYield()->getOpOperand(result.getResultNumber()), result);
      }
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [number, argument] : llvm::enumerate(loop.getBeforeArguments()))
      if (isVector(argument)) {
        convertTo(loop->getOpOperand(number), argument);
        convertTo(loop.getYieldOp()->getOpOperand(number), argument);
      }
    for (auto [number, argument] : llvm::enumerate(loop.getAfterArguments()))
      if (isVector(argument))
        convertTo(loop.getConditionOp()->getOpOperand(number + 1), argument);
  }
}

/// One layout for offsets and mask: that of the value, if these are free and it has no chunks (the
/// chunk's registers are its own).
void LaneAssigner::convertScattered(Operation *op) {
  Value like;
  auto load = dyn_cast<xegpu::LoadGatherOp>(op);
  auto store = dyn_cast<xegpu::StoreScatterOp>(op);
  Value moved = load ? load.getValue() : store ? store.getValue() : Value();
  Value mask = load ? load.getMask() : store ? store.getMask() : Value();
  Value offsets = load ? load.getOffsets() : store ? store.getOffsets() : Value();
  if (moved && isVector(moved) && isVector(mask) && shapeOf(moved) == shapeOf(mask) &&
      (!offsets || free.contains(offsets)))
    like = moved;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isVector(value))
      continue;
    Type element = cast<VectorType>(value.getType()).getElementType();
    if (!element.isInteger(1) && !element.isIndex())
      continue;
    if (!like)
      like = value;
    convertTo(operand, like);
  }
  if (auto atomic = dyn_cast<xegpu::AtomicRMWOp>(op)) {
    convertTo(atomic.getValueMutable(), atomic.getMask());
    layouts[atomic.getResult()] = get(atomic.getMask());
  }
}

void LaneAssigner::insertConversions() {
  // A loop comes before those in it, whose results it yields.
  for (Operation *op : ops)
    carryLayouts(op);
  for (Operation *op : ops) {
    if (isElementwise(op)) {
      for (OpOperand &operand : op->getOpOperands())
        convertTo(operand, op->getResult(0));
    } else if (auto dpas = dyn_cast<xegpu::DpasOp>(op)) {
      convertOperands(dpas);
    } else if (auto store = dyn_cast<xegpu::StoreNdOp>(op)) {
      convertOperands(store);
    } else if (auto store = dyn_cast<xegpu::StoreMatrixOp>(op)) {
      convertOperands(store);
    } else if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      convertCarried(op);
    } else if (isa<xegpu::StoreScatterOp, xegpu::LoadGatherOp, xegpu::PrefetchOp,
                   xegpu::AtomicRMWOp>(op)) {
      convertScattered(op);
    } else if (isa<func::CallOp, func::ReturnOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        convertToNatural(operand);
    }
  }
}
