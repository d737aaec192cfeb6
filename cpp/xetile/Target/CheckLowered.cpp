//===- CheckLowered.cpp - fail where a lowering left its input behind -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module in any form. Out: the same.
// Refused: ops of the dialects and names given, in gpu.modules or outside of them.
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "xetile/IR/PlaceOf.h"
#include "xetile/Target/Passes.h"

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
    SmallVector<Operation *> left;
    auto look = [&](Operation *op) {
      if (isLeft(op))
        left.push_back(op);
    };
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == getOperation())
        return WalkResult::advance();
      if (isa<gpu::GPUModuleOp>(op)) {
        if (scope == "device")
          op->walk([&](Operation *inside) {
            if (inside != op)
              look(inside);
          });
        else if (llvm::is_contained(forbid, op->getName().getStringRef()))
          look(op);
        return WalkResult::skip();
      }
      if (scope == "host")
        look(op);
      return WalkResult::advance();
    });
    // Casts are between what was lowered and what was not: that tells more.
    bool onlyCasts = llvm::all_of(left, llvm::IsaPred<UnrealizedConversionCastOp>);
    for (Operation *op : left)
      if (onlyCasts || !isa<UnrealizedConversionCastOp>(op))
        complain(op);
    if (!left.empty())
      signalPassFailure();
  }

private:
  bool isLeft(Operation *op) {
    auto named = [&](ArrayRef<std::string> names) {
      return llvm::is_contained(names, op->getName().getStringRef()) ||
             llvm::is_contained(names, op->getName().getDialectNamespace());
    };
    return named(forbid) || (!allow.empty() && !named(allow));
  }

  void complain(Operation *op) {
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
  }
};

} // namespace
