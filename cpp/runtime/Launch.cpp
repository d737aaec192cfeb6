// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launch.cpp: kernel launches.
// Input: a kernel, grid and group sizes, pointers to the arguments' values (their sizes come from
// the SPIR-V). Output: a running kernel. Refused: counts and sizes that do not fit the kernel, host
// pointers that the device cannot read.
#include "Launch.h"

#include "CheckedLaunch.h"
#include "Errors.h"
#include "GuardedMemory.h"
#include "Memory.h"

#include <mutex>
#include <sstream>

namespace xetile::runtime {
namespace {

// Arguments are set on the kernel object and then enqueued: two threads must not interleave.
std::mutex &launchMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

cl_event lastEvent = nullptr;
uint64_t launches = 0;

std::string sizeText(const std::array<intptr_t, 3> &size) {
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

void setPointer(Device &device, const Kernel &kernel, cl_uint index, void *pointer) {
  const DeviceInfo &info = device.info();
  if (pointer && !info.readsHostMemory() && !isAllocatedFor(device, pointer)) {
    std::ostringstream text;
    text << "argument " << index << " of the kernel '" << kernel.declaration->name << "' is "
         << pointer << ", which is not memory of the device '" << info.name
         << "', and the device cannot read host memory. Copy the array with gpu.alloc and "
            "gpu.memcpy (the pass "
            "xetile-copy-launch-operands inserts them), or run on a CPU device (XETILE_DEVICE=cpu)";
    throw Error(text.str());
  }
  cl_int status = device.setKernelArgMemPointer
                      ? device.setKernelArgMemPointer(kernel.handle, index, pointer)
                      : clSetKernelArgSVMPointer(kernel.handle, index, pointer);
  check(status, "setting pointer argument " + std::to_string(index) + " of '" +
                    kernel.declaration->name + "'");
}

/// The size of the local memory that the parameter `which` of its kind has.
size_t localBytesOf(const LaunchConfig &config, size_t which) {
  const std::vector<size_t> &sizes = config.localBytes;
  return sizes.empty() ? 0 : sizes.size() == 1 ? sizes[0] : which < sizes.size() ? sizes[which] : 0;
}

bool isLocalMemory(const SpirvType &parameter) {
  return parameter.kind == SpirvType::Pointer && parameter.storage == storage::workgroup;
}

void setValue(Device &device, const Kernel &kernel, size_t i, void *value) {
  const std::string &name = kernel.declaration->name;
  const SpirvType &parameter = kernel.declaration->parameters[i];
  auto index = static_cast<cl_uint>(i);
  if (!value)
    throw Error("argument " + std::to_string(i) + " of the kernel '" + name +
                "' has no value (null address)");
  bool global =
      parameter.storage == storage::crossWorkgroup || parameter.storage == storage::uniformConstant;
  if (parameter.kind == SpirvType::Pointer && global)
    return setPointer(device, kernel, index, *static_cast<void **>(value));
  size_t bytes =
      parameter.kind == SpirvType::Pointer ? kernel.declaration->structBytes[i] : parameter.bytes();
  if (!bytes)
    throw Error("parameter " + std::to_string(i) + " of the kernel '" + name +
                "' has a type that cannot be passed. Kernels take global pointers, integers, "
                "floats, vectors of them and structs");
  check(clSetKernelArg(kernel.handle, index, bytes, value),
        "setting argument " + std::to_string(i) + " of '" + name + "'");
}

void setArguments(Device &device, const Kernel &kernel, const LaunchConfig &config,
                  void **arguments, size_t count) {
  const std::vector<SpirvType> &parameters = kernel.declaration->parameters;
  const std::string &name = kernel.declaration->name;
  // Local memory comes from the launch, not from the argument list.
  size_t expected = 0;
  for (const SpirvType &parameter : parameters)
    expected += !isLocalMemory(parameter);
  if (count != expected)
    throw Error("the kernel '" + name + "' takes " + std::to_string(expected) +
                " arguments (a memref counts 3 + 2 * rank)" + " and the launch passed " +
                std::to_string(count) + ". Host code and binary must come from one compilation");
  size_t next = 0, locals = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!isLocalMemory(parameters[i])) {
      setValue(device, kernel, i, arguments ? arguments[next] : nullptr);
      ++next;
      continue;
    }
    size_t bytes = localBytesOf(config, locals++);
    if (!bytes)
      throw Error("parameter " + std::to_string(i) + " of the kernel '" + name +
                  "' is local memory, but the launch gives no dynamic_shared_memory_size");
    check(clSetKernelArg(kernel.handle, static_cast<cl_uint>(i), bytes, nullptr),
          "setting local memory argument " + std::to_string(i) + " of '" + name + "'");
  }
}

void checkSizes(const Device &device, const SpirvKernel &kernel, const LaunchConfig &config) {
  const DeviceInfo &info = device.info();
  intptr_t items = 1;
  auto limit = static_cast<intptr_t>(deviceValue<size_t>(info.id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  for (unsigned d = 0; d < 3; ++d) {
    if (config.grid[d] <= 0 || config.block[d] <= 0)
      throw Error("the kernel '" + kernel.name + "' was launched on a grid of " +
                  sizeText(config.grid) + " groups of " + sizeText(config.block) +
                  " work-items; every size must be at least 1");
    if (kernel.localSize[0] && config.block[d] != static_cast<intptr_t>(kernel.localSize[d]))
      throw Error("the kernel '" + kernel.name + "' was compiled for groups of " +
                  std::to_string(kernel.localSize[0]) + "x" + std::to_string(kernel.localSize[1]) +
                  "x" + std::to_string(kernel.localSize[2]) +
                  " work-items (known_block_size) and was launched with " + sizeText(config.block) +
                  ". Launch it with the compiled size");
    items = config.block[d] > limit / items ? limit + 1 : items * config.block[d];
  }
  if (items > limit)
    throw Error("the kernel '" + kernel.name + "' was launched with groups of " +
                sizeText(config.block) + " work-items; the device '" + info.name +
                "' takes at most " + std::to_string(limit) +
                " in a group. Use smaller workgroup tiles or fewer subgroups");
}

void enqueue(Kernel &kernel, const LaunchConfig &config, void **arguments, size_t argumentCount,
             cl_command_queue queue) {
  Device &device = kernel.program->device();
  size_t local[3], global[3];
  for (unsigned d = 0; d < 3; ++d) {
    local[d] = static_cast<size_t>(config.block[d]);
    global[d] = local[d] * static_cast<size_t>(config.grid[d]);
  }
  std::lock_guard<std::mutex> lock(launchMutex());
  setArguments(device, kernel, config, arguments, argumentCount);
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(queue, kernel.handle, 3, nullptr, global, local, 0, nullptr, &event),
        "launching the kernel '" + kernel.declaration->name + "' on a grid of " +
            sizeText(config.grid) + " groups of " + sizeText(config.block) + " work-items",
        "Check the group size against the device's limits and the kernel's use of registers and "
        "local memory");
  if (lastEvent)
    clReleaseEvent(lastEvent);
  lastEvent = event;
  ++launches;
}

void enqueueAndWait(Kernel &kernel, const LaunchConfig &config, void **arguments,
                    size_t argumentCount, cl_command_queue queue) {
  enqueue(kernel, config, arguments, argumentCount, queue);
  finish(queue);
}

} // namespace

void launch(Kernel &asked, const LaunchConfig &config, Stream *stream, void **arguments,
            size_t argumentCount, HostCopies *hosts) {
  Device &device = asked.program->device();
  const SpirvKernel &declaration = *asked.declaration;
  if (stream && stream->device != &device)
    throw Error("the kernel '" + declaration.name + "' belongs to the device '" +
                device.info().name + "' and the stream to '" + stream->device->info().name +
                "'. Create the stream after gpu.set_default_device");
  checkSizes(device, declaration, config);
  bool whole = !declaration.subgroupSize ||
               config.block[0] % static_cast<intptr_t>(declaration.subgroupSize) == 0;
  Kernel &kernel = whole ? asked : *asked.program->partial().kernel(declaration.name);
  cl_command_queue queue = (stream ? *stream : device.defaultStream()).queue;
  if (checksLaunches())
    return launchChecked(kernel, config, arguments, argumentCount, hosts, queue, enqueueAndWait);
  enqueue(kernel, config, arguments, argumentCount, queue);
  if (!stream)
    finish(queue);
  else
    check(clFlush(queue), "submitting the kernel '" + declaration.name + "'");
  kernel.program->examine(queue, declaration.name);
}

uint64_t launchCount() {
  std::lock_guard<std::mutex> lock(launchMutex());
  return launches;
}

uint64_t lastKernelNanoseconds() {
  std::lock_guard<std::mutex> lock(launchMutex());
  if (!lastEvent)
    return 0;
  check(clWaitForEvents(1, &lastEvent), "waiting for the last kernel");
  cl_ulong begin = 0, end = 0;
  check(
      clGetEventProfilingInfo(lastEvent, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr),
      "reading a kernel's time");
  check(clGetEventProfilingInfo(lastEvent, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
        "reading a kernel's time");
  return end - begin;
}

void finish(cl_command_queue queue) {
  check(clFinish(queue), "waiting for the device",
        "A kernel failed while it ran; look for accesses out of bounds");
  std::lock_guard<std::mutex> lock(launchMutex());
  cl_int status = CL_COMPLETE;
  if (!lastEvent ||
      clGetEventInfo(lastEvent, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                     nullptr) != CL_SUCCESS ||
      status >= 0)
    return;
  clReleaseEvent(lastEvent);
  lastEvent = nullptr;
  throw Error("the last kernel failed while it ran: " + statusName(status) +
              ". Look for accesses out of bounds");
}

} // namespace xetile::runtime
