//===- AttachTarget.cpp - say for which chip a gpu.module is compiled -------===//
// In: gpu.modules. Out: the same, each with one #xevm.target.
// Refused: chips that are unknown or have no 2D block messages; modules that have a target of
// another chip.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/XeVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "xetile/Target/Xe/Passes.h"
#include "xetile/Target/Xe/TargetAttr.h"

namespace xetile {
#define GEN_PASS_DEF_ATTACHTARGET
#include "xetile/Target/Xe/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

struct AttachTarget : xetile::impl::AttachTargetBase<AttachTarget> {
  using AttachTargetBase::AttachTargetBase;

  void runOnOperation() override {
    if (auto why = xetile::checkChip(chip)) {
      getOperation().emitError() << *why;
      return signalPassFailure();
    }
    if (optLevel > 3) {
      getOperation().emitError() << "optimization level is " << unsigned(optLevel)
                                 << ", expected 0 to 3";
      return signalPassFailure();
    }
    xevm::XeVMTargetAttr target =
        xetile::makeTargetAttr(&getContext(), *xetile::lookupTarget(chip), optLevel);
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (!module.getTargetsAttr()) {
        module.setTargetsAttr(ArrayAttr::get(&getContext(), target));
        continue;
      }
      xevm::XeVMTargetAttr present = xetile::findTargetAttr(module);
      if (!present || xetile::chipOf(present) != chip) {
        module.emitOpError() << "has the target " << module.getTargetsAttr() << ", expected chip '"
                             << chip << "': compile for that chip or remove the attribute";
        return signalPassFailure();
      }
    }
  }
};

} // namespace
