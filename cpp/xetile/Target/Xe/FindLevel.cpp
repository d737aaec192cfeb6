//===- FindLevel.cpp - at which level a module is ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module at any level of an Intel GPU. Out: the level, by what its kernels hold: of several
// the highest, for the passes from there on take the others along. Refused: nothing.
//===----------------------------------------------------------------------===//
#include "xetile/Target/Xe/FindLevel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "xetile/IR/WgMap.h"
#include "xetile/IR/XeTileOps.h"

using namespace mlir;

namespace {

// Numbers of the levels that XeTarget.cpp names.
constexpr unsigned kTensors = 0, kWorkgroup = 1, kSubgroup = 2, kBlocked = 3, kXeGPU = 4, kXeVM = 5,
                   kLlvm = 6;

/// Of an op of a gpu.func.
unsigned levelOf(Operation *op) {
  if (!isa_and_present<xetile::XeTileDialect>(op->getDialect()))
    return kXeGPU;
  if (xetile::getResultWgMap(op))
    return kWorkgroup;
  unsigned level = kSubgroup;
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults())) {
    auto tile = dyn_cast<xetile::TileType>(value.getType());
    if (tile && tile.getWgMap())
      return kWorkgroup;
    if (tile && !tile.getInnerBlocks().empty())
      level = kBlocked;
  }
  return level;
}

bool isOnTensors(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return isa_and_present<linalg::LinalgDialect>(op->getDialect()) ||
         llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>) ||
         (function && llvm::any_of(function.getArgumentTypes(), llvm::IsaPred<TensorType>));
}

} // namespace

unsigned xetile::findLevel(Operation *module) {
  std::optional<unsigned> found;
  bool onTensors = false;
  // Of one kernel blocks tell more than plain tiles do, of several kernels plain tiles come first.
  auto add = [&](unsigned level) { found = std::min(found.value_or(level), level); };
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::BinaryOp>(op))
      add(kLlvm);
    if (!isa<gpu::GPUFuncOp, LLVM::LLVMFuncOp>(op) || !op->getParentOfType<gpu::GPUModuleOp>()) {
      onTensors |= isOnTensors(op);
      return WalkResult::advance();
    }
    if (isa<LLVM::LLVMFuncOp>(op)) {
      add(kXeVM);
      return WalkResult::skip();
    }
    unsigned level = kXeGPU;
    bool isBlocked = false;
    op->walk([&](Operation *inner) {
      unsigned own = levelOf(inner);
      isBlocked |= own == kBlocked;
      level = std::min(level, own);
    });
    add(level == kSubgroup && isBlocked ? kBlocked : level);
    return WalkResult::skip();
  });
  return onTensors || !found ? kTensors : *found;
}
