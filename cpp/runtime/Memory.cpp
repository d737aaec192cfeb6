// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory.cpp: device memory behind gpu.alloc, gpu.memcpy and gpu.memset.
// Input: sizes and pointers of the host program; output: USM where the device has it, else SVM.
// Refused: a device with neither; freeing a pointer that this runtime did not allocate.
#include "Memory.h"

#include "Errors.h"
#include "HostBytes.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

namespace xetile::runtime {
namespace {

constexpr cl_uint alignment = 64;

enum class Kind { Usm, Svm, Host, Guarded };

struct Allocation {
  size_t size;
  Kind kind;
  Device *device;
};

std::mutex &tableMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

// Ordered by address: kernels receive pointers into the middle of an allocation, too.
std::map<uintptr_t, Allocation> &table() {
  static auto *allocations = new std::map<uintptr_t, Allocation>;
  return *allocations;
}

void *record(void *pointer, Allocation allocation) {
  std::lock_guard<std::mutex> lock(tableMutex());
  table()[reinterpret_cast<uintptr_t>(pointer)] = allocation;
  return pointer;
}

std::string sizeText(size_t size) { return std::to_string(size) + " bytes"; }

/// Of a device: what it has, hands out at once, and what this process has of it.
std::string remedyFor(const Device &device) {
  size_t taken = 0;
  {
    std::lock_guard<std::mutex> lock(tableMutex());
    for (const auto &[address, allocation] : table())
      if (allocation.device == &device)
        taken += allocation.size;
  }
  cl_device_id id = device.info().id;
  return "The device has " + sizeText(deviceValue<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE)) +
         " and hands out at most " +
         sizeText(deviceValue<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE)) +
         " at once; this process has " + sizeText(taken) +
         " of it. Free memory, use a smaller problem, or cut it into parts";
}

void *allocateInFrontOfGuard(Device &device, size_t size, Fill fill) {
  const DeviceInfo &info = device.info();
  if (!info.readsHostMemory())
    throw Error("XETILE_CHECK=1 needs a device that reads the host's memory, which '" + info.name +
                "' does not; unset it, or choose a CPU with XETILE_DEVICE");
  return record(allocateGuarded(size, Against::End, fill), {size, Kind::Guarded, &device});
}

} // namespace

void *allocate(Device &device, size_t size, bool hostShared) {
  if (size == 0)
    return nullptr;
  if (checksLaunches())
    return allocateInFrontOfGuard(device, size, Fill::All);
  const DeviceInfo &info = device.info();
  cl_int status = CL_SUCCESS;
  if (info.usm) {
    void *pointer =
        hostShared
            ? device.sharedMemAlloc(device.context(), info.id, nullptr, size, alignment, &status)
            : device.deviceMemAlloc(device.context(), info.id, nullptr, size, alignment, &status);
    if (status != CL_SUCCESS)
      check(status, "allocating " + sizeText(size) + " on '" + info.name + "'", remedyFor(device));
    return record(pointer, {size, Kind::Usm, &device});
  }
  if (info.svm == SharedVirtualMemory::None)
    throw Error("the device '" + info.name +
                "' has neither unified shared memory nor shared virtual memory, so kernels cannot "
                "take pointers on "
                "it. Choose another device with XETILE_DEVICE");
  if (hostShared && info.svm == SharedVirtualMemory::Coarse)
    throw Error(
        "gpu.alloc host_shared needs memory that host and device see at once, and the device '" +
        info.name +
        "' has only coarse-grained shared virtual memory. Use plain gpu.alloc with gpu.memcpy");
  cl_svm_mem_flags flags = CL_MEM_READ_WRITE | (hostShared ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0);
  void *pointer = clSVMAlloc(device.context(), flags, size, alignment);
  if (!pointer)
    throw Error("allocating " + sizeText(size) + " on '" + info.name + "' failed. " +
                remedyFor(device));
  return record(pointer, {size, Kind::Svm, &device});
}

void *allocateForCopy(Device &device, size_t size) {
  return size && checksLaunches() ? allocateInFrontOfGuard(device, size, Fill::Around)
                                  : allocate(device, size, false);
}

void copyToDevice(Device &device, void *to, const void *host, size_t size) {
  if (checksLaunches())
    copyBytes(to, host, size);
  else
    copy(device, to, host, size, nullptr);
}

void copyToHost(Device &device, void *host, const void *from, size_t size) {
  if (checksLaunches())
    copyBytes(host, from, size);
  else
    copy(device, host, from, size, nullptr);
}

void *allocateBehindGuard(Device &device, size_t size) {
  return record(allocateGuarded(size, Against::Start, Fill::Around),
                {size, Kind::Guarded, &device});
}

void *allocateShadow(Device &device, size_t size, Against against, bool written) {
  return record(allocateGuarded(size, against, written ? Fill::ToWrite : Fill::ToRead),
                {size, Kind::Guarded, &device});
}

