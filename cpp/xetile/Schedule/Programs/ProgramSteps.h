//===- ProgramSteps.h - steps that several transform ops take ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_SCHEDULE_PROGRAMS_PROGRAMSTEPS_H
#define XETILE_SCHEDULE_PROGRAMS_PROGRAMSTEPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/PatternMatch.h"

namespace xetile {
struct Target;
}

namespace xetile::transform_ops {

/// Numbers the kernels of `func`: `transform.xetile.assign_kernels`. Failures name `step`. Matmuls
/// join reductions of their rows where `joinsProducts`. `attentions`: a target with tiles of its
/// own for these, or null.
mlir::DiagnosedSilenceableFailure assignKernels(mlir::RewriterBase &rewriter,
                                                mlir::func::FuncOp func, mlir::Operation *step,
                                                bool joinsProducts,
                                                const Target *attentions = nullptr);

/// Makes a module of each kernel of the functions in `target`: `transform.xetile.extract_kernels`.
mlir::DiagnosedSilenceableFailure extractKernels(mlir::RewriterBase &rewriter,
                                                 mlir::Operation *target, mlir::Operation *step);

} // namespace xetile::transform_ops

#endif // XETILE_SCHEDULE_PROGRAMS_PROGRAMSTEPS_H
