//===- KernelEffects.h - what code does to memory behind an address ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef XETILE_TARGET_HOST_KERNELEFFECTS_H
#define XETILE_TARGET_HOST_KERNELEFFECTS_H

namespace mlir {
class Operation;
class Value;
} // namespace mlir

namespace xetile {

/// False only if the kernel certainly does not write through its argument `index`. A null or
/// lowered kernel may write.
bool kernelMayWrite(mlir::Operation *kernel, unsigned index);

/// False only if certainly nothing writes through this value: no op, and no kernel that is launched
/// with it. What callers do with a function's results does not count.
bool mayBeWritten(mlir::Value address);

} // namespace xetile

#endif // XETILE_TARGET_HOST_KERNELEFFECTS_H
