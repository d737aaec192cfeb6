//===- BeginTarget.cpp - say in the IR what it is compiled for -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module, the name of a target. Out: the same, as the target's first passes leave it.
// Refused: names that no target has; targets that nothing can be compiled for.
//===----------------------------------------------------------------------===//
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "xetile/Target/Passes.h"
#include "xetile/Target/Target.h"

namespace xetile {
#define GEN_PASS_DEF_BEGINTARGET
#include "xetile/Target/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct BeginTarget : xetile::impl::BeginTargetBase<BeginTarget> {
  using BeginTargetBase::BeginTargetBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    // The target is known only when the pass runs.
    for (const xetile::Target *candidate : xetile::registeredTargets())
      passesOf(*candidate).getDependentDialects(registry);
  }

  void runOnOperation() override {
    xetile::Result<const xetile::Target *> found = xetile::findTarget(target);
    if (!found) {
      getOperation().emitError() << found.error().message;
      return signalPassFailure();
    }
    OpPassManager passes = passesOf(**found);
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }

private:
  static OpPassManager passesOf(const xetile::Target &target) {
    OpPassManager passes(ModuleOp::getOperationName());
    if (target.begin)
      target.begin(passes, *target.makeOptions());
    return passes;
  }
};
} // namespace
