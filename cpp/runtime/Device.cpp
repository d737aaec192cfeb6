// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device.cpp: the OpenCL devices, the choice among them, and one device in use.
// Input: platforms and XETILE_DEVICE (an index, "cpu", "gpu", or a part of a device's or platform's
// name). Output: device facts, contexts, queues. Refused: a choice that names no device; no device
// at all.
#include "Device.h"

#include "Errors.h"
#include "Icd.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

namespace xetile::runtime {
namespace {

struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::string description;
};

SharedVirtualMemory svmOf(cl_device_id device) {
  auto caps = deviceValue<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES);
  if (caps & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM)
    return SharedVirtualMemory::System;
  if (caps & CL_DEVICE_SVM_FINE_GRAIN_BUFFER)
    return SharedVirtualMemory::Fine;
  if (caps & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)
    return SharedVirtualMemory::Coarse;
  return SharedVirtualMemory::None;
}

DeviceInfo describe(cl_platform_id platform, cl_device_id device) {
  DeviceInfo info;
  info.platform = platform;
  info.id = device;
  info.name = deviceText(device, CL_DEVICE_NAME);
  info.platformName = platformText(platform, CL_PLATFORM_NAME);
  info.driver = deviceText(device, CL_DRIVER_VERSION);
  info.version = deviceText(device, CL_DEVICE_VERSION);
  info.extensions = deviceText(device, CL_DEVICE_EXTENSIONS);
  info.type = deviceValue<cl_device_type>(device, CL_DEVICE_TYPE);
  info.svm = svmOf(device);
  info.intel = deviceText(device, CL_DEVICE_VENDOR).find("Intel") != std::string::npos;
  info.usm = hasWord(info.extensions, "cl_intel_unified_shared_memory");
  info.fp16 = hasWord(info.extensions, "cl_khr_fp16");
  info.fp64 = hasWord(info.extensions, "cl_khr_fp64");
  info.spirv = deviceText(device, CL_DEVICE_IL_VERSION).find("SPIR-V") != std::string::npos;
  if (hasWord(info.extensions, "cl_intel_required_subgroup_size"))
    info.subgroupSizes = deviceSizes(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL);
  info.nativeBlockIo = hasWord(info.extensions, "cl_intel_subgroup_2d_block_io");
  // Where the smallest subgroup has 8 lanes (DG2) the functions of the same names take other types.
  bool sixteenLanes = !info.subgroupSizes.empty() &&
                      *std::min_element(info.subgroupSizes.begin(), info.subgroupSizes.end()) == 16;
  info.nativeDpas =
      sixteenLanes && hasWord(info.extensions, "cl_intel_subgroup_matrix_multiply_accumulate");
  info.computeUnits = deviceValue<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  info.localMemory = deviceValue<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  return info;
}

const DeviceList &deviceList() {
  static const DeviceList *list = [] {
    auto *result = new DeviceList;
    Platforms platforms = findPlatforms();
    result->description = platforms.description;
    for (cl_platform_id platform : platforms.ids) {
      cl_uint count = 0;
      if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS ||
          count == 0)
        continue;
      std::vector<cl_device_id> ids(count);
      if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) != CL_SUCCESS)
        continue;
      for (cl_device_id id : ids)
        result->devices.push_back(describe(platform, id));
    }
    return result;
  }();
  return *list;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string listNames() {
  std::string names;
  for (size_t i = 0; i < allDevices().size(); ++i)
    names += (i ? ", " : "") + std::to_string(i) + ": '" + allDevices()[i].name + "' (" +
             allDevices()[i].platformName + ")";
  return names.empty() ? "none" : names;
}

template <typename Predicate> int firstDevice(Predicate &&fits) {
  const std::vector<DeviceInfo> &devices = allDevices();
  auto found = std::find_if(devices.begin(), devices.end(), fits);
  return found == devices.end() ? -1 : static_cast<int>(found - devices.begin());
}

int deviceByName(const std::string &choice) {
  if (std::all_of(choice.begin(), choice.end(), [](unsigned char c) { return std::isdigit(c); }))
    return choice.size() < 6 && std::stoul(choice) < allDevices().size() ? std::stoi(choice) : -1;
  std::string wanted = lower(choice);
  if (wanted == "cpu")
    return firstDevice([](const DeviceInfo &info) { return info.isCpu(); });
  if (wanted == "gpu")
    return firstDevice([](const DeviceInfo &info) { return info.isGpu(); });
  return firstDevice([&](const DeviceInfo &info) {
    return lower(info.name).find(wanted) != std::string::npos ||
           lower(info.platformName).find(wanted) != std::string::npos;
  });
}

// Other CPU drivers may come first, and lack what kernels need.
int defaultDevice() {
  auto runsKernels = [](const DeviceInfo &info) { return info.spirv && info.hasSubgroupSize(16); };
  int index = firstDevice(
      [&](const DeviceInfo &info) { return info.isGpu() && info.intel && runsKernels(info); });
  if (index < 0)
    index = firstDevice([&](const DeviceInfo &info) { return info.isCpu() && runsKernels(info); });
  return index >= 0 ? index : firstDevice([](const DeviceInfo &info) { return info.isCpu(); });
}

