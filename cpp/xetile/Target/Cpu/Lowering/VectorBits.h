//===- VectorBits.h - the option vector-bits of passes for CPUs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_CPU_LOWERING_VECTORBITS_H
#define XETILE_TARGET_CPU_LOWERING_VECTORBITS_H

#include "xetile/Target/Cpu/Machine/Machine.h"
#include "llvm/Support/MathExtras.h"

namespace xetile {

/// Fails with an error where `asked` is neither 0 nor the size of a vector register.
inline llvm::LogicalResult checkVectorBits(int64_t asked, mlir::MLIRContext *context) {
  if (asked == 0 || (asked >= 128 && llvm::isPowerOf2_64(asked)))
    return llvm::success();
  return mlir::emitError(mlir::UnknownLoc::get(context))
         << "vector-bits = " << asked << ": expected 0 (the machine's) or a power of two from 128";
}

/// `asked`, or where that is 0 those of the machine that `op` is compiled for. Fails with an error
/// where the module describes it wrongly.
inline mlir::FailureOr<int64_t> vectorBitsFor(mlir::Operation *op, int64_t asked) {
  if (asked != 0)
    return asked;
  mlir::FailureOr<Machine> machine = describeMachine(op, /*require=*/false);
  if (failed(machine))
    return mlir::failure();
  return machine->vectorBits;
}

} // namespace xetile

#endif // XETILE_TARGET_CPU_LOWERING_VECTORBITS_H
