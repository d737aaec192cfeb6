//===- ExplainKernels.h - what is known of a program's kernels ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_EXPLAINKERNELS_H
#define XETILE_SCHEDULE_PROGRAMS_EXPLAINKERNELS_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace xetile {

/// An op of a program, and the kernel that computes it.
struct OpInKernel {
  mlir::Operation *op;
  int64_t kernel;
  llvm::StringRef schedule;
  std::string reason;
};

/// Memory traffic of a kernel that reads and writes each element once, in bytes. None for dynamic
/// sizes.
struct KernelTraffic {
  int64_t kernel;
  llvm::StringRef schedule;
  std::optional<int64_t> read, written;
};

struct ExplainedKernels {
  /// In the order of the program.
  llvm::SmallVector<OpInKernel> ops;
  /// In the order in which they run.
  llvm::SmallVector<KernelTraffic> kernels;
};

/// The kernels that transform.xetile.assign_kernels would make of the functions of `module`,
/// numbered as it does. None where those that were given by number wait for one another.
ExplainedKernels explainKernels(mlir::Operation *module);

} // namespace xetile

#endif // XETILE_SCHEDULE_PROGRAMS_EXPLAINKERNELS_H
