// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Driver.cpp: the driver's library and the device.
// Input: XETILE_CUDA_DRIVER, the system's libraries. Output: functions, a context.
// Refused: a machine without the driver or a GPU; GPUs that are no Hopper.
#include "Driver.h"

#include "../Errors.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace xetile::runtime::cuda {
namespace {

// Of CUdevice_attribute.
constexpr int kMajor = 75, kMinor = 76;

Driver functions{};
void *library = nullptr;

std::mutex &driverMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

template <typename Function> void find(Function &function, const char *name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    throw Error(std::string("the driver of Nvidia's GPUs has no ") + name +
                ": expected one for CUDA 12 or newer; update the driver");
}

void findFunctions() {
  find(functions.init, "cuInit");
  find(functions.driverGetVersion, "cuDriverGetVersion");
  find(functions.deviceGet, "cuDeviceGet");
  find(functions.deviceGetName, "cuDeviceGetName");
  find(functions.deviceGetAttribute, "cuDeviceGetAttribute");
  find(functions.devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  find(functions.ctxGetCurrent, "cuCtxGetCurrent");
  find(functions.ctxSetCurrent, "cuCtxSetCurrent");
  find(functions.ctxGetDevice, "cuCtxGetDevice");
  find(functions.ctxSynchronize, "cuCtxSynchronize");
  find(functions.moduleLoadDataEx, "cuModuleLoadDataEx");
  find(functions.moduleGetFunction, "cuModuleGetFunction");
  find(functions.funcSetAttribute, "cuFuncSetAttribute");
  find(functions.launchKernel, "cuLaunchKernel");
  find(functions.memAlloc, "cuMemAlloc_v2");
  find(functions.memFree, "cuMemFree_v2");
  find(functions.memcpyToDevice, "cuMemcpyHtoD_v2");
  find(functions.memcpyToHost, "cuMemcpyDtoH_v2");
  find(functions.memcpyOnDevice, "cuMemcpyDtoDAsync_v2");
  find(functions.streamSynchronize, "cuStreamSynchronize");
  find(functions.memcpyAny, "cuMemcpy");
  find(functions.pointerGetAttribute, "cuPointerGetAttribute");
  find(functions.tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  find(functions.getErrorString, "cuGetErrorString");
}

void open() {
  const char *chosen = std::getenv("XETILE_CUDA_DRIVER");
  const char *name = chosen && *chosen ? chosen : "libcuda.so.1";
  library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(std::string("no driver of Nvidia's GPUs: ") + dlerror() +
                ". Kernels for sm_90a run on a machine with an H100 or H200 and its driver; "
                "elsewhere compile for another target, as cpu");
  try {
    findFunctions();
    check(functions, functions.init(0), "starting the driver of Nvidia's GPUs");
  } catch (...) {
    dlclose(library);
    library = nullptr;
    throw;
  }
}

/// Of this thread: that of whoever made one, as PyTorch, else the first device's own.
void ensureContext() {
  void *context = nullptr;
  check(functions, functions.ctxGetCurrent(&context), "asking for the current context");
  int device = 0;
  if (!context) {
    check(functions, functions.deviceGet(&device, 0), "looking for the first GPU");
    check(functions, functions.devicePrimaryCtxRetain(&context, device), "using the first GPU");
    check(functions, functions.ctxSetCurrent(context), "using the first GPU");
  }
  static thread_local void *checked = nullptr;
  if (context == checked)
    return;
  check(functions, functions.ctxGetDevice(&device), "asking for the current GPU");
  int major = 0, minor = 0;
  check(functions, functions.deviceGetAttribute(&major, kMajor, device), "asking for its facts");
  check(functions, functions.deviceGetAttribute(&minor, kMinor, device), "asking for its facts");
  if (major != 9 || minor != 0) {
    char name[256] = "";
    functions.deviceGetName(name, sizeof name, device);
    throw Error(std::string("the GPU '") + name + "' has compute capability " +
                std::to_string(major) + "." + std::to_string(minor) +
                "; expected 9.0, an H100 or H200, which sm_90a is for");
  }
  checked = context;
}

} // namespace

const Driver &driver() {
  static std::atomic<bool> isOpen{false};
  if (!isOpen.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> lock(driverMutex());
    if (!library)
      open();
    isOpen.store(true, std::memory_order_release);
  }
  ensureContext();
  return functions;
}

void *&currentStream() {
  static thread_local void *stream = nullptr;
  return stream;
}

void fail(const Driver &driver, Result result, const std::string &doing) {
  const char *said = nullptr;
  driver.getErrorString(result, &said);
  throw Error(doing + " failed: " + (said ? said : "unknown error") + " (" +
              std::to_string(result) + ")");
}

std::string describeDevice() {
  const Driver &found = driver();
  int device = 0, version = 0;
  char name[256] = "";
  check(found, found.ctxGetDevice(&device), "asking for the current GPU");
  check(found, found.deviceGetName(name, sizeof name, device), "asking for its name");
  check(found, found.driverGetVersion(&version), "asking for the driver's version");
  return std::string(name) + ", driver for CUDA " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10) + ", capability 9.0";
}

} // namespace xetile::runtime::cuda
