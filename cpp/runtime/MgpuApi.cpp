// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MgpuApi.cpp: the functions that MLIR's gpu-to-llvm conversion and its gpu.binary translation call
// (MLIR 22). Input: the C calls of lowered host code; output: OpenCL work. Refused: by Error, as
// XeTileRuntime.h says; while a recorded error waits every call is harmless.
#include "Device.h"
#include "Errors.h"
#include "Launch.h"
#include "Memory.h"
#include "Program.h"
#include "XeTileRuntime.h"

#include <cstdint>

using namespace xetile::runtime;

namespace {

struct Event {
  cl_event event = nullptr;
};

Device &deviceOf(Stream *stream) { return stream ? *stream->device : currentDevice(); }

void setEvent(Event &event, cl_event value) {
  if (event.event)
    clReleaseEvent(event.event);
  event.event = value;
}

} // namespace

extern "C" {

XETILE_RUNTIME_EXPORT Module *mgpuModuleLoad(const void *data, size_t size) {
  if (errorPending())
    return nullptr;
  return guarded<Module *>(nullptr, [&] {
    auto module = std::make_unique<Module>(data, size);
    module->programFor(currentDevice());
    return module.release();
  });
}

XETILE_RUNTIME_EXPORT Module *mgpuModuleLoadJIT(const void *, int) {
  if (!errorPending())
    reportError(
        "the kernel is embedded as text, which this runtime cannot assemble. Serialise it with "
        "gpu-module-to-binary format 'bin' or 'fatbin', not 'isa'");
  return nullptr;
}

XETILE_RUNTIME_EXPORT void mgpuModuleUnload(Module *module) {
  guarded([&] { delete module; });
}

XETILE_RUNTIME_EXPORT Kernel *mgpuModuleGetFunction(Module *module, const char *name) {
  if (errorPending())
    return nullptr;
  return guarded<Kernel *>(nullptr, [&]() -> Kernel * {
    if (!module)
      throw Error(std::string("the kernel '") + (name ? name : "") +
                  "' belongs to a module that was not loaded");
    if (!name)
      throw Error("a kernel was asked for without a name");
    return module->programFor(currentDevice()).kernel(name);
  });
}

XETILE_RUNTIME_EXPORT void mgpuLaunchKernel(Kernel *kernel, intptr_t gridX, intptr_t gridY,
                                            intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                                            intptr_t blockZ, int32_t localBytes, Stream *stream,
                                            void **params, void ** /*extra*/, size_t paramsCount) {
  if (errorPending())
    return;
  guarded([&] {
    if (!kernel)
      throw Error("a kernel that was not found was launched");
    std::vector<size_t> local;
    if (localBytes > 0)
      local.push_back(static_cast<size_t>(localBytes));
    launch(*kernel, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, std::move(local)}, stream,
           params, paramsCount);
  });
}

XETILE_RUNTIME_EXPORT void mgpuLaunchClusterKernel(Kernel *, intptr_t, intptr_t, intptr_t, intptr_t,
                                                   intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                                                   int32_t, Stream *, void **, void **) {
  if (!errorPending())
    reportError("the launch asks for clusters of workgroups, which OpenCL does not have. Remove "
                "`clusters` from "
                "gpu.launch_func");
}

XETILE_RUNTIME_EXPORT Stream *mgpuStreamCreate() {
  if (errorPending())
    return nullptr;
  return guarded<Stream *>(nullptr, [] { return currentDevice().acquireStream(); });
}

XETILE_RUNTIME_EXPORT void mgpuStreamDestroy(Stream *stream) {
  if (stream)
    guarded([&] { stream->device->releaseStream(stream); });
}

XETILE_RUNTIME_EXPORT void mgpuStreamSynchronize(Stream *stream) {
  if (stream && !errorPending())
    guarded([&] { finish(stream->queue); });
}

XETILE_RUNTIME_EXPORT void mgpuStreamWaitEvent(Stream *stream, Event *event) {
  if (!stream || !event || !event->event || errorPending())
    return;
  guarded([&] {
    check(clEnqueueBarrierWithWaitList(stream->queue, 1, &event->event, nullptr),
          "waiting for an event");
  });
}

XETILE_RUNTIME_EXPORT Event *mgpuEventCreate() {
  return guarded<Event *>(nullptr, [] { return new Event; });
}

XETILE_RUNTIME_EXPORT void mgpuEventDestroy(Event *event) {
  if (!event)
    return;
  setEvent(*event, nullptr);
  delete event;
}

XETILE_RUNTIME_EXPORT void mgpuEventSynchronize(Event *event) {
  if (!event || !event->event || errorPending())
    return;
  guarded([&] { check(clWaitForEvents(1, &event->event), "waiting for an event"); });
}

XETILE_RUNTIME_EXPORT void mgpuEventRecord(Event *event, Stream *stream) {
  if (!event || errorPending())
    return;
  guarded([&] {
    cl_event marker = nullptr;
    cl_command_queue queue = (stream ? *stream : currentDevice().defaultStream()).queue;
    check(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker), "recording an event");
    setEvent(*event, marker);
  });
}

XETILE_RUNTIME_EXPORT void *mgpuMemAlloc(uint64_t size, Stream *stream, int8_t isHostShared) {
  if (errorPending())
    return allocateHostFallback(size);
  bool done = false;
  void *pointer = guarded<void *>(nullptr, [&] {
    void *result = allocate(deviceOf(stream), size, isHostShared != 0);
    done = true;
    return result;
  });
  return done ? pointer : allocateHostFallback(size);
}

XETILE_RUNTIME_EXPORT void mgpuMemFree(void *pointer, Stream *stream) {
  guarded([&] { release(pointer, stream); });
}

XETILE_RUNTIME_EXPORT void mgpuMemcpy(void *to, const void *from, size_t size, Stream *stream) {
  if (!errorPending())
    guarded([&] { copy(deviceOf(stream), to, from, size, stream); });
}

XETILE_RUNTIME_EXPORT void mgpuMemset32(void *to, uint32_t value, size_t count, Stream *stream) {
  if (!errorPending())
    guarded([&] { fill(deviceOf(stream), to, &value, sizeof value, count, stream); });
}

XETILE_RUNTIME_EXPORT void mgpuMemset16(void *to, uint16_t value, size_t count, Stream *stream) {
  if (!errorPending())
    guarded([&] { fill(deviceOf(stream), to, &value, sizeof value, count, stream); });
}

XETILE_RUNTIME_EXPORT void mgpuMemHostRegister(void *, uint64_t) {
  if (errorPending())
    return;
  guarded([&] {
    const DeviceInfo &info = currentDevice().info();
    if (!info.readsHostMemory())
      throw Error(
          "gpu.host_register: the device '" + info.name +
          "' cannot read host memory. Copy the array with gpu.alloc and gpu.memcpy instead");
  });
}

XETILE_RUNTIME_EXPORT void mgpuMemHostRegisterMemRef(int64_t, void *descriptor, int64_t) {
  mgpuMemHostRegister(descriptor, 0);
}

XETILE_RUNTIME_EXPORT void mgpuMemHostUnregister(void *) {}

XETILE_RUNTIME_EXPORT void mgpuMemHostUnregisterMemRef(int64_t, void *, int64_t) {}

XETILE_RUNTIME_EXPORT void mgpuSetDefaultDevice(int32_t index) {
  if (!errorPending())
    guarded([&] { setCurrentDevice(index); });
}

} // extern "C"
