//===- TargetAttr.cpp - the #xevm.target of a gpu.module --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: an entry of the target table, or a gpu.module. Out: the attribute, or the chip it stands for.
// Refused: nothing.
#include "xetile/Target/Xe/TargetAttr.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

xevm::XeVMTargetAttr xetile::makeTargetAttr(MLIRContext *context, const TargetInfo &target,
                                            unsigned optLevel) {
  Builder builder(context);
  DictionaryAttr flags;
  if (target.mlirChip != target.chip)
    flags = builder.getDictionaryAttr(
        builder.getNamedAttr(chipFlag, builder.getStringAttr(target.chip)));
  return xevm::XeVMTargetAttr::get(context, static_cast<int>(optLevel), "spirv64-unknown-unknown",
                                   target.mlirChip, flags, /*linkFiles=*/nullptr);
}

xevm::XeVMTargetAttr xetile::findTargetAttr(gpu::GPUModuleOp module) {
  if (ArrayAttr targets = module.getTargetsAttr())
    for (Attribute attr : targets)
      if (auto target = dyn_cast<xevm::XeVMTargetAttr>(attr))
        return target;
  return {};
}

llvm::StringRef xetile::chipOf(xevm::XeVMTargetAttr attr) {
  if (DictionaryAttr flags = attr.getFlags())
    if (auto chip = flags.getAs<StringAttr>(chipFlag))
      return chip.getValue();
  return attr.getChip();
}

const xetile::TargetInfo *xetile::findTarget(gpu::GPUModuleOp module, bool mayLackCode) {
  xevm::XeVMTargetAttr attr = findTargetAttr(module);
  if (!attr) {
    module.emitOpError("has no #xevm.target: run xetile-attach-target first");
    return nullptr;
  }
  const TargetInfo *known = lookupTarget(chipOf(attr));
  if (auto why = known && mayLackCode ? std::nullopt : checkChip(chipOf(attr))) {
    module.emitOpError() << *why;
    return nullptr;
  }
  return known;
}

const xetile::TargetInfo *xetile::getTargetOf(Operation *op, llvm::StringRef chip) {
  if (auto module = op->getParentOfType<gpu::GPUModuleOp>())
    if (xevm::XeVMTargetAttr target = findTargetAttr(module))
      chip = chipOf(target);
  if (chip.empty()) {
    op->emitOpError("needs a target: attach one to the gpu.module (xevm-attach-target) or give the "
                    "option chip=");
    return nullptr;
  }
  if (std::optional<std::string> problem = checkChip(chip)) {
    op->emitOpError() << *problem;
    return nullptr;
  }
  return lookupTarget(chip);
}
