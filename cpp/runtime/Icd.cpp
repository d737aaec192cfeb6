// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Icd.cpp: which OpenCL platforms there are.
// Input: the system's ICD loader; $XETILE_OPENCL_RT and the directories around this library.
// Output: platforms. Refused: nothing; a driver that does not load is described, the others stay
// usable.
#include "Icd.h"

#include <algorithm>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace xetile::runtime {
namespace fs = std::filesystem;
namespace {

constexpr const char *driverName = "libintelocl.so";

std::string directoryOfThisLibrary() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&findPlatforms), &info) || !info.dli_fname)
    return {};
  std::error_code failed;
  fs::path path = fs::canonical(info.dli_fname, failed);
  return failed ? std::string() : path.parent_path().string();
}

// A wheel puts this library into <prefix>/lib/python3.x/site-packages/xetile/_lib, and the wheels
// of Intel's runtime put theirs into <prefix>/lib; a build tree has them in its .venv. Nothing of
// the machine that built this library is in it.
std::vector<std::string> candidateDirectories() {
  std::vector<std::string> places;
  if (const char *chosen = std::getenv("XETILE_OPENCL_RT"); chosen && *chosen)
    places.push_back(chosen);
  if (std::string here = directoryOfThisLibrary(); !here.empty())
    for (const char *step : {"", "..", "../../../..", "../../.venv/lib"})
      places.push_back((fs::path(here) / step).lexically_normal().string());
  return places;
}

bool hasAvx512() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX512F);
#else
  return false;
#endif
}

// Settings of the driver's compiler. One that does not know an option would end the process, hence
// only for the release they were checked with, and none that the user set.
//
// Between any two calls the instruction scheduler sets up a table of all virtual registers, so the
// time to link grows with the square of a kernel's calls: 256 of matrix_mad take 3.3 s, and 1.3 s
// without that table, at the same speed of the kernel.
//
// For Intel's CPUs with AVX-512 the compiler makes wrong code of kernels that load 16-bit elements
// at one address in all lanes into a vector (the second gets the first one's value:
// test_gpu_reductions.py; its targets skx, icelake-server and what a Sapphire Rapids gets by
// default). For those with AVX512-FP16, and for AMD's, it ends the process in some ("Cannot emit
// physreg copy instruction": test_linalg_ops.py), and for the former takes minutes for others. Code
// for AVX2, which they run as well, has none of this.
void steerCompiler(const fs::path &directory) {
  std::error_code failed;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, failed))
    if (entry.path().filename().string().rfind("libintelocl.so.2026.", 0) == 0) {
      setenv("CL_CONFIG_LLVM_OPTIONS", "-misched-regpressure=false", /*overwrite=*/0);
      if (hasAvx512())
        setenv("CL_CONFIG_CPU_TARGET_ARCH", "core-avx2", /*overwrite=*/0);
      return;
    }
}

// The PyPI wheel's .icd file names a path that does not exist and, by version, its libraries find
// each other only by a library path. Opening the driver by its full path needs neither; loading its
// dependencies first, by full path, makes their sonames known to the dynamic loader.
void *openDriver(const fs::path &directory, std::string &failure) {
  std::string driver = (directory / driverName).string();
  if (void *handle = dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL))
    return handle;
  for (const char *dependency : {"libintlc.so.5", "libimf.so", "libsvml.so", "libirng.so",
                                 "libtbb.so.12", "libtbbmalloc.so.2", "libcommon_clang.so"})
    dlopen((directory / dependency).c_str(), RTLD_NOW | RTLD_LOCAL);
  void *handle = dlopen(driver.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    failure = dlerror();
  return handle;
}

// An ICD's platform objects begin with their dispatch table, so calls through the ICD loader reach
// them although the loader did not enumerate them: no environment variable has to change and no
// .icd file has to be written.
std::vector<cl_platform_id> platformsOfDriver(void *handle) {
  auto lookUp = reinterpret_cast<void *(CL_API_CALL *)(const char *)>(
      dlsym(handle, "clGetExtensionFunctionAddress"));
  if (!lookUp)
    return {};
  auto enumerate = reinterpret_cast<clIcdGetPlatformIDsKHR_fn>(lookUp("clIcdGetPlatformIDsKHR"));
  cl_uint count = 0;
  if (!enumerate || enumerate(0, nullptr, &count) != CL_SUCCESS || count == 0)
    return {};
  std::vector<cl_platform_id> ids(count);
  if (enumerate(count, ids.data(), nullptr) != CL_SUCCESS)
    return {};
  return ids;
}

bool hasIntelCpu(const std::vector<cl_platform_id> &platforms) {
  return std::any_of(platforms.begin(), platforms.end(), [](cl_platform_id platform) {
    cl_uint count = 0;
    return platformText(platform, CL_PLATFORM_VENDOR).find("Intel") != std::string::npos &&
           clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 0, nullptr, &count) == CL_SUCCESS &&
           count > 0;
  });
}

} // namespace

Platforms findPlatforms() {
  Platforms found;
  cl_uint count = 0;
  cl_int status = clGetPlatformIDs(0, nullptr, &count);
  if (status == CL_SUCCESS && count > 0) {
    found.ids.resize(count);
    if (clGetPlatformIDs(count, found.ids.data(), nullptr) != CL_SUCCESS)
      found.ids.clear();
  }
  found.description =
      "the system's OpenCL loader: " + std::to_string(found.ids.size()) + " platform(s)\n";
  // A second copy of the same driver in one process would share its globals.
  if (hasIntelCpu(found.ids))
    return found;

  for (const std::string &place : candidateDirectories()) {
    std::error_code ignored;
    if (!fs::exists(fs::path(place) / driverName, ignored)) {
      found.description += place + ": no " + driverName + "\n";
      continue;
    }
    steerCompiler(place);
    std::string failure;
    void *handle = openDriver(place, failure);
    std::vector<cl_platform_id> ids =
        handle ? platformsOfDriver(handle) : std::vector<cl_platform_id>();
    if (ids.empty()) {
      found.description += place + ": " + driverName + " does not load: " +
                           (failure.empty() ? "it offers no OpenCL platform" : failure) + "\n";
      continue;
    }
    found.description += place + ": " + driverName + " loaded\n";
    found.ids.insert(found.ids.end(), ids.begin(), ids.end());
    break;
  }
  return found;
}

} // namespace xetile::runtime
