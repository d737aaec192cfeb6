//===- ScheduleMark.h - what steps tell one another on linalg ops -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_LINALG_SCHEDULEMARK_H
#define XETILE_LINALG_SCHEDULEMARK_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "xetile/IR/DialectAttrs.h"

namespace xetile {

/// The name of no schedule: an op that has it becomes loops.
constexpr llvm::StringLiteral kLeaveAlone = "none";

inline llvm::StringRef scheduleOf(mlir::Operation *op) {
  auto mark = op->getAttrOfType<mlir::StringAttr>(kScheduleAttr);
  return mark ? mark.getValue() : llvm::StringRef();
}

/// True if a step for `schedules`, or for any if the list is empty, may take `op`. An op without a
/// mark was created by other steps.
inline bool isFor(mlir::Operation *op, llvm::ArrayRef<std::string> schedules) {
  llvm::StringRef mark = scheduleOf(op);
  return mark.empty() ||
         (mark != kLeaveAlone && (schedules.empty() || llvm::is_contained(schedules, mark)));
}

/// Writes the mark of `from` at what takes its place.
inline void keepMark(mlir::Operation *from, mlir::Operation *to) {
  if (mlir::Attribute mark = from->getAttr(kScheduleAttr))
    to->setAttr(kScheduleAttr, mark);
}

} // namespace xetile

#endif // XETILE_LINALG_SCHEDULEMARK_H
