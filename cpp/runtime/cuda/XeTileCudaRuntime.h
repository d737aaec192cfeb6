// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// XeTileCudaRuntime.h: what libXeTileCudaRuntime offers to host code of kernels in PTX.
// Input: plain C values; output: launches by the driver of Nvidia's GPUs, which is opened at the
// first one. Refused: through a recorded or printed error, as xetileCudaSetErrorMode says; while a
// recorded error waits every call is harmless.
//
// Environment:
// - XETILE_CUDA_DRIVER: the driver's library (default: libcuda.so.1, where the system finds it)
#ifndef XETILE_RUNTIME_CUDA_XETILECUDARUNTIME_H
#define XETILE_RUNTIME_CUDA_XETILECUDARUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define XETILE_CUDA_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// Begins a launch of the kernel `name` of a PTX text, which the driver compiles once; `slot` keeps
/// what it made and is 0 at first. `sharedBytes` is the shared memory of a workgroup.
XETILE_CUDA_EXPORT void *xetileCudaBegin(int64_t *slot, const char *ptx, const char *name,
                                         int64_t sharedBytes);

/// The next argument, an array of at most five dimensions: parameters of a memref. Sizes, strides
/// and offset in elements; `access` is 1 if the kernel reads it, 3 if it writes it, too. An array
/// that is in the host's memory is copied to the device, and back after the launch if it is
/// written.
XETILE_CUDA_EXPORT void xetileCudaMatrix(void *launch, int64_t address, int64_t offset,
                                         int64_t access, int64_t bytes, int64_t rank, int64_t size0,
                                         int64_t size1, int64_t size2, int64_t size3, int64_t size4,
                                         int64_t stride0, int64_t stride1, int64_t stride2,
                                         int64_t stride3, int64_t stride4);

/// The same of an array of up to 8 dimensions.
XETILE_CUDA_EXPORT void xetileCudaArray(void *launch, int64_t address, int64_t offset,
                                        int64_t access, int64_t bytes, int64_t rank, int64_t size0,
                                        int64_t size1, int64_t size2, int64_t size3, int64_t size4,
                                        int64_t size5, int64_t size6, int64_t size7,
                                        int64_t stride0, int64_t stride1, int64_t stride2,
                                        int64_t stride3, int64_t stride4, int64_t stride5,
                                        int64_t stride6, int64_t stride7);

/// The next argument, a number of so many bytes.
XETILE_CUDA_EXPORT void xetileCudaNumber(void *launch, int64_t value, int64_t bytes);

/// A tensor map of an argument that is a matrix, or a batch of them, in boxes of inner x outer
/// elements with 128-byte swizzle; `kind` is a CUtensorMapDataType. It becomes a parameter behind
/// all arguments.
XETILE_CUDA_EXPORT void xetileCudaMap(void *launch, int64_t argument, int64_t kind, int64_t inner,
                                      int64_t outer);

/// The same where the outer side of boxes is along dimension `outerDim` of the array, counted from
/// the innermost, which is 0; xetileCudaMap has 1.
XETILE_CUDA_EXPORT void xetileCudaMapAlong(void *launch, int64_t argument, int64_t kind,
                                           int64_t inner, int64_t outer, int64_t outerDim);

/// The kernel reads an argument in units of so many bytes: it has to begin at a multiple of them.
XETILE_CUDA_EXPORT void xetileCudaAligned(void *launch, int64_t argument, int64_t bytes);

/// The kernel's workgroups walk over the grid: as many are launched as the device runs at once, and
/// the grid's sizes become a parameter behind all others.
XETILE_CUDA_EXPORT void xetileCudaWalk(void *launch);

/// The same for a kernel whose workgroups draw tiles from a counter of this thread's stream, whose
/// address is 16 bytes behind the grid's sizes. It is zero before and after each launch.
XETILE_CUDA_EXPORT void xetileCudaDraw(void *launch);

/// Launches and forgets the launch. Waits for the kernel if an array was copied.
XETILE_CUDA_EXPORT void xetileCudaLaunch(void *launch, int64_t x, int64_t y, int64_t z,
                                         int64_t threads);

/// Kernels that this thread launches from now on, and its copies on the device, run on that stream
/// of the driver (CUstream), null for the default one. Returns the stream before.
XETILE_CUDA_EXPORT void *xetileCudaSetStream(void *stream);

/// Memory of the device for what kernels of one call hand on; null after an error. Freed, it serves
/// later calls on the same stream.
XETILE_CUDA_EXPORT void *xetileCudaAllocate(int64_t bytes);
XETILE_CUDA_EXPORT void xetileCudaFree(void *memory);

/// Copies memory, each side on the host or the device.
XETILE_CUDA_EXPORT void xetileCudaCopy(int64_t to, int64_t from, int64_t bytes);

/// 0 prints errors and ends the process (the default), 1 records the first one. Returns the mode
/// before.
XETILE_CUDA_EXPORT int xetileCudaSetErrorMode(int mode);

/// Copies the recorded message (cut to `size` bytes, null-terminated) and forgets it; with a null
/// `out` it stays. Returns its full length, 0 if nothing failed.
XETILE_CUDA_EXPORT size_t xetileCudaTakeError(char *out, size_t size);

/// The same of the device's name, its driver's version and its capability.
XETILE_CUDA_EXPORT size_t xetileCudaDescribeDevice(char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
