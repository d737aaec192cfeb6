// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeviceDigest.h: digests of long arrays by the threads that run kernels.
// Input: memory of the host that the device reads; output: its digest. Refused: nothing.
#ifndef XETILE_RUNTIME_DEVICEDIGEST_H
#define XETILE_RUNTIME_DEVICEDIGEST_H

#include "Device.h"
#include "HostBytes.h"

namespace xetile::runtime {

/// By a kernel where the array is long: the driver's threads wait for the next kernel by spinning,
/// so another thread takes a core from them. Equal sizes have digests of equal kinds. The queue has
/// nothing to do.
Digest digestBy(Device &device, cl_command_queue queue, const void *bytes, size_t size);

} // namespace xetile::runtime
#endif
