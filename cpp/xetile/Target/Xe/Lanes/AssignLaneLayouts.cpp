//===- AssignLaneLayouts.cpp - which lane holds what of each vector ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules of XeGPU on a subgroup's vectors. Out: the same; each vector has its layout in
// xetile.lanes, and xetile.convert_lanes stands where layouts meet. Refused: dpas that the device
// has no instruction for, layouts of users that do not fit the value or contradict dpas.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/Xe/Lanes/LaneAssigner.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {
#define GEN_PASS_DEF_ASSIGNLANELAYOUTS
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using namespace xetile;

/// Bytes, if not elements, of the registers of a subgroup.
static constexpr int64_t maxElements = 1 << 16;

LogicalResult LaneAssigner::anchorDpas(xegpu::DpasOp op) {
  Result<DpasForm> form = dpasForm(op, target);
  if (!form)
    return op.emitOpError() << form.error().message;
  if (failed(checkDpasLayouts(op, *form, lanes)))
    return failure();
  set(op.getResult(), form->c);
  set(op.getLhs(), form->a);
  set(op.getRhs(), form->b);
  if (op.getAcc())
    set(op.getAcc(), form->c);
  forms.insert({op, *form});
  return success();
}

void LaneAssigner::anchorBlockRows(Operation *op) {
  auto anchor = [&](auto access, Value value) {
    auto vector = dyn_cast<VectorType>(value.getType());
    if (vector && access.getSubgroupBlockIo())
      set(value, mapOfBlockRows(access.getMemDesc().getType(), vector, lanes));
    else if (vector)
      set(value, mapOfBlockColumns(access.getMemDesc(), vector, lanes));
  };
  if (auto load = dyn_cast<xegpu::LoadMatrixOp>(op))
    anchor(load, load.getRes());
  else if (auto store = dyn_cast<xegpu::StoreMatrixOp>(op))
    anchor(store, store.getData());
}

LogicalResult LaneAssigner::applyUserLayout(Operation *op, Value value,
                                            xegpu::DistributeLayoutAttr layout) {
  if (!layout || !isVector(value) || layout.getEffectiveLaneLayoutAsInt().empty())
    return success();
  ArrayRef<int64_t> shape = shapeOf(value);
  Result<LaneMap> given = mapOfLayout(layout, shape, lanes);
  if (!given)
    return op->emitOpError() << given.error().message;
  // Registers are ours to number.
  if (!haveSameLanes(*given, LaneMap(get(value)), shape, lanes))
    layouts[value] = given->attr(module.getContext());
  return success();
}

LogicalResult LaneAssigner::applyUserLayouts() {
  for (Operation *op : ops) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case([&](xegpu::LoadNdOp load) {
              // A layout on the descriptor is that of memory's order.
              if (load.getTranspose() || load.getPacked().value_or(false) ||
                  load.getTensorDescType().getRank() != load.getType().getRank())
                return success();
              auto layout = load.getLayoutAttr();
              if (!layout)
                layout = dyn_cast_if_present<xegpu::DistributeLayoutAttr>(
                    load.getTensorDescType().getLayout());
              return applyUserLayout(op, load.getValue(), layout);
            })
            .Case([&](xegpu::LoadMatrixOp load) {
              return applyUserLayout(op, load.getRes(), load.getLayoutAttr());
            })
            .Case([&](xegpu::LoadGatherOp load) {
              return applyUserLayout(op, load.getValue(), load.getLayoutAttr());
            })
            .Case([&](xegpu::ConvertLayoutOp convert) {
              return applyUserLayout(op, convert.getResult(), convert.getTargetLayoutAttr());
            })
            .Default([](Operation *) { return success(); });
    if (failed(result))
      return failure();
    for (OpResult value : op->getResults())
      if (auto layout = op->getAttrOfType<xegpu::DistributeLayoutAttr>(
              "layout_result_" + std::to_string(value.getResultNumber())))
        if (failed(applyUserLayout(op, value, layout)))
          return failure();
  }
  return success();
}

