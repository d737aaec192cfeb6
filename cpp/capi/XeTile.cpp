//===- XeTile.cpp - C API of the XeTile dialect and its passes ---------------===//
#include "xetile-c/XeTile.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "xetile/IR/XeTileDialect.h"
#include "xetile/Registration.h"
#include "xetile/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(XeTile, xetile, xetile::XeTileDialect)

void mlirXeTileRegisterDialects(MlirDialectRegistry registry) {
  xetile::registerDialects(*unwrap(registry));
}

void mlirXeTileRegisterPasses() {
  // MLIR keeps one registry per process and refuses a name that comes twice with another pass.
  static const bool registered = [] {
    xetile::registerPasses();
    return true;
  }();
  (void)registered;
}

void mlirXeTileForEachTarget(void (*visit)(const MlirXeTileTarget *, void *), void *userData) {
  llvm::SmallVector<const xetile::TargetInfo *> targets;
  for (const xetile::TargetInfo &target : xetile::allTargets())
    if (!target.checkSupported())
      targets.push_back(&target);
  llvm::sort(targets, [](auto *left, auto *right) { return left->chip < right->chip; });
  for (const xetile::TargetInfo *info : targets) {
    MlirXeTileTarget target = {wrap(info->chip),         wrap(info->description),
                               wrap(info->oclocDevice),  info->subgroupSize,
                               info->maxWorkItems,       info->registerBytes,
                               info->registersPerThread, info->largeRegisters};
    visit(&target, userData);
  }
}

bool mlirXeTileCheckChip(MlirStringRef chip, MlirStringCallback explain, void *userData) {
  std::optional<std::string> why = xetile::checkChip(unwrap(chip));
  if (why)
    explain(wrap(llvm::StringRef(*why)), userData);
  return !why;
}
