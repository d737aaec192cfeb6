//===- KernelEffects.cpp - does code write through an address ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a gpu.func, or a function that launches some, at any level that still has memrefs. Out:
// whether the memory behind a value may be written. Refused: nothing; a use that is not understood
// counts as a write.
#include "xetile/Target/Host/KernelEffects.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "xetile/IR/XeTileOps.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace {

/// Values that may address the same memory.
class Aliases {
public:
  explicit Aliases(Value address) { add(address); }

  bool mayBeWritten() {
    while (!worklist.empty()) {
      Value value = worklist.pop_back_val();
      for (OpOperand &use : value.getUses())
        if (!follow(use))
          return true;
    }
    return false;
  }

private:
  void add(Value value) {
    if (value && seen.insert(value).second)
      worklist.push_back(value);
  }
  void addAll(ValueRange values) {
    for (Value value : values)
      add(value);
  }

  /// Adds what the use makes of the address, false if it may write.
  bool follow(OpOperand &use) {
    Operation *op = use.getOwner();
    // Shapes are no addresses. Prefetches change caches only; upstream's declare no effects.
    if (isa<memref::DimOp, memref::RankOp, xegpu::PrefetchNdOp, xegpu::PrefetchOp,
            xetile::PrefetchTileOp>(op))
      return true;
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      return followLaunch(launch, use);
    // Effects of the caller are not this function's.
    if (isa<func::ReturnOp>(op))
      return true;
    if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
      add(metadata.getBaseBuffer());
      return true;
    }
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
      BlockArgument inside = loop.getTiedLoopRegionIterArg(&use);
      OpResult outside = loop.getTiedLoopResult(&use);
      add(inside);
      add(outside);
      return inside && outside;
    }
    if (op->hasTrait<OpTrait::IsTerminator>() && op->getNumRegions() == 0)
      return followYield(use);
    if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
      SmallVector<MemoryEffects::EffectInstance> instances;
      effects.getEffects(instances);
      for (const MemoryEffects::EffectInstance &instance : instances)
        if (isa<MemoryEffects::Write, MemoryEffects::Free>(instance.getEffect()) &&
            (!instance.getValue() || instance.getValue() == use.get()))
          return false;
      if (instances.empty()) // a pure function of the address
        addAll(op->getResults());
      return true;
    }
    if (isa<ViewLikeOpInterface>(op)) {
      addAll(op->getResults());
      return true;
    }
    return false;
  }

  static bool followLaunch(gpu::LaunchFuncOp launch, OpOperand &use) {
    Operation *kernel = SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernel());
    for (auto [index, operand] : llvm::enumerate(launch.getKernelOperandsMutable()))
      if (&operand == &use)
        return !xetile::kernelMayWrite(kernel, index);
    return true;
  }

  bool followYield(OpOperand &use) {
    Operation *parent = use.getOwner()->getParentOp();
    if (auto loop = dyn_cast<LoopLikeOpInterface>(parent)) {
      for (auto [yielded, argument, result] :
           llvm::zip(loop.getYieldedValues(), loop.getRegionIterArgs(), parent->getResults()))
        if (yielded == use.get()) {
          add(argument);
          add(result);
        }
      return true;
    }
    if (parent->getNumResults() != use.getOwner()->getNumOperands())
      return false;
    add(parent->getResult(use.getOperandNumber()));
    return true;
  }

  llvm::SmallPtrSet<Value, 16> seen;
  SmallVector<Value> worklist;
};

} // namespace

bool xetile::kernelMayWrite(Operation *kernel, unsigned index) {
  auto function = dyn_cast_or_null<gpu::GPUFuncOp>(kernel);
  if (!function || function.isExternal() || index >= function.getNumArguments())
    return true;
  return Aliases(function.getArgument(index)).mayBeWritten();
}

bool xetile::mayBeWritten(Value address) { return Aliases(address).mayBeWritten(); }
