// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory.h: device memory behind gpu.alloc, gpu.memcpy and gpu.memset.
// Input: sizes and pointers of the host program; output: unified or shared virtual memory of one
// device. Refused: a device with neither; freeing or passing a pointer that is not known.
#ifndef XETILE_RUNTIME_MEMORY_H
#define XETILE_RUNTIME_MEMORY_H

#include "Device.h"
#include "GuardedMemory.h"

#include <cstddef>
#include <optional>

namespace xetile::runtime {

/// At least 64-byte aligned, as 2D block messages need their base. Null for size 0.
void *allocate(Device &device, size_t size, bool hostShared);

/// The same for a copy of host memory of one launch.
void *allocateForCopy(Device &device, size_t size);

/// To such a copy, where it is on return, and back, when all kernels have ended.
void copyToDevice(Device &device, void *to, const void *host, size_t size);
void copyToHost(Device &device, void *host, const void *from, size_t size);

/// Memory behind a guard (GuardedMemory.h), of which allocate() gives none.
void *allocateBehindGuard(Device &device, size_t size);

/// Memory of any content in front of a guard or behind one, which takes next to no place.
void *allocateShadow(Device &device, size_t size, Against against, bool written);

/// Host memory that release() knows, for host code that goes on after a recorded error.
void *allocateHostFallback(size_t size);

/// Waits for the work that may still use the memory. Null is ignored.
void release(void *pointer, Stream *stream);

/// The same for memory that no work uses any more: to wait costs more than some kernels.
void releaseIdle(void *pointer);

/// True if `pointer` lies in an allocation that `device` can access.
bool isAllocatedFor(const Device &device, const void *pointer);

struct Extent {
  void *start;
  size_t size;
};
/// The allocation that `pointer` lies in, if it lies in one.
std::optional<Extent> allocationOf(const void *pointer);

/// Bytes from `pointer` to the end of the allocation that it lies in, if it lies in one.
std::optional<size_t> bytesBehind(const void *pointer);

/// Any mix of device allocations and pageable host memory. Asynchronous only if `stream` is given.
void copy(Device &device, void *to, const void *from, size_t size, Stream *stream);

/// Fills `count` elements of `patternSize` bytes.
void fill(Device &device, void *to, const void *pattern, size_t patternSize, size_t count,
          Stream *stream);

size_t liveAllocations();

} // namespace xetile::runtime
#endif
