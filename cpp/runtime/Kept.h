// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kept.h: copies of a program's constants on devices, which stay until the program goes.
// Input: host memory that never changes; output: its copy on the current device. Refused: what the
// device has no memory for.
#ifndef XETILE_RUNTIME_KEPT_H
#define XETILE_RUNTIME_KEPT_H

#include "Device.h"

#include <cstddef>

namespace xetile::runtime {

/// The copy of `size` bytes at `host` on `device`, made when it is first asked for. Any number of
/// threads may ask at once. Null for size 0.
void *keep(Device &device, const void *owner, const void *host, size_t size);

/// Frees all copies of `owner`, on all devices. At the end of the process the system does: the
/// driver may be gone by then.
void forget(const void *owner);

struct KeptCounters {
  uint64_t uploads = 0, bytes = 0;
  size_t live = 0;
};
/// Copies that were made and their bytes, and those that there are.
KeptCounters keptCounters();

} // namespace xetile::runtime
#endif
