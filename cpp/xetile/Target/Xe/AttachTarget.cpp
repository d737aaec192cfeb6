//===- AttachTarget.cpp - say for which chip a gpu.module is compiled -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: gpu.modules. Out: the same, each with one #xevm.target, of the optimization level that is
// asked for. Refused: chips that are unknown or have no 2D block messages; modules that have a
// target of another chip.
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
    if (optLevel < -1 || optLevel > 3) {
      getOperation().emitError() << "optimization level is " << int(optLevel)
                                 << ", expected 0 to 3";
      return signalPassFailure();
    }
    xevm::XeVMTargetAttr target = xetile::makeTargetAttr(&getContext(), *xetile::lookupTarget(chip),
                                                         optLevel < 0 ? kDefaultLevel : optLevel);
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
      if (optLevel >= 0 && present.getO() != optLevel)
        setLevel(module, present);
    }
  }

private:
  static constexpr int kDefaultLevel = 2;

  /// Of a target that is there: a schedule attaches it, and knows nothing of this option.
  void setLevel(gpu::GPUModuleOp module, xevm::XeVMTargetAttr present) {
    auto changed =
        xevm::XeVMTargetAttr::get(&getContext(), optLevel, present.getTriple(), present.getChip(),
                                  present.getFlags(), present.getLinkFiles());
    SmallVector<Attribute> targets(module.getTargetsAttr().getValue());
    llvm::replace(targets, Attribute(present), Attribute(changed));
    module.setTargetsAttr(ArrayAttr::get(&getContext(), targets));
  }
};

} // namespace
