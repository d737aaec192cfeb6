//===- LinkKernels.cpp - transform.xetile.link_kernels -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module with declared functions, and nested modules with a function and kernel for each.
// Out: one module, with one gpu.module. Refused: functions that nobody declared so.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "xetile/IR/DialectAttrs.h"
#include "xetile/IR/WindowedMatrix.h"
#include "xetile/Linalg/ScheduleMark.h"
#include "xetile/Schedule/Params.h"
#include "xetile/Schedule/TransformOps.h"

using namespace mlir;
using namespace mlir::transform;

namespace xetile::transform_ops {
namespace {

/// Moves all symbols of `from` to the end of `to`, with new names where theirs are taken.
void moveSymbols(Operation *from, Operation *to) {
  SymbolTable source(from), destination(to);
  SmallVector<Operation *> symbols;
  for (Operation &op : from->getRegion(0).front())
    if (isa<SymbolOpInterface>(op))
      symbols.push_back(&op);
  // All get their names while uses of them are beside them.
  for (Operation *op : symbols)
    if (destination.lookup(SymbolTable::getSymbolName(op)))
      (void)source.renameToUnique(op, {&destination});
  for (Operation *op : symbols) {
    source.remove(op);
    op->remove();
    destination.insert(op);
  }
}

/// Gives the tilings and windows of functions that launch a kernel to the kernel: functions are
/// inlined.
void keepFacts(ModuleOp nested) {
  for (auto func : nested.getOps<func::FuncOp>())
    for (StringRef name : {StringRef(kTilingAttr), StringRef(kWindowAttr)})
      if (Attribute fact = func->getAttr(name))
        func.walk([&](gpu::LaunchFuncOp launch) {
          if (Operation *kernel =
                  SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernelAttr()))
            kernel->setAttr(name, fact);
        });
}

/// Takes the declarations of what `nested` has out of `outer`. Returns a function that is not
/// declared, with the same type.
func::FuncOp replaceDeclarations(ModuleOp outer, ModuleOp nested) {
  for (auto func : nested.getOps<func::FuncOp>()) {
    auto declared =
        dyn_cast_or_null<func::FuncOp>(SymbolTable::lookupSymbolIn(outer, func.getSymName()));
    if (!declared || !declared.isExternal() || declared.getFunctionType() != func.getFunctionType())
      return func;
    declared.erase();
    func.setPrivate();
  }
  return nullptr;
}

/// All kernels go to the first gpu.module.
void mergeDeviceModules(ModuleOp module) {
  auto devices = llvm::to_vector(module.getOps<gpu::GPUModuleOp>());
  if (devices.size() < 2)
    return;
  gpu::GPUModuleOp first = devices.front();
  llvm::DenseMap<Attribute, SymbolRefAttr> moved;
  for (gpu::GPUModuleOp device : ArrayRef(devices).drop_front()) {
    SmallVector<std::pair<gpu::GPUFuncOp, StringAttr>> kernels;
    for (auto func : device.getOps<gpu::GPUFuncOp>())
      kernels.push_back({func, SymbolTable::getSymbolName(func)});
    moveSymbols(device, first);
    for (auto [func, name] : kernels)
      moved[SymbolRefAttr::get(device.getSymNameAttr(), FlatSymbolRefAttr::get(name))] =
          SymbolRefAttr::get(first.getSymNameAttr(),
                             FlatSymbolRefAttr::get(SymbolTable::getSymbolName(func)));
    device.erase();
  }
  module.walk([&](gpu::LaunchFuncOp launch) {
    if (SymbolRefAttr to = moved.lookup(launch.getKernelAttr()))
      launch.setKernelAttr(to);
  });
}

} // namespace

DiagnosedSilenceableFailure LinkKernelsOp::apply(TransformRewriter &, TransformResults &,
                                                 TransformState &state) {
  auto op = cast<TransformOpInterface>(getOperation());
  for (Operation *target : llvm::to_vector(state.getPayloadOps(getTarget()))) {
    auto module = dyn_cast<ModuleOp>(target);
    if (!module)
      return wrongTarget(op, target, "builtin.module");
    for (auto nested : llvm::to_vector(module.getOps<ModuleOp>())) {
      if (!nested->hasAttr(kScheduleAttr))
        continue;
      if (func::FuncOp stranger = replaceDeclarations(module, nested)) {
        DiagnosedDefiniteFailure diag = ::emitDefiniteFailure(
            stranger->getLoc(), "expected a declaration of @" + stranger.getSymName() +
                                    " with this type in the program, as extract_kernels leaves it");
        diag.attachNote(op->getLoc()) << "required by this step of the schedule";
        return diag;
      }
      keepFacts(nested);
      moveSymbols(nested, module);
      if (Attribute mark = nested->getAttr(gpu::GPUDialect::getContainerModuleAttrName()))
        module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), mark);
      nested.erase();
    }
    mergeDeviceModules(module);
  }
  return DiagnosedSilenceableFailure::success();
}

void LinkKernelsOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  onlyReadsHandle(getOperation()->getOpOperands(), effects);
  modifiesPayload(effects);
}

} // namespace xetile::transform_ops