std::string chosenName() {
  const char *choice = std::getenv("XETILE_DEVICE");
  return choice ? choice : "";
}

std::mutex &stateMutex() {
  static auto *mutex = new std::mutex;
  return *mutex;
}

// -1: not set by mgpuSetDefaultDevice.
int explicitIndex = -1;

int chooseIndex() {
  if (explicitIndex >= 0)
    return explicitIndex;
  std::string choice = chosenName();
  return choice.empty() ? defaultDevice() : deviceByName(choice);
}

[[noreturn]] void reportNoDevice() {
  std::string choice = chosenName();
  if (!choice.empty() && !allDevices().empty())
    throw Error("XETILE_DEVICE='" + choice + "' matches no OpenCL device; the devices are " +
                listNames() +
                ". Set it to an index, to 'cpu' or 'gpu', or to a part of a name, or unset it");
  throw Error("no OpenCL device to run on; the devices are " + listNames() +
              ". Install a GPU driver (intel-opencl-icd) or Intel's CPU runtime ('pip install "
              "intel-opencl-rt "
              "intel-cmplr-lib-rt'), and set XETILE_OPENCL_RT to the directory that holds "
              "libintelocl.so if it is "
              "none of these:\n" +
              driverDescription());
}

template <typename Function>
void load(cl_platform_id platform, Function &function, const char *name) {
  function = reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(platform, name));
  if (!function)
    throw Error(std::string("the OpenCL driver '") + platformText(platform, CL_PLATFORM_NAME) +
                "' announces cl_intel_unified_shared_memory but lacks " + name +
                ": update the driver");
}

} // namespace

bool DeviceInfo::hasSubgroupSize(size_t size) const {
  return std::find(subgroupSizes.begin(), subgroupSizes.end(), size) != subgroupSizes.end();
}

const std::vector<DeviceInfo> &allDevices() { return deviceList().devices; }
const std::string &driverDescription() { return deviceList().description; }

Device::Device(const DeviceInfo &info) : facts(info) {
  cl_int status = CL_SUCCESS;
  // No CL_CONTEXT_PLATFORM: the loader knows only the platforms that it enumerated (see Icd.cpp);
  // the device names its own.
  clContext = clCreateContext(nullptr, 1, &info.id, nullptr, nullptr, &status);
  check(status, "opening the OpenCL device '" + info.name + "'",
        "Choose another with XETILE_DEVICE");
  if (info.usm) {
    load(info.platform, deviceMemAlloc, "clDeviceMemAllocINTEL");
    load(info.platform, sharedMemAlloc, "clSharedMemAllocINTEL");
    load(info.platform, memBlockingFree, "clMemBlockingFreeINTEL");
    load(info.platform, setKernelArgMemPointer, "clSetKernelArgMemPointerINTEL");
    load(info.platform, enqueueMemcpy, "clEnqueueMemcpyINTEL");
    load(info.platform, enqueueMemFill, "clEnqueueMemFillINTEL");
  }
  fallbackStream = {this, createQueue()};
}

cl_command_queue Device::createQueue() {
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
  cl_int status = CL_SUCCESS;
  cl_command_queue queue =
      clCreateCommandQueueWithProperties(clContext, facts.id, properties, &status);
  check(status, "creating a command queue on '" + facts.name + "'");
  return queue;
}

// Lowered host code makes a stream for every launch; queues are dear, so they are kept.
Stream *Device::acquireStream() {
  std::lock_guard<std::mutex> lock(poolMutex);
  if (idleStreams.empty())
    return new Stream{this, createQueue()};
  Stream *stream = idleStreams.back();
  idleStreams.pop_back();
  return stream;
}

void Device::releaseStream(Stream *stream) {
  std::lock_guard<std::mutex> lock(poolMutex);
  idleStreams.push_back(stream);
}

Device &currentDevice() {
  static auto *opened = new std::map<int, std::unique_ptr<Device>>;
  std::lock_guard<std::mutex> lock(stateMutex());
  int index = chooseIndex();
  if (index < 0)
    reportNoDevice();
  std::unique_ptr<Device> &device = (*opened)[index];
  if (!device)
    device = std::make_unique<Device>(allDevices()[index]);
  return *device;
}

int currentDeviceIndex() {
  std::lock_guard<std::mutex> lock(stateMutex());
  return chooseIndex();
}

void setCurrentDevice(int index) {
  if (index < 0 || static_cast<size_t>(index) >= allDevices().size())
    throw Error("there is no OpenCL device " + std::to_string(index) + "; the devices are " +
                listNames());
  std::lock_guard<std::mutex> lock(stateMutex());
  explicitIndex = index;
}

} // namespace xetile::runtime
