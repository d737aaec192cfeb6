//===- RunSchedule.cpp - a schedule applied, in a child process if need be ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: a payload, a schedule. Out: the payload as the schedule's entry leaves it.
// Refused: what the schedule refuses, and schedules that upstream's interpreter dies of.
//
// Upstream's transform ops do not check all that they are given. What users write runs in a child
// of fork(), in a context of its own: it shares no thread and no lock with this one.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Verifier.h"
#include "xetile/Target/ChildMessages.h"
#include "xetile/Target/ChildProcess.h"
#include "xetile/Target/Schedule.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace {

/// `check` whether handles are used that a step invalidated.
LogicalResult interpret(ModuleOp payload, ModuleOp schedule, StringRef entry, bool check) {
  transform::NamedSequenceOp start = xetile::findEntry(schedule, entry);
  if (!start)
    return failure();
  return transform::applyTransformNamedSequence(
      payload, start, ModuleOp(), transform::TransformOptions().enableExpensiveChecks(check));
}

/// State in memory that parent and child share.
struct Shared {
  volatile int64_t number = -1; // of the op that runs
  enum : int { Running, Failed, Succeeded };
  volatile int ending = Running;
};

struct Files {
  int result = memfd_create("xetile-result", MFD_CLOEXEC);
  int said = memfd_create("xetile-said", MFD_CLOEXEC);
  ~Files() {
    close(result);
    close(said);
  }
};

/// The child's whole life.
[[noreturn]] void live(const DialectRegistry &known, bool unregistered, StringRef payloadBytes,
                       StringRef scheduleBytes, StringRef entry, const Files &files,
                       Shared *shared) {
  xetile::detail::beginChild();
  dup2(files.said, 2);

  DialectRegistry registry;
  known.appendTo(registry);
  xetile::detail::registerMarks(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(unregistered);
  context.printOpOnDiagnostic(false);
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> result = ModuleOp::create(builder, builder.getUnknownLoc());
  builder.setInsertionPointToEnd(result->getBody());
  bool succeeded = false;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      xetile::detail::record(builder, diagnostic);
      return success();
    });
    // They were verified before; a mark between ops may stand where upstream's verifiers expect
    // none.
    OwningOpRef<ModuleOp> schedule =
        xetile::detail::fromBytecode(scheduleBytes, &context, /*verify=*/false);
    OwningOpRef<ModuleOp> payload =
        xetile::detail::fromBytecode(payloadBytes, &context, /*verify=*/false);
    if (schedule && payload) {
      xetile::detail::insertMarks(*schedule, &shared->number);
      succeeded = mlir::succeeded(interpret(*payload, *schedule, entry, /*check=*/true));
      // Invalid IR is diagnosed here, at the schedule's last op.
      succeeded = succeeded && mlir::succeeded(mlir::verify(*payload));
    }
    if (succeeded)
      result->getBody()->push_front(payload.release());
  }
  xetile::detail::writeAll(files.result, xetile::detail::toBytecode(*result));
  llvm::outs().flush();
  fflush(nullptr);
  shared->ending = succeeded ? Shared::Succeeded : Shared::Failed;
  _exit(0);
}

LogicalResult emitDeath(ModuleOp schedule, const Shared &shared, int status, StringRef said) {
  SmallVector<Operation *> ops = xetile::detail::markedOps(schedule);
  bool isKnown = shared.number >= 0 && size_t(shared.number) < ops.size();
  Operation *op = isKnown ? ops[shared.number] : schedule.getOperation();
  InFlightDiagnostic error = op->emitError();
  if (isKnown)
    error << op->getName() << " ended the process that applies the schedule";
  else
    error << "the schedule ended the process that applies it";
  if (WIFSIGNALED(status))
    error << " (" << strsignal(WTERMSIG(status)) << ")";
  error << "; expected handles of ops and parameters that it takes";
  if (StringRef last = said.trim().take_back(400); !last.empty())
    error.attachNote() << "it said: " << last;
  return failure();
}

/// The payload's new contents; ops of it that others point to stay where they are.
void take(ModuleOp payload, ModuleOp result) {
  payload->setAttrs(result->getAttrDictionary());
  payload.getBodyRegion().takeBody(result.getBodyRegion());
}

LogicalResult applyInChild(ModuleOp payload, ModuleOp schedule, StringRef entry) {
  MLIRContext *context = payload.getContext();
  std::string payloadBytes = xetile::detail::toBytecode(payload),
              scheduleBytes = xetile::detail::toBytecode(schedule);
  void *page =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return payload.emitError() << "cannot apply the schedule: " << std::strerror(errno);
  llvm::scope_exit unmap([&] { munmap(page, sizeof(Shared)); });
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto *shared = new (page) Shared();
    Files files;
    if (files.result < 0 || files.said < 0)
      return payload.emitError() << "cannot apply the schedule: " << std::strerror(errno);
    llvm::outs().flush();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
      live(context->getDialectRegistry(), context->allowsUnregisteredDialects(), payloadBytes,
           scheduleBytes, entry, files, shared);
    if (child < 0)
      return payload.emitError() << "cannot apply the schedule: " << std::strerror(errno);
    std::optional<int> status = xetile::detail::awaitChild(child);
    if (!status)
      continue;
    std::string said = xetile::detail::readAll(files.said);
    if (shared->ending == Shared::Running)
      return emitDeath(schedule, *shared, *status, said);
    llvm::errs() << said;
    OwningOpRef<ModuleOp> result =
        xetile::detail::fromBytecode(xetile::detail::readAll(files.result), context);
    if (!result)
      return payload.emitError() << "cannot read what the schedule made of this";
    bool succeeded = shared->ending == Shared::Succeeded;
    SmallVector<ModuleOp> modules = llvm::to_vector(result->getOps<ModuleOp>());
    for (ModuleOp diagnostic : llvm::drop_begin(modules, succeeded ? 1 : 0))
      xetile::detail::repeat(diagnostic);
    if (succeeded)
      take(payload, modules.front());
    return success(succeeded);
  }
  return payload.emitError() << "the schedule makes no progress, tried " << kAttempts << " times";
}

} // namespace

LogicalResult xetile::applySchedule(ModuleOp payload, ModuleOp schedule, StringRef entry,
                                    bool trusted) {
  if (trusted)
    return interpret(payload, schedule, entry, /*check=*/false);
  if (failed(checkSchedule(schedule, entry)))
    return failure();
  return applyInChild(payload, schedule, entry);
}
