// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch.h: device memory between the kernels of a call.
#ifndef XETILE_RUNTIME_CUDA_SCRATCH_H
#define XETILE_RUNTIME_CUDA_SCRATCH_H

#include "Driver.h"
#include <cstddef>

namespace xetile::runtime::cuda {

/// Memory for the launches that follow on this thread's stream, until it is given back. Throws
/// Error.
DevicePointer takeScratch(const Driver &driver, size_t bytes);
/// Gives it back: launches before on this thread's stream may still use it.
void giveScratch(const Driver &driver, DevicePointer memory);

/// True for an address in memory that takeScratch gave, which is never freed: the driver need not
/// be asked.
bool isScratch(DevicePointer address);

/// Two zeros of 4 bytes that are this thread's stream's. Throws Error.
DevicePointer streamCounter(const Driver &driver);

} // namespace xetile::runtime::cuda

#endif // XETILE_RUNTIME_CUDA_SCRATCH_H
