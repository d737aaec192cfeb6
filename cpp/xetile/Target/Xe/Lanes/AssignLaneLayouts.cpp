//===- AssignLaneLayouts.cpp - which lane holds what of each vector ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules of XeGPU on a subgroup's vectors. Out: the same; each vector has its layout in
// xetile.lanes, and xetile.convert_lanes stands where layouts meet. Refused: dpas that the device
// has no instruction for, layouts of users that do not fit the value or contradict dpas.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "xetile/IR/XeTileOps.h"
#include "xetile/Target/Xe/Lanes/FreeValues.h"
#include "xetile/Target/Xe/Lanes/LaneMessages.h"
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

namespace {

/// Bytes, if not elements, of the registers of a subgroup.
constexpr int64_t maxElements = 1 << 16;

bool isVector(Value value) { return isa<VectorType>(value.getType()); }

class Assigner {
public:
  Assigner(gpu::GPUModuleOp module, const TargetInfo &target)
      : module(module), target(target), lanes(target.subgroupSize), planner(target),
        free(layouts, lanes) {}

  LogicalResult run();

private:
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<VectorType>(value.getType()).getShape();
  }
  bool has(Value value) const { return layouts.contains(value); }
  LaneLayoutAttr get(Value value) const { return layouts.lookup(value); }

  /// Gives a value its layout, if it has none and `map` fits it.
  void set(Value value, const std::optional<LaneMap> &map);
  void set(Value value, LaneLayoutAttr attr);
  /// Follows what was set through operations until nothing is new.
  void propagate();
  void propagateThrough(Operation *op);
  /// The first of `values` that has a layout gives it to the others; one that is made again for
  /// each user only takes it.
  void tie(ArrayRef<Value> values);
  void setNatural(Value value) { set(value, LaneMap::natural(shapeOf(value), lanes)); }
  /// Of what a block access moves: of a row of narrow elements 32 bits to a lane, as the RFC has
  /// it.
  void setBlock(Value value);

  LogicalResult anchorDpas(xegpu::DpasOp op);
  LogicalResult applyUserLayouts();
  LogicalResult applyUserLayout(Operation *op, Value value, xegpu::DistributeLayoutAttr layout);
  /// A load whose layout no message brings gets the one that messages bring best.
  void fixLoads();
  void insertConversions();
  void convertOperand(OpOperand &operand, LaneLayoutAttr wanted);

  gpu::GPUModuleOp module;
  const TargetInfo &target;
  unsigned lanes;
  MessagePlanner planner;
  DenseMap<Value, LaneLayoutAttr> layouts;
  FreeValues free;
  SmallVector<Value> worklist;
  SmallVector<Operation *> ops;
  DenseMap<Operation *, DpasForm> forms;
};

void Assigner::set(Value value, LaneLayoutAttr attr) {
  if (layouts.try_emplace(value, attr).second)
    worklist.push_back(value);
}

void Assigner::set(Value value, const std::optional<LaneMap> &map) {
  if (map && isVector(value) && !has(value) && map->fits(shapeOf(value)))
    set(value, map->attr(module.getContext()));
}

void Assigner::setBlock(Value value) {
  auto type = cast<VectorType>(value.getType());
  unsigned bits = type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 32;
  if (type.getRank() == 1 && (bits == 8 || bits == 16) &&
      type.getDimSize(0) % (int64_t(lanes) * (32 / bits)) == 0) {
    LaneMap row;
    int64_t step = 1;
    for (; step < 32 / int64_t(bits); step *= 2)
      row.registers.push_back({step});
    for (unsigned lane = 1; lane < lanes; lane *= 2, step *= 2)
      row.lanes.push_back({step});
    row.block = {step};
    set(value, row);
  }
  setNatural(value);
}

void Assigner::tie(ArrayRef<Value> values) {
  for (Value value : values)
    if (isVector(value) && has(value) && !free.contains(value)) {
      LaneLayoutAttr attr = get(value);
      for (Value other : values)
        if (isVector(other) && shapeOf(other) == shapeOf(value))
          set(other, attr);
      return;
    }
}

