//===- Schedule.h - schedules in files, checked and applied -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_SCHEDULE_H
#define XETILE_TARGET_SCHEDULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::transform {
class NamedSequenceOp;
}

namespace xetile {

/// Adds to a schedule what it does not define itself. A part NAME is `parts/NAME.mlir` in the first
/// of `folders` that has it, else the package's; another sequence that is declared is `NAME.mlir`
/// in the first of them, else the package's. All parts are added, as steps that are appended may
/// include any. Errors are at the file that cannot be read or merged.
llvm::LogicalResult completeSchedule(mlir::ModuleOp schedule, llvm::ArrayRef<std::string> folders);

/// The folders that files of a schedule are in.
llvm::SmallVector<std::string> foldersOf(llvm::ArrayRef<std::string> files);

/// Succeeds if a schedule can be read with its parts, in a child process; else emits its errors, or
/// one at the file if reading ends that process.
llvm::LogicalResult probeSchedule(mlir::MLIRContext *context, llvm::ArrayRef<std::string> files);

/// Returns true if a file belongs to the package's schedules (links followed).
bool isPackagedSchedule(llvm::StringRef file);

/// The sequence that a schedule begins with; null, with an error, if it has none of that name.
mlir::transform::NamedSequenceOp findEntry(mlir::ModuleOp schedule, llvm::StringRef entry);

/// Refuses what would be wrong or end the process whatever the payload is: uses of handles after
/// they were consumed, also by yields; includes and matchers that nothing defines; recursion.
/// Errors are at the schedule's op.
llvm::LogicalResult checkSchedule(mlir::ModuleOp schedule, llvm::StringRef entry);

/// Applies the sequence `entry` of a schedule to a payload. One that is not `trusted` is checked
/// and runs in a child process, on copies: where that dies, the error names the transform op that
/// was running. The payload keeps its identity and takes the result's contents.
llvm::LogicalResult applySchedule(mlir::ModuleOp payload, mlir::ModuleOp schedule,
                                  llvm::StringRef entry, bool trusted);

namespace detail {
/// Instruments a schedule in a child process before it runs: a mark before each op, which tells
/// `progress` its number and has the op's handles checked by the interpreter, where upstream does
/// not (yields).
void registerMarks(mlir::DialectRegistry &registry);
void insertMarks(mlir::ModuleOp schedule, volatile int64_t *progress);
/// The ops that get a mark, in the order of their numbers.
llvm::SmallVector<mlir::Operation *> markedOps(mlir::ModuleOp schedule);
} // namespace detail

} // namespace xetile

#endif // XETILE_TARGET_SCHEDULE_H
