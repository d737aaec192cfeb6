//===- SuggestSchedule.h - the schedule of a program for a GPU -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_SUGGESTSCHEDULE_H
#define XETILE_SCHEDULE_SUGGESTSCHEDULE_H

#include "mlir/IR/Operation.h"

namespace xetile {

/// The name of the packaged schedule that takes all that `module` computes to kernels of a GPU:
/// "gpu_model" where it takes several, or there are tensors without elements; for one "matmul"
/// around a matmul that a matrix unit has, "rows" where something else is reduced, "elementwise".
/// Where none does, the one whose errors list what is too much. `prepared` is what the sequence
/// @prepare of "gpu_model" made of a copy of the module, null where it failed.
llvm::StringRef suggestSchedule(mlir::Operation *module, mlir::Operation *prepared);

} // namespace xetile

#endif // XETILE_SCHEDULE_SUGGESTSCHEDULE_H
