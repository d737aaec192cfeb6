//===- ProbeSchedule.cpp - a schedule's files, read in a child process ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In: files of a schedule. Out: nothing; they can be read.
// Refused: files that cannot be read, and those that upstream's parser and verifiers die of: some
// read operands that an op does not have, and die now and then only, so that what is refused once
// is not read again.
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "xetile/Target/ChildMessages.h"
#include "xetile/Target/ChildProcess.h"
#include "xetile/Target/Schedule.h"
#include "llvm/ADT/ScopeExit.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace {

[[noreturn]] void read(const DialectRegistry &known, ArrayRef<std::string> files, int said) {
  xetile::detail::beginChild();
  if (int null = open("/dev/null", O_WRONLY); null >= 0)
    dup2(null, 2);
  DialectRegistry registry;
  known.appendTo(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> diagnostics = ModuleOp::create(builder, builder.getUnknownLoc());
  builder.setInsertionPointToEnd(diagnostics->getBody());
  OwningOpRef<ModuleOp> schedule;
  bool isRead = false;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      xetile::detail::record(builder, diagnostic);
      return success();
    });
    isRead = succeeded(
                 transform::detail::assembleTransformLibraryFromPaths(&context, files, schedule)) &&
             schedule && succeeded(xetile::completeSchedule(*schedule, xetile::foldersOf(files)));
  }
  if (!isRead)
    xetile::detail::writeAll(said, xetile::detail::toBytecode(*diagnostics));
  _exit(isRead ? 0 : 1);
}

LogicalResult repeatErrors(MLIRContext *context, int said) {
  OwningOpRef<ModuleOp> diagnostics =
      xetile::detail::fromBytecode(xetile::detail::readAll(said), context);
  if (!diagnostics || diagnostics->getBody()->empty())
    return success(); // told when the files are read again
  for (auto diagnostic : diagnostics->getOps<ModuleOp>())
    xetile::detail::repeat(diagnostic);
  return failure();
}

} // namespace

LogicalResult xetile::probeSchedule(MLIRContext *context, ArrayRef<std::string> files) {
  Location place = files.empty() ? Location(UnknownLoc::get(context))
                                 : FileLineColLoc::get(context, files.front(), 0, 0);
  fflush(nullptr);
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    int said = memfd_create("xetile-said", MFD_CLOEXEC);
    if (said < 0)
      return emitError(place) << "cannot read the schedule: " << std::strerror(errno);
    llvm::scope_exit closed([&] { close(said); });
    pid_t child = fork();
    if (child == 0)
      read(context->getDialectRegistry(), files, said);
    if (child < 0)
      return emitError(place) << "cannot read the schedule: " << std::strerror(errno);
    std::optional<int> status = detail::awaitChild(child);
    if (!status)
      continue;
    if (WIFSIGNALED(*status))
      return emitError(place) << "the schedule, with its parts, ends the process that reads it ("
                              << strsignal(WTERMSIG(*status))
                              << "); expected transform ops with the operands, attributes and "
                                 "regions that their documentation names: undo the last change";
    return WEXITSTATUS(*status) == 0 ? success() : repeatErrors(context, said);
  }
  return emitError(place) << "the schedule cannot be read in a process of its own, tried "
                          << kAttempts << " times";
}
