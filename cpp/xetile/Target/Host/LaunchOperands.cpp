//===- LaunchOperands.cpp - the memory behind what a launch takes -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an operand of a launch. Out: the memory that it is a view of, and whose that is. Refused:
// nothing.
#include "xetile/Target/Host/LaunchOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "xetile/Target/Host/DeviceMemory.h"

using namespace mlir;

Value xetile::findRoot(Value operand, ViewChain &chain) {
  while (auto view = operand.getDefiningOp<ViewLikeOpInterface>()) {
    Value source = view.getViewSource();
    if (isa<memref::ReinterpretCastOp>(view) || !isa<MemRefType>(source.getType()) ||
        view->getNumResults() != 1)
      break;
    chain.push_back(view);
    operand = source;
  }
  std::reverse(chain.begin(), chain.end());
  return operand;
}

Value xetile::findBase(Value root) {
  while (Operation *op = root.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      root = view.getViewSource();
    else if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
      root = metadata.getSource();
    else
      break;
  }
  return root;
}

bool xetile::isDeviceMemory(Value value) {
  Value base = findBase(value);
  if (comesFromDevice(base))
    return true;
  Operation *around = base.getDefiningOp();
  if (!around)
    around = base.getParentBlock()->getParentOp();
  auto func = around->getParentOfType<func::FuncOp>();
  return isa<RegionBranchOpInterface, arith::SelectOp>(around) && func &&
         xetile::MemoryClasses(func).isOnDevice(base);
}

void xetile::setRoot(OpOperand &operand, const ViewChain &chain, IRMapping &mapping) {
  OpBuilder builder(operand.getOwner());
  for (ViewLikeOpInterface view : chain)
    if (!mapping.contains(view->getResult(0)))
      builder.clone(*view, mapping);
  operand.set(mapping.lookup(operand.get()));
}