void Assigner::propagateThrough(Operation *op) {
  if (op->getNumResults() == 1 && free.contains(op->getResult(0))) {
    Value result = op->getResult(0);
    for (OpOperand &operand : op->getOpOperands())
      if (has(result) && isVector(operand.get()))
        set(operand.get(),
            isElementwise(op) ? LaneMap(get(result))
                              : mapOfOperand(op, operand.getOperandNumber(), LaneMap(get(result))));
    return;
  }
  if (isElementwise(op)) {
    SmallVector<Value> tied(op->getResults());
    llvm::append_range(tied, op->getOperands());
    tie(tied);
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [result, init, argument, yielded] :
         llvm::zip_equal(loop.getResults(), loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues()))
      tie({argument, result, yielded, init});
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() == 0)
      return;
    for (auto [result, yes, no] :
         llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(),
                         branch.elseYield().getOperands()))
      tie({result, yes, no});
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument, yielded] : llvm::zip_equal(
             loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
      tie({argument, yielded, init});
    for (auto [result, argument, passed] : llvm::zip_equal(
             loop.getResults(), loop.getAfterArguments(), loop.getConditionOp().getArgs()))
      tie({result, argument, passed});
    return;
  }
  auto chunked = [&](Value offsets, Value mask, Value value) {
    if (!isVector(value) || !isVector(mask))
      return;
    if (shapeOf(value) == shapeOf(mask)) {
      tie({value, mask, offsets && isVector(offsets) ? offsets : mask});
      return;
    }
    // A chunk of each lane lies in its registers.
    tie({mask, offsets && isVector(offsets) ? offsets : mask});
    unsigned rank = shapeOf(value).size();
    if (has(mask) && !has(value)) {
      LaneMap map(get(mask));
      map.block.push_back(1);
      for (LaneMap::Steps *steps : {&map.registers, &map.lanes})
        for (LaneMap::Shape &step : *steps)
          step.push_back(0);
      int64_t chunk = shapeOf(value).back(), side = chunk & -chunk;
      for (int64_t at = side / 2; at >= 1; at /= 2) {
        LaneMap::Shape step(rank, 0);
        step.back() = at;
        map.registers.insert(map.registers.begin(), step);
      }
      map.block.back() = side;
      set(value, map);
    }
  };
  if (auto load = dyn_cast<xegpu::LoadGatherOp>(op))
    return chunked(load.getOffsets(), load.getMask(), load.getValue());
  if (auto store = dyn_cast<xegpu::StoreScatterOp>(op))
    return chunked(store.getOffsets(), store.getMask(), store.getValue());
  if (auto atomic = dyn_cast<xegpu::AtomicRMWOp>(op))
    return tie({atomic.getMask(), atomic.getValue(), atomic.getResult()});
  if (isa<xegpu::UpdateOffsetOp>(op))
    return;
  if (op->getNumResults() == 0 || !isStructural(op) ||
      isa<xegpu::ConvertLayoutOp, ConvertLanesOp, vector::ReductionOp, vector::ToElementsOp>(op))
    return;
  for (Value result : op->getResults())
    if (isVector(result) && has(result))
      for (OpOperand &operand : op->getOpOperands())
        if (isVector(operand.get()) && !has(operand.get()))
          set(operand.get(), mapOfOperand(op, operand.getOperandNumber(), LaneMap(get(result))));
  for (Value result : op->getResults())
    if (isVector(result) && !has(result))
      for (OpOperand &operand : op->getOpOperands())
        if (isVector(operand.get()) && has(operand.get()))
          set(result, mapOfResult(op, operand.getOperandNumber(), LaneMap(get(operand.get()))));
}

void Assigner::propagate() {
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (Operation *op = value.getDefiningOp())
      propagateThrough(op);
    else
      propagateThrough(value.getParentBlock()->getParentOp());
    for (Operation *user : value.getUsers()) {
      propagateThrough(user);
      if (user->hasTrait<OpTrait::IsTerminator>())
        propagateThrough(user->getParentOp());
    }
  }
}

