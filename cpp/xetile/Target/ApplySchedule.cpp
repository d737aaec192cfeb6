//===- ApplySchedule.cpp - a schedule in files, applied to a module ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a module, files of transform ops. Out: what their @__transform_main makes of it.
// Refused: files that are no schedules, values for parameters that the schedule does not have.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "xetile/Target/Passes.h"
#include "xetile/Target/Schedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace xetile {
#define GEN_PASS_DEF_APPLYSCHEDULE
#include "xetile/Target/Passes.h.inc"
} // namespace xetile

using namespace mlir;
using transform::tune::KnobOp;

namespace {

/// The limit, `min` or `max`, of a schedule's parameter.
std::optional<int64_t> limitOf(KnobOp knob, StringRef name) {
  auto options = dyn_cast<DictionaryAttr>(knob.getOptions());
  auto limit = options ? options.getAs<IntegerAttr>(name) : IntegerAttr();
  return limit ? std::optional(limit.getInt()) : std::nullopt;
}

struct ApplySchedule : xetile::impl::ApplyScheduleBase<ApplySchedule> {
  using ApplyScheduleBase::ApplyScheduleBase;

  // Not in runOnOperation: what parses may load dialects.
  LogicalResult initialize(MLIRContext *context) override {
    if (files.empty())
      return success(); // an error at the module, later
    OwningOpRef<ModuleOp> read;
    // Each file that is added verifies all of them, twice: one warning of a kind is enough.
    llvm::StringSet<> warnings;
    ScopedDiagnosticHandler once(context, [&](Diagnostic &diagnostic) {
      return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning &&
                     !warnings.insert(diagnostic.str()).second);
    });
    // A warning about a foreach_match that has a matcher twice comes while it is verified; to print
    // it with that verifies what is half there.
    bool printedOps = context->shouldPrintOpOnDiagnostic();
    context->printOpOnDiagnostic(false);
    SmallVector<std::string> given(files.begin(), files.end());
    isPackaged = llvm::all_of(given, xetile::isPackagedSchedule);
    LogicalResult assembled = isPackaged ? success() : xetile::probeSchedule(context, given);
    if (succeeded(assembled))
      assembled = transform::detail::assembleTransformLibraryFromPaths(context, given, read);
    if (succeeded(assembled))
      assembled = xetile::completeSchedule(*read, xetile::foldersOf(given));
    context->printOpOnDiagnostic(printedOps);
    if (failed(assembled))
      return failure();
    library = std::make_shared<OwningOpRef<ModuleOp>>(std::move(read));
    if (!target.empty())
      for (KnobOp knob : findKnobs("target"))
        knob.setSelectedAttr(StringAttr::get(context, target));
    for (const std::string &value : values)
      if (failed(setValue(StringRef(value).split('='))))
        return failure();
    return success();
  }

  void runOnOperation() override {
    if (!library) {
      getOperation().emitError() << "option files is empty, expected files of transform ops";
      return signalPassFailure();
    }
    if (failed(xetile::applySchedule(getOperation(), **library,
                                     transform::TransformDialect::kTransformEntryPointSymbolName,
                                     isPackaged)))
      signalPassFailure();
  }

private:
  SmallVector<KnobOp> findKnobs(StringRef name) {
    SmallVector<KnobOp> knobs;
    (*library)->walk([&](KnobOp knob) {
      if (name.empty() || knob.getNameAttr() == name)
        knobs.push_back(knob);
    });
    return knobs;
  }

  LogicalResult setValue(std::pair<StringRef, StringRef> assignment) {
    auto [name, text] = assignment;
    SmallVector<KnobOp> knobs = findKnobs(name);
    if (name.empty() || knobs.empty()) {
      SmallVector<StringRef> known;
      for (KnobOp knob : findKnobs(""))
        known.push_back(knob.getNameAttr());
      return emitError(FileLineColLoc::get((*library)->getContext(), files[files.size() - 1], 0, 0))
             << "the schedule has no parameter '" << name
             << "', expected one of: " << llvm::join(known, ", ");
    }
    for (KnobOp knob : knobs)
      if (failed(setValue(knob, text)))
        return failure();
    return success();
  }

  static LogicalResult setValue(KnobOp knob, StringRef text) {
    Builder b(knob.getContext());
    if (!isa_and_nonnull<IntegerAttr>(knob.getSelectedAttr())) {
      knob.setSelectedAttr(b.getStringAttr(text));
      return success();
    }
    int64_t least = limitOf(knob, "min").value_or(std::numeric_limits<int64_t>::min());
    int64_t most = limitOf(knob, "max").value_or(std::numeric_limits<int64_t>::max());
    int64_t value = 0;
    if (text.getAsInteger(10, value) || value < least || value > most)
      return knob.emitError() << "parameter '" << knob.getNameAttr().getValue() << "' is '" << text
                              << "', expected an integer from " << least << " to " << most;
    knob.setSelectedAttr(b.getI64IntegerAttr(value));
    return success();
  }

  /// Of this pass and its copies, which only read it.
  std::shared_ptr<OwningOpRef<ModuleOp>> library;
  bool isPackaged = true;
};

} // namespace
