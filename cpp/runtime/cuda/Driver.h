// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Driver.h: the driver's functions that the runtime calls, found at run time.
// Input: a library; output: functions. Refused: no driver, no GPU, one that is no Hopper.
#ifndef XETILE_RUNTIME_CUDA_DRIVER_H
#define XETILE_RUNTIME_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace xetile::runtime::cuda {

// As the driver's C interface has them; nothing of its header is needed.
using Result = int;
using DevicePointer = uint64_t;
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

/// A table of functions, null until `driver` has found them.
struct Driver {
  Result (*init)(unsigned);
  Result (*driverGetVersion)(int *);
  Result (*deviceGet)(int *, int);
  Result (*deviceGetName)(char *, int, int);
  Result (*deviceGetAttribute)(int *, int, int);
  Result (*devicePrimaryCtxRetain)(void **, int);
  Result (*ctxGetCurrent)(void **);
  Result (*ctxSetCurrent)(void *);
  Result (*ctxGetDevice)(int *);
  Result (*ctxSynchronize)();
  Result (*moduleLoadDataEx)(void **, const void *, unsigned, int *, void **);
  Result (*moduleGetFunction)(void **, void *, const char *);
  Result (*funcSetAttribute)(void *, int, int);
  Result (*launchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void *, void **, void **);
  Result (*memAlloc)(DevicePointer *, size_t);
  Result (*memFree)(DevicePointer);
  Result (*memcpyToDevice)(DevicePointer, const void *, size_t);
  Result (*memcpyToHost)(void *, DevicePointer, size_t);
  Result (*memcpyOnDevice)(DevicePointer, DevicePointer, size_t, void *);
  Result (*streamSynchronize)(void *);
  Result (*memcpyAny)(DevicePointer, DevicePointer, size_t);
  Result (*pointerGetAttribute)(void *, int, DevicePointer);
  Result (*tensorMapEncodeTiled)(TensorMap *, int, uint32_t, void *, const uint64_t *,
                                 const uint64_t *, const uint32_t *, const uint32_t *, int, int,
                                 int, int);
  Result (*getErrorString)(Result, const char **);
};

/// The driver, with a context of this thread on a device that runs kernels for sm_90a. Throws
/// Error.
const Driver &driver();

/// The stream of this thread's launches; null at first, which is the default one.
void *&currentStream();

/// Throws Error: what was done, what the driver says.
[[noreturn]] void fail(const Driver &driver, Result result, const std::string &doing);

/// The same if a call failed. Calls that succeed make no text.
inline void check(const Driver &driver, Result result, const char *doing) {
  if (result)
    fail(driver, result, doing);
}
inline void check(const Driver &driver, Result result, const std::string &doing) {
  if (result)
    fail(driver, result, doing);
}

/// "NVIDIA H200, driver 13.0, capability 9.0".
std::string describeDevice();

} // namespace xetile::runtime::cuda
#endif
