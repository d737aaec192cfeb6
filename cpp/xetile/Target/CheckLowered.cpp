//===- CheckLowered.cpp - fail where a lowering left its input behind -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module in any form. Out: the same.
// Refused: ops of the dialects and names given, in gpu.modules or outside of them.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "xetile/Target/Passes.h"
#include "xetile/Target/PlaceOf.h"

namespace xetile {
#define GEN_PASS_DEF_CHECKLOWERED
#include "xetile/Target/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {

constexpr unsigned maxNotes = 4;

struct CheckLowered : xetile::impl::CheckLoweredBase<CheckLowered> {
  using CheckLoweredBase::CheckLoweredBase;

  void runOnOperation() override {
    if (scope != "device" && scope != "host") {
      getOperation().emitError() << "option scope is '" << scope
                                 << "', expected 'device' or 'host'";
      return signalPassFailure();
    }
    bool clean = true;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == getOperation())
        return WalkResult::advance();
      if (isa<gpu::GPUModuleOp>(op)) {
        if (scope == "device")
          op->walk([&](Operation *inside) { clean &= inside == op || check(inside); });
        else if (llvm::is_contained(forbid, op->getName().getStringRef()))
          clean &= check(op);
        return WalkResult::skip();
      }
      if (scope == "host")
        clean &= check(op);
      return WalkResult::advance();
    });
    if (!clean)
      signalPassFailure();
  }

private:
  bool check(Operation *op) {
    auto named = [&](ArrayRef<std::string> names) {
      return llvm::is_contained(names, op->getName().getStringRef()) ||
             llvm::is_contained(names, op->getName().getDialectNamespace());
    };
    if (!named(forbid) && (allow.empty() || named(allow)))
      return true;
    InFlightDiagnostic error = emitError(xetile::placeOf(op))
                               << "'" << op->getName() << "' op is left in " << StringRef(scope)
                               << " code";
    if (!after.empty())
      error << " after " << after;
    error << ": " << StringRef(hint);
    // An op with a region was made around the ops that did not lower.
    unsigned notes = 0;
    op->walk([&](Operation *inside) {
      if (inside == op || inside->hasTrait<OpTrait::ConstantLike>() ||
          inside->hasTrait<OpTrait::IsTerminator>())
        return;
      if (++notes <= maxNotes)
        error.attachNote(inside->getLoc()) << "it holds " << inside->getName();
    });
    return false;
  }
};

} // namespace
