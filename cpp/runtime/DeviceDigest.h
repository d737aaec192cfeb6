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
/// nothing to do. `Order` is that of the run that comes next, whose threads then have in their own
/// caches what they write to: of cores that share no cache, a store fetches a line that another one
/// wrote to forty times slower than a load does, which is fetched ahead.
enum class Order { Forwards, Backwards };
Digest digestBy(Device &device, cl_command_queue queue, const void *bytes, size_t size, Order next);

} // namespace xetile::runtime
#endif
