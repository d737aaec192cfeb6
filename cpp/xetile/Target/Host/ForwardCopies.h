//===- ForwardCopies.h - copies of memory that does not change ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_FORWARDCOPIES_H
#define XETILE_TARGET_HOST_FORWARDCOPIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace xetile {

/// Lets what reads a copy of an allocation read the allocation, where both are written before all
/// that reads them: as tensors were, of which one-shot bufferization copies those that loops carry.
/// Copies of the caller's memory stay.
void forwardCopies(mlir::RewriterBase &rewriter, mlir::func::FuncOp func);

} // namespace xetile

#endif // XETILE_TARGET_HOST_FORWARDCOPIES_H
