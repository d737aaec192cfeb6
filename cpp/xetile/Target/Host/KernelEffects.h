//===- KernelEffects.h - what a kernel does to its arguments ----------------===//
#ifndef XETILE_TARGET_HOST_KERNELEFFECTS_H
#define XETILE_TARGET_HOST_KERNELEFFECTS_H

namespace mlir {
class Operation;
}

namespace xetile {

/// False only if the kernel certainly does not write through its argument `index`. A null or
/// lowered kernel may write.
bool kernelMayWrite(mlir::Operation *kernel, unsigned index);

} // namespace xetile

#endif // XETILE_TARGET_HOST_KERNELEFFECTS_H