void *allocateHostFallback(size_t size) {
  void *pointer = std::calloc(1, size ? size : 1);
  return pointer ? record(pointer, {size, Kind::Host, nullptr}) : nullptr;
}

namespace {

/// Takes an allocation out of the table.
Allocation forget(void *pointer) {
  std::lock_guard<std::mutex> lock(tableMutex());
  auto found = table().find(reinterpret_cast<uintptr_t>(pointer));
  if (found == table().end()) {
    std::ostringstream text;
    text << "gpu.dealloc of " << pointer
         << ", which gpu.alloc did not return or which was freed before";
    throw Error(text.str());
  }
  Allocation allocation = found->second;
  table().erase(found);
  return allocation;
}

void waitForUsers(const Allocation &allocation, Stream *stream) {
  // Drivers know what uses an allocation by the pointers that commands were given:
  // clMemBlockingFree of Intel's for CPUs does not wait for copies to and from its inside.
  check(clFinish((stream ? *stream : allocation.device->defaultStream()).queue),
        "waiting for a command queue");
}

void free(void *pointer, const Allocation &allocation) {
  if (allocation.kind == Kind::Host)
    std::free(pointer);
  else if (allocation.kind == Kind::Guarded)
    releaseGuarded(pointer);
  else if (allocation.kind == Kind::Usm)
    check(allocation.device->memBlockingFree(allocation.device->context(), pointer),
          "freeing device memory");
  else
    clSVMFree(allocation.device->context(), pointer);
}

} // namespace

void release(void *pointer, Stream *stream) {
  if (!pointer)
    return;
  Allocation allocation = forget(pointer);
  if (allocation.kind != Kind::Host)
    waitForUsers(allocation, stream);
  free(pointer, allocation);
}

void releaseIdle(void *pointer) {
  if (pointer)
    free(pointer, forget(pointer));
}

bool isAllocatedFor(const Device &device, const void *pointer) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  std::lock_guard<std::mutex> lock(tableMutex());
  auto next = table().upper_bound(address);
  if (next == table().begin())
    return false;
  auto candidate = std::prev(next);
  // A pointer one past the end is the aligned pointer of an empty view.
  return candidate->second.device == &device &&
         address - candidate->first <= candidate->second.size;
}

std::optional<Extent> allocationOf(const void *pointer) {
  auto address = reinterpret_cast<uintptr_t>(pointer);
  std::lock_guard<std::mutex> lock(tableMutex());
  auto next = table().upper_bound(address);
  if (next == table().begin())
    return std::nullopt;
  auto candidate = std::prev(next);
  if (address - candidate->first > candidate->second.size)
    return std::nullopt;
  return Extent{reinterpret_cast<void *>(candidate->first), candidate->second.size};
}

std::optional<size_t> bytesBehind(const void *pointer) {
  std::optional<Extent> extent = allocationOf(pointer);
  if (!extent)
    return std::nullopt;
  return extent->size - static_cast<size_t>(static_cast<const char *>(pointer) -
                                            static_cast<char *>(extent->start));
}

void copy(Device &device, void *to, const void *from, size_t size, Stream *stream) {
  if (size == 0 || to == from)
    return;
  if (!to || !from)
    throw Error("gpu.memcpy of " + sizeText(size) + (to ? " from" : " to") + " a null pointer");
  cl_command_queue queue = (stream ? *stream : device.defaultStream()).queue;
  cl_bool blocking = stream ? CL_FALSE : CL_TRUE;
  cl_int status = device.enqueueMemcpy
                      ? device.enqueueMemcpy(queue, blocking, to, from, size, 0, nullptr, nullptr)
                      : clEnqueueSVMMemcpy(queue, blocking, to, from, size, 0, nullptr, nullptr);
  check(status, "copying " + sizeText(size) + " on '" + device.info().name + "'",
        "Both pointers must be host memory or gpu.alloc memory of this device");
}

void fill(Device &device, void *to, const void *pattern, size_t patternSize, size_t count,
          Stream *stream) {
  if (count == 0)
    return;
  if (!to)
    throw Error("gpu.memset of a null pointer");
  cl_command_queue queue = (stream ? *stream : device.defaultStream()).queue;
  size_t size = patternSize * count;
  cl_int status =
      device.enqueueMemFill
          ? device.enqueueMemFill(queue, to, pattern, patternSize, size, 0, nullptr, nullptr)
          : clEnqueueSVMMemFill(queue, to, pattern, patternSize, size, 0, nullptr, nullptr);
  check(status, "filling " + sizeText(size) + " on '" + device.info().name + "'",
        "The pointer must be gpu.alloc memory of this device");
  if (!stream)
    check(clFinish(queue), "waiting for a fill");
}

size_t liveAllocations() {
  std::lock_guard<std::mutex> lock(tableMutex());
  return table().size();
}

} // namespace xetile::runtime
