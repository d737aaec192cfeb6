// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device.h: the OpenCL devices, the choice among them, and one device in use.
// Input: platforms and XETILE_DEVICE; output: device facts, a context, in-order queues, USM entry
// points. Refused: a choice that names no device; no device at all.
#ifndef XETILE_RUNTIME_DEVICE_H
#define XETILE_RUNTIME_DEVICE_H

#include "OpenCL.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace xetile::runtime {

enum class SharedVirtualMemory { None, Coarse, Fine, System };

struct DeviceInfo {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  std::string name, platformName, driver, version, extensions;
  cl_device_type type = 0;
  std::vector<size_t> subgroupSizes;
  SharedVirtualMemory svm = SharedVirtualMemory::None;
  bool usm = false, fp16 = false, fp64 = false, spirv = false, intel = false;
  bool nativeBlockIo = false, nativeDpas = false;
  cl_uint computeUnits = 0;
  cl_ulong localMemory = 0;

  bool isCpu() const { return type & CL_DEVICE_TYPE_CPU; }
  bool isGpu() const { return type & CL_DEVICE_TYPE_GPU; }
  bool hasSubgroupSize(size_t size) const;
  /// A kernel may read any host pointer.
  bool readsHostMemory() const { return svm == SharedVirtualMemory::System; }
  /// All lanes of a subgroup run in one thread and share its stack (see BuiltinText.h).
  bool runsLockstep() const { return isCpu() && intel; }
};

/// Found once per process.
const std::vector<DeviceInfo> &allDevices();
/// Icd.h's description of where drivers were looked for.
const std::string &driverDescription();

class Device;

/// A command queue with profiling; kernels and copies run in order.
struct Stream {
  Device *device = nullptr;
  cl_command_queue queue = nullptr;
};

/// One device in use. Lives as long as the process: destroying OpenCL objects from static
/// destructors would race with the driver's own.
class Device {
public:
  explicit Device(const DeviceInfo &info);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceInfo &info() const { return facts; }
  cl_context context() const { return clContext; }

  /// For calls without a stream.
  Stream &defaultStream() { return fallbackStream; }
  Stream *acquireStream();
  void releaseStream(Stream *stream);

  clDeviceMemAllocINTEL_fn deviceMemAlloc = nullptr;
  clSharedMemAllocINTEL_fn sharedMemAlloc = nullptr;
  clMemBlockingFreeINTEL_fn memBlockingFree = nullptr;
  clSetKernelArgMemPointerINTEL_fn setKernelArgMemPointer = nullptr;
  clEnqueueMemcpyINTEL_fn enqueueMemcpy = nullptr;
  clEnqueueMemFillINTEL_fn enqueueMemFill = nullptr;

private:
  cl_command_queue createQueue();

  DeviceInfo facts;
  cl_context clContext = nullptr;
  Stream fallbackStream;
  std::mutex poolMutex;
  std::vector<Stream *> idleStreams;
};

/// The device that mgpuSetDefaultDevice, else XETILE_DEVICE, else the default rule chose: the first
/// Intel GPU that runs SPIR-V in subgroups of 16, else the first such CPU device, else the first
/// CPU device.
Device &currentDevice();

/// The index into allDevices(), or -1 if none fits (never throws).
int currentDeviceIndex();

/// Throws if there is no such device.
void setCurrentDevice(int index);

} // namespace xetile::runtime
#endif