LogicalResult Assigner::anchorDpas(xegpu::DpasOp op) {
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

LogicalResult Assigner::applyUserLayout(Operation *op, Value value,
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

LogicalResult Assigner::applyUserLayouts() {
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

void Assigner::fixLoads() {
  for (Operation *op : ops) {
    auto load = dyn_cast<xegpu::LoadNdOp>(op);
    if (!load)
      continue;
    auto vector = cast<VectorType>(load.getType());
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

void Assigner::convertOperand(OpOperand &operand, LaneLayoutAttr wanted) {
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

void Assigner::insertConversions() {
  for (Operation *op : ops) {
    auto convertTo = [&](OpOperand &operand, Value like) {
      if (isVector(operand.get()))
        convertOperand(operand, get(like));
    };
    if (isElementwise(op)) {
      for (OpOperand &operand : op->getOpOperands())
        convertTo(operand, op->getResult(0));
    } else if (auto dpas = dyn_cast<xegpu::DpasOp>(op)) {
      const DpasForm &form = forms.find(op)->second;
      MLIRContext *context = op->getContext();
      convertOperand(dpas.getLhsMutable(), form.a.attr(context));
      convertOperand(dpas.getRhsMutable(), form.b.attr(context));
      if (dpas.getAcc())
        convertOperand(dpas.getAccMutable()[0], form.c.attr(context));
      layouts[dpas.getResult()] = form.c.attr(context);
    } else if (auto store = dyn_cast<xegpu::StoreNdOp>(op)) {
      // To lanes that a message stores, if there are such.
      MessageRequest request;
      request.vector = cast<VectorType>(store.getValue().getType());
      request.tile = store.getTensorDescType();
      request.access = BlockAccess::Store;
      request.lanes = get(store.getValue());
      if (!planner.plan(request)) {
        request.lanes = LaneMap::natural(request.vector.getShape(), lanes).attr(op->getContext());
        if (planner.plan(request))
          convertOperand(store.getValueMutable(), request.lanes);
      }
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument, yielded, result] :
           llvm::zip_equal(loop.getInitArgsMutable(), loop.getRegionIterArgs(),
                           *loop.getYieldedValuesMutable(), loop.getResults()))
        if (isVector(argument)) {
          layouts[result] = get(argument);
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
        if (isVector(argument)) {
          layouts[loop.getResult(number)] = get(argument);
          convertTo(loop.getConditionOp()->getOpOperand(number + 1), argument);
        }
    } else if (isa<xegpu::StoreScatterOp, xegpu::LoadGatherOp, xegpu::PrefetchOp,
                   xegpu::AtomicRMWOp>(op)) {
      // One layout for offsets and mask: that of the value, if these are free and it has no chunks
      // (the chunk's registers are its own).
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
        bool isMask =
            isVector(value) && (cast<VectorType>(value.getType()).getElementType().isInteger(1) ||
                                cast<VectorType>(value.getType()).getElementType().isIndex());
        if (!isMask)
          continue;
        if (!like)
          like = value;
        convertTo(operand, like);
      }
      if (auto atomic = dyn_cast<xegpu::AtomicRMWOp>(op)) {
        convertTo(atomic.getValueMutable(), atomic.getMask());
        layouts[atomic.getResult()] = get(atomic.getMask());
      }
    } else if (isa<func::CallOp, func::ReturnOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (isVector(operand.get()))
          convertOperand(operand,
                         LaneMap::natural(shapeOf(operand.get()), lanes).attr(op->getContext()));
    }
  }
}

LogicalResult Assigner::run() {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  auto refuse = [](Operation *op, VectorType type) {
    return op->emitOpError("has a value of type ")
           << type << ", which lanes cannot share; expected vectors of a fixed size";
  };
  for (Operation *op : ops)
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
      auto vector = dyn_cast<VectorType>(type);
      if (vector && vector.isScalable())
        return refuse(op, vector);
      if (!isa<VectorType, xegpu::TensorDescType>(type))
        continue;
      int64_t count = 1;
      for (int64_t size : cast<ShapedType>(type).getShape())
        if (llvm::MulOverflow(count, size, count) || count > maxElements)
          return op->emitOpError("has a value of type ")
                 << type << ", expected at most " << maxElements
                 << " elements: the registers of a subgroup hold no more";
    }

  // Functions agree with their callers without looking at each other.
  for (Operation *op : ops) {
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      if (!function.isExternal())
        for (Value argument : function.getArguments())
          if (isVector(argument))
            setNatural(argument);
    if (isa<func::CallOp>(op))
      for (Value result : op->getResults())
        if (isVector(result))
          setNatural(result);
  }
  for (Operation *op : ops)
    if (auto dpas = dyn_cast<xegpu::DpasOp>(op))
      if (failed(anchorDpas(dpas)))
        return failure();
  propagate();
  // What a message stores, then what is there to be loaded; the rest follows.
  for (Operation *op : llvm::reverse(ops))
    if (auto store = dyn_cast<xegpu::StoreNdOp>(op)) {
      setBlock(store.getValue());
      propagate();
    }
  for (Operation *op : ops) {
    bool anchors = isa<xegpu::LoadNdOp, xegpu::LoadMatrixOp>(op);
    SmallVector<Value> values;
    if (anchors)
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
  auto fill = [&](bool isFree) {
    for (Operation *op : ops) {
      if ((op->getNumResults() == 1 && free.contains(op->getResult(0))) != isFree)
        continue;
      for (Value result : op->getResults())
        if (isVector(result)) {
          setNatural(result);
          propagate();
        }
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            if (isVector(argument)) {
              setNatural(argument);
              propagate();
            }
    }
  };
  fill(/*isFree=*/false);
  fill(/*isFree=*/true);
  fixLoads();
  if (failed(applyUserLayouts()))
    return failure();
  insertConversions();
  free.eraseUnused();
  annotateLanes(module, layouts);
  return success();
}

struct AssignLaneLayouts : xetile::impl::AssignLaneLayoutsBase<AssignLaneLayouts> {
  using AssignLaneLayoutsBase::AssignLaneLayoutsBase;

  void runOnOperation() override {
    const TargetInfo *target = findTarget(getOperation(), /*mayLackCode=*/true);
    if (!target || failed(Assigner(getOperation(), *target).run()))
      signalPassFailure();
  }
};

} // namespace
