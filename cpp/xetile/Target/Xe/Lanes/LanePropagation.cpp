//===- LanePropagation.cpp - layouts follow operations ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: layouts of some vectors. Out: those of the vectors that operations tie to them. Refused:
// nothing.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "xetile/Target/Xe/Lanes/LaneAssigner.h"
#include "xetile/Target/Xe/Lanes/LinearOffsets.h"

using namespace mlir;
using namespace xetile;

void LaneAssigner::set(Value value, LaneLayoutAttr attr) {
  if (layouts.try_emplace(value, attr).second)
    worklist.push_back(value);
}

void LaneAssigner::set(Value value, const std::optional<LaneMap> &map) {
  if (map && isVector(value) && !has(value) && map->fits(shapeOf(value)))
    set(value, map->attr(module.getContext()));
}

void LaneAssigner::setBlock(Value value) {
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

bool LaneAssigner::isRowsOfElements(Value descriptor, VectorType vector) const {
  constexpr int64_t kPitchMultiple = 16;
  auto tile = cast<xegpu::TensorDescType>(descriptor.getType());
  auto init = descriptor.getDefiningOp<xegpu::CreateNdDescOp>();
  if (!init || tile.isScattered() || tile.getBoundaryCheck() || vector.getRank() != 2 ||
      tile.getShape() != vector.getShape())
    return false;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  auto memref = dyn_cast<MemRefType>(init.getSource().getType());
  if (!memref || memref.getRank() != 2 || failed(memref.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(strides[0]))
    return false;
  return strides[0] * memoryBits(vector.getElementType()) / 8 % kPitchMultiple != 0;
}

void LaneAssigner::setRows(Value value, int64_t neighbours) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape[1] % (neighbours * int64_t(lanes)) != 0)
    return;
  LaneMap map;
  for (int64_t step = 1; step < neighbours; step *= 2)
    map.registers.push_back({0, step});
  int64_t rows = shape[0] & -shape[0];
  for (int64_t step = 1; step < rows; step *= 2)
    map.registers.push_back({step, 0});
  for (int64_t lane = 1; lane < int64_t(lanes); lane *= 2)
    map.lanes.push_back({0, lane * neighbours});
  map.block = {rows, neighbours * int64_t(lanes)};
  set(value, map);
}

void LaneAssigner::setNeighbours(xegpu::LoadGatherOp load) {
  constexpr int64_t kMostBytes = 16, kWordBytes = 4;
  auto type = dyn_cast<VectorType>(load.getValue().getType());
  if (!type || type.getRank() != 2 || !load.getOffsets() || !isVector(load.getOffsets()) ||
      !matchPattern(load.getMask(), m_One()))
    return;
  int64_t bytes = memoryBits(type.getElementType()) / 8;
  std::optional<LinearOffsets> offsets = linearOffsets(load.getOffsets());
  if (!offsets || offsets->steps.size() != 2 || (bytes != kWordBytes && bytes != 2))
    return;
  int64_t step = offsets->steps[1];
  // A word of two elements begins at a multiple of it in all lanes.
  if (bytes < kWordBytes) {
    std::optional<LinearOffsets> addresses =
        load.getSource().getType().isInteger(64)
            ? linearAddresses(load.getSource(), load.getOffsets(), bytes)
            : std::nullopt;
    if (!addresses || !addresses->termsAreMultiplesOf(kWordBytes) ||
        llvm::any_of(addresses->steps, [](int64_t apart) { return apart % kWordBytes != 0; }))
      return;
  }
  int64_t neighbours = step > 1 ? llvm::bit_floor(uint64_t(kMostBytes / (step * bytes))) : 0;
  while (neighbours > 1 && type.getDimSize(1) % (neighbours * int64_t(lanes)) != 0)
    neighbours /= 2;
  if (neighbours > 1)
    setRows(load.getValue(), neighbours);
}

void LaneAssigner::tie(ArrayRef<Value> values) {
  for (Value value : values)
    if (isVector(value) && has(value) && !free.contains(value)) {
      LaneLayoutAttr attr = get(value);
      for (Value other : values)
        if (isVector(other) && shapeOf(other) == shapeOf(value))
          set(other, attr);
      return;
    }
}

void LaneAssigner::propagateThroughFree(Operation *op) {
  Value result = op->getResult(0);
  if (!has(result))
    return;
  LaneMap map(get(result));
  for (OpOperand &operand : op->getOpOperands())
    if (isVector(operand.get()))
      set(operand.get(),
          isElementwise(op) ? map : mapOfOperand(op, operand.getOperandNumber(), map));
}

void LaneAssigner::propagateThroughRegions(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [result, init, argument, yielded] :
         llvm::zip_equal(loop.getResults(), loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues()))
      tie({argument, result, yielded, init});
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() != 0)
      for (auto [result, yes, no] :
           llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(),
                           branch.elseYield().getOperands()))
        tie({result, yes, no});
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument, yielded] : llvm::zip_equal(
             loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
      tie({argument, yielded, init});
    for (auto [result, argument, passed] : llvm::zip_equal(
             loop.getResults(), loop.getAfterArguments(), loop.getConditionOp().getArgs()))
      tie({result, argument, passed});
  }
}

void LaneAssigner::propagateThroughAccess(Value offsets, Value mask, Value value) {
  if (!isVector(value) || !isVector(mask))
    return;
  if (!offsets || !isVector(offsets))
    offsets = mask;
  if (shapeOf(value) == shapeOf(mask)) {
    tie({value, mask, offsets});
    return;
  }
  // A chunk of each lane lies in its registers.
  tie({mask, offsets});
  if (!has(mask) || has(value))
    return;
  unsigned rank = shapeOf(value).size();
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

void LaneAssigner::propagateByRules(Operation *op) {
  for (Value result : op->getResults())
    if (isVector(result) && has(result))
      for (OpOperand &operand : op->getOpOperands())
        if (isVector(operand.get()) && !has(operand.get()))
          set(operand.get(), mapOfOperand(op, operand.getOperandNumber(), LaneMap(get(result))));
  for (Value result : op->getResults())
    if (isVector(result) && !has(result))
      for (OpOperand &operand : op->getOpOperands())
        if (isVector(operand.get()) && has(operand.get()) && !free.contains(operand.get()))
          set(result, mapOfResult(op, operand.getOperandNumber(), LaneMap(get(operand.get()))));
}

void LaneAssigner::propagateThrough(Operation *op) {
  if (op->getNumResults() == 1 && free.contains(op->getResult(0)))
    return propagateThroughFree(op);
  if (isElementwise(op)) {
    SmallVector<Value> tied(op->getResults());
    llvm::append_range(tied, op->getOperands());
    return tie(tied);
  }
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op))
    return propagateThroughRegions(op);
  if (auto load = dyn_cast<xegpu::LoadGatherOp>(op))
    return propagateThroughAccess(load.getOffsets(), load.getMask(), load.getValue());
  if (auto store = dyn_cast<xegpu::StoreScatterOp>(op))
    return propagateThroughAccess(store.getOffsets(), store.getMask(), store.getValue());
  if (auto atomic = dyn_cast<xegpu::AtomicRMWOp>(op))
    return tie({atomic.getMask(), atomic.getValue(), atomic.getResult()});
  propagateByRules(op);
}

void LaneAssigner::propagate() {
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