void LaneAssigner::fixLoads() {
  for (Operation *op : ops) {
    auto load = dyn_cast<xegpu::LoadNdOp>(op);
    if (!load)
      continue;
    auto vector = cast<VectorType>(load.getType());
    // No message takes them, whatever the layout.
    if (isRowsOfElements(load.getTensorDesc(), vector))
      continue;
    MessageRequest request;
    request.vector = vector;
    request.tile = load.getTensorDescType();
    request.transpose = load.getTranspose().has_value();
    request.packed = load.getPacked().value_or(false);
    request.inDwords = feedsDpasB(load.getValue());
    request.lanes = get(load.getValue());
    if (planner.plan(request))
      continue;
    LaneMap natural = LaneMap::natural(vector.getShape(), lanes);
    request.lanes = natural.attr(module.getContext());
    if (planner.plan(request))
      layouts[load.getValue()] = request.lanes;
  }
}

/// Vectors that lanes cannot share, or that no registers hold.
static LogicalResult checkTypes(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto vector = dyn_cast<VectorType>(type);
    if (vector && vector.isScalable())
      return op->emitOpError("has a value of type ")
             << type << ", which lanes cannot share; expected vectors of a fixed size";
    if (!isa<VectorType, xegpu::TensorDescType>(type))
      continue;
    int64_t count = 1;
    for (int64_t size : cast<ShapedType>(type).getShape())
      if (llvm::MulOverflow(count, size, count) || count > maxElements)
        return op->emitOpError("has a value of type ")
               << type << ", expected at most " << maxElements
               << " elements: the registers of a subgroup hold no more";
  }
  return success();
}

void LaneAssigner::anchorCalls() {
  auto setAll = [&](ValueRange values) {
    for (Value value : values)
      if (isVector(value))
        setNatural(value);
  };
  for (Operation *op : ops) {
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      if (!function.isExternal())
        setAll(function.getArguments());
    if (isa<func::CallOp>(op))
      setAll(op->getResults());
  }
}

void LaneAssigner::anchorAccesses() {
  // Stored values first, then loaded ones; the rest follows.
  for (Operation *op : llvm::reverse(ops))
    if (auto store = dyn_cast<xegpu::StoreNdOp>(op)) {
      if (isRowsOfElements(store.getTensorDesc(), cast<VectorType>(store.getValue().getType())))
        setRows(store.getValue());
      setBlock(store.getValue());
      propagate();
    }
  for (Operation *op : ops)
    if (auto load = dyn_cast<xegpu::LoadGatherOp>(op)) {
      setNeighbours(load);
      propagate();
    }
  for (Operation *op : ops) {
    SmallVector<Value> values;
    if (isa<xegpu::LoadNdOp, xegpu::LoadMatrixOp>(op))
      llvm::append_range(values, op->getResults());
    else if (isa<xegpu::LoadGatherOp, xegpu::StoreScatterOp, xegpu::PrefetchOp, xegpu::AtomicRMWOp>(
                 op))
      llvm::append_range(values, op->getOperands());
    for (Value value : values)
      if (isVector(value)) {
        isa<xegpu::LoadNdOp>(op) ? setBlock(value) : setNatural(value);
        propagate();
      }
  }
}

void LaneAssigner::fillRest(bool isFree) {
  auto fill = [&](Value value) {
    if (!isVector(value))
      return;
    setNatural(value);
    propagate();
  };
  for (Operation *op : ops) {
    if ((op->getNumResults() == 1 && free.contains(op->getResult(0))) != isFree)
      continue;
    llvm::for_each(op->getResults(), fill);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), fill);
  }
}

LogicalResult LaneAssigner::run() {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(checkTypes(op)))
      return failure();
  anchorCalls();
  for (Operation *op : ops)
    if (auto dpas = dyn_cast<xegpu::DpasOp>(op))
      if (failed(anchorDpas(dpas)))
        return failure();
  llvm::for_each(ops, [&](Operation *op) { anchorBlockRows(op); });
  propagate();
  anchorAccesses();
  fillRest(/*isFree=*/false);
  fillRest(/*isFree=*/true);
  fixLoads();
  if (failed(applyUserLayouts()))
    return failure();
  insertConversions();
  free.eraseUnused();
  annotateLanes(module, layouts);
  return success();
}

namespace {
struct AssignLaneLayouts : xetile::impl::AssignLaneLayoutsBase<AssignLaneLayouts> {
  using AssignLaneLayoutsBase::AssignLaneLayoutsBase;

  void runOnOperation() override {
    const TargetInfo *target = findTarget(getOperation(), /*mayLackCode=*/true);
    if (!target || failed(LaneAssigner(getOperation(), *target).run()))
      signalPassFailure();
  }
};

} // namespace
