//===- TileForCpu.cpp - what a CPU does without a schedule, by one -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: functions on tensors, values of the parameters of schedules/cpu_model.mlir. Out: what that
// schedule makes of them, which is part of this library. Refused: what its steps refuse.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/IR/Utils.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/Parser/Parser.h"
#include "xetile/Target/ChildMessages.h"
#include "xetile/Target/Cpu/Passes.h"
#include "xetile/Target/Schedule.h"
#include <atomic>

namespace xetile {
#define GEN_PASS_DEF_TILEFORCPU
#include "xetile/Target/Cpu/Passes.h.inc"
} // namespace xetile

using namespace mlir;

namespace {
struct File {
  StringLiteral name, text;
};
// CMake copies them.
constexpr File kFiles[] = {
#include "xetile/Target/Cpu/CpuModel.inc"
};
} // namespace

static OwningOpRef<ModuleOp> parseFiles(MLIRContext *context) {
  OwningOpRef<ModuleOp> schedule;
  for (const File &file : kFiles) {
    auto part = parseSourceString<ModuleOp>(file.text, ParserConfig(context), file.name);
    if (!part)
      return nullptr;
    if (!schedule)
      schedule = std::move(part);
    else if (failed(transform::detail::mergeSymbolsInto(*schedule,
                                                        OwningOpRef<Operation *>(part.release()))))
      return nullptr;
  }
  return schedule;
}

/// The schedule with all that it includes. Text is parsed once for all contexts.
static OwningOpRef<ModuleOp> readSchedule(MLIRContext *context) {
  static std::atomic<const std::string *> known = nullptr;
  if (const std::string *bytes = known.load())
    return xetile::detail::fromBytecode(*bytes, context, /*verify=*/false);
  // Threads that come at once all parse: a child of fork() would wait for a lock for ever.
  OwningOpRef<ModuleOp> schedule = parseFiles(context);
  if (!schedule)
    return nullptr;
  auto bytes = std::make_unique<const std::string>(xetile::detail::toBytecode(*schedule));
  const std::string *none = nullptr;
  if (known.compare_exchange_strong(none, bytes.get()))
    (void)bytes.release();
  return schedule;
}

/// Before each step that can tell what it will do, one that does no more than that.
static void addRemarks(ModuleOp schedule) {
  schedule.walk([](transform::ApplyRegisteredPassOp step) {
    if (!llvm::is_contained({"xetile-fuse-attention", "deep-tile-matmul", "xetile-fuse-rows"},
                            step.getPassName()))
      return;
    OpBuilder b(step);
    auto telling = cast<transform::ApplyRegisteredPassOp>(b.clone(*step));
    NamedAttrList options(telling.getOptions());
    options.set("explain", b.getBoolAttr(true));
    telling.setOptionsAttr(options.getDictionary(b.getContext()));
    step.getTargetMutable().assign(telling.getResult());
  });
}

namespace {
struct TileForCpu : xetile::impl::TileForCpuBase<TileForCpu> {
  using TileForCpuBase::TileForCpuBase;

  void runOnOperation() override {
    // Not kept: Python may destroy a context before the passes that ran in it.
    OwningOpRef<ModuleOp> schedule = readSchedule(&getContext());
    if (!schedule)
      return signalPassFailure();
    setKnobs(*schedule);
    if (explain)
      addRemarks(*schedule);
    // A step that fails says why; that it failed, and where it stands, is of no use to who wrote no
    // schedule.
    std::atomic<bool> hasFailed = false;
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
      bool isOfSchedule = place && llvm::any_of(kFiles, [&](const File &file) {
                            return place.getFilename() == file.name;
                          });
      return success(hasFailed.exchange(true) && isOfSchedule);
    });
    if (failed(xetile::applySchedule(getOperation(), *schedule, sequence, /*trusted=*/true)))
      signalPassFailure();
  }

private:
  void setKnobs(ModuleOp schedule) {
    Builder b(&getContext());
    NamedAttrList values;
    values.set("threads", b.getI64IntegerAttr(threads));
    values.set("config", b.getStringAttr("{" + config + "}"));
    values.set("pack", b.getStringAttr(pack));
    values.set("fuse", b.getI64IntegerAttr(fuse));
    values.set("attention", b.getI64IntegerAttr(attention));
    schedule.walk([&](transform::tune::KnobOp knob) {
      if (Attribute value = values.get(knob.getNameAttr()))
        knob.setSelectedAttr(value);
    });
  }
};
} // namespace
