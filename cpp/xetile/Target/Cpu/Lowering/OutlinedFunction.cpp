//===- OutlinedFunction.cpp - ops in functions of their own ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an op without results. Out: a function with a copy of it, whose arguments are what it uses.
// Nothing is refused.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Cpu/Lowering/OutlinedFunction.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace xetile;

static bool isRepeated(Operation *op) {
  return op && op->getNumResults() == 1 &&
         (op->hasTrait<OpTrait::ConstantLike>() || isa<memref::GetGlobalOp>(op));
}

OutlinedUses OutlinedUses::of(Operation &nest) {
  // In the order of use.
  SetVector<Value> used;
  nest.walk<WalkOrder::PreOrder>([&](Operation *inside) {
    for (Value operand : inside->getOperands()) {
      Operation *around = operand.getParentBlock()->getParentOp();
      if (around != &nest && !nest.isProperAncestor(around))
        used.insert(operand);
    }
  });
  OutlinedUses uses;
  for (Value value : used)
    if (isRepeated(value.getDefiningOp()))
      uses.repeated.push_back(value.getDefiningOp());
    else
      uses.arguments.push_back(value);
  return uses;
}

func::FuncOp xetile::cloneToFunction(Operation &nest, const OutlinedUses &uses, StringRef name) {
  MLIRContext *context = nest.getContext();
  OpBuilder b(context);
  auto type = b.getFunctionType(ValueRange(uses.arguments).getTypes(), {});
  auto callee = func::FuncOp::create(b, nest.getLoc(), name, type);
  callee.setPrivate();
  callee->setAttr("llvm.linkage", LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  callee->setAttr("passthrough", b.getStrArrayAttr({"noinline"}));
  mlir::Block *body = callee.addEntryBlock();
  b.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(uses.arguments, body->getArguments());
  for (Operation *op : uses.repeated)
    b.clone(*op, mapping);
  b.clone(nest, mapping);
  func::ReturnOp::create(b, nest.getLoc());
  return callee;
}
