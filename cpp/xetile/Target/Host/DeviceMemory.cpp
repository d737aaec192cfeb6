//===- DeviceMemory.cpp - values that are memory of the device -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a function on memrefs. Out: which of its values may be the same memory. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Host/DeviceMemory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "xetile/IR/DialectAttrs.h"

using namespace mlir;
using namespace xetile;

bool xetile::comesFromDevice(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return func && argument.getOwner()->isEntryBlock() &&
           func.getArgAttr(argument.getArgNumber(), kOnDeviceAttr);
  }
  Operation *op = value.getDefiningOp();
  auto call = dyn_cast<func::CallOp>(op);
  return isa<gpu::AllocOp>(op) || (call && call.getCallee() == kKeepFunction);
}

MemoryClasses::MemoryClasses(Operation *func) : views(func) {
  auto number = [&](Value value) {
    if (!isa<BaseMemRefType>(value.getType()) || !numbers.try_emplace(value, values.size()).second)
      return;
    classes.insert(values.size());
    values.push_back(value);
  };
  func->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    llvm::for_each(op->getResults(), number);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), number);
    return WalkResult::advance();
  });
  for (Value value : values)
    if (auto found = views.find(value); found != views.end())
      for (Value next : found->second)
        if (auto other = numbers.find(next); other != numbers.end())
          classes.unionSets(numbers.lookup(value), other->second);
}

SmallVector<Value> MemoryClasses::membersOf(Value value) const {
  auto number = numbers.find(value);
  if (number == numbers.end())
    return {value};
  SmallVector<unsigned> members(classes.findLeader(number->second), classes.member_end());
  llvm::sort(members);
  return llvm::map_to_vector(members, [&](unsigned member) { return values[member]; });
}

bool MemoryClasses::isOnDevice(Value value) const {
  bool some = false;
  for (Value origin : views.resolveReverse(value)) {
    if (views.resolveReverse(origin).size() > 1)
      continue;
    if (!comesFromDevice(origin))
      return false;
    some = true;
  }
  return some;
}
