// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenCL.cpp: checked OpenCL calls.
// Input: status codes and queries; output: names, values, or an Error.
// Refused: any status other than CL_SUCCESS in check().
#include "OpenCL.h"

#include "Errors.h"

#include <sstream>

namespace xetile::runtime {

std::string statusName(cl_int status) {
  const char *name = nullptr;
  switch (status) {
#define XETILE_STATUS(code)                                                                        \
  case code:                                                                                       \
    name = #code;                                                                                  \
    break;
    XETILE_STATUS(CL_DEVICE_NOT_FOUND)
    XETILE_STATUS(CL_DEVICE_NOT_AVAILABLE)
    XETILE_STATUS(CL_COMPILER_NOT_AVAILABLE)
    XETILE_STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    XETILE_STATUS(CL_OUT_OF_RESOURCES)
    XETILE_STATUS(CL_OUT_OF_HOST_MEMORY)
    XETILE_STATUS(CL_PROFILING_INFO_NOT_AVAILABLE)
    XETILE_STATUS(CL_BUILD_PROGRAM_FAILURE)
    XETILE_STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    XETILE_STATUS(CL_COMPILE_PROGRAM_FAILURE)
    XETILE_STATUS(CL_LINKER_NOT_AVAILABLE)
    XETILE_STATUS(CL_LINK_PROGRAM_FAILURE)
    XETILE_STATUS(CL_INVALID_VALUE)
    XETILE_STATUS(CL_INVALID_PLATFORM)
    XETILE_STATUS(CL_INVALID_DEVICE)
    XETILE_STATUS(CL_INVALID_CONTEXT)
    XETILE_STATUS(CL_INVALID_COMMAND_QUEUE)
    XETILE_STATUS(CL_INVALID_BINARY)
    XETILE_STATUS(CL_INVALID_BUILD_OPTIONS)
    XETILE_STATUS(CL_INVALID_PROGRAM)
    XETILE_STATUS(CL_INVALID_PROGRAM_EXECUTABLE)
    XETILE_STATUS(CL_INVALID_KERNEL_NAME)
    XETILE_STATUS(CL_INVALID_KERNEL_DEFINITION)
    XETILE_STATUS(CL_INVALID_KERNEL)
    XETILE_STATUS(CL_INVALID_ARG_INDEX)
    XETILE_STATUS(CL_INVALID_ARG_VALUE)
    XETILE_STATUS(CL_INVALID_ARG_SIZE)
    XETILE_STATUS(CL_INVALID_KERNEL_ARGS)
    XETILE_STATUS(CL_INVALID_WORK_DIMENSION)
    XETILE_STATUS(CL_INVALID_WORK_GROUP_SIZE)
    XETILE_STATUS(CL_INVALID_WORK_ITEM_SIZE)
    XETILE_STATUS(CL_INVALID_GLOBAL_OFFSET)
    XETILE_STATUS(CL_INVALID_EVENT_WAIT_LIST)
    XETILE_STATUS(CL_INVALID_EVENT)
    XETILE_STATUS(CL_INVALID_OPERATION)
    XETILE_STATUS(CL_INVALID_BUFFER_SIZE)
    XETILE_STATUS(CL_INVALID_GLOBAL_WORK_SIZE)
    XETILE_STATUS(CL_INVALID_COMPILER_OPTIONS)
    XETILE_STATUS(CL_INVALID_LINKER_OPTIONS)
    XETILE_STATUS(CL_PLATFORM_NOT_FOUND_KHR)
#undef XETILE_STATUS
  default:
    return "OpenCL status " + std::to_string(status);
  }
  return std::string(name) + " (" + std::to_string(status) + ")";
}

void check(cl_int status, const std::string &what, const std::string &advice) {
  if (status != CL_SUCCESS)
    throw Error(what + " failed: " + statusName(status) + (advice.empty() ? "" : ". " + advice));
}

std::string deviceText(cl_device_id device, cl_device_info query) {
  size_t size = 0;
  if (clGetDeviceInfo(device, query, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return {};
  std::string text(size, '\0');
  if (clGetDeviceInfo(device, query, size, text.data(), nullptr) != CL_SUCCESS)
    return {};
  return text.c_str();
}

std::string platformText(cl_platform_id platform, cl_platform_info query) {
  size_t size = 0;
  if (clGetPlatformInfo(platform, query, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return {};
  std::string text(size, '\0');
  if (clGetPlatformInfo(platform, query, size, text.data(), nullptr) != CL_SUCCESS)
    return {};
  return text.c_str();
}

std::vector<size_t> deviceSizes(cl_device_id device, cl_device_info query) {
  size_t bytes = 0;
  if (clGetDeviceInfo(device, query, 0, nullptr, &bytes) != CL_SUCCESS)
    return {};
  std::vector<size_t> values(bytes / sizeof(size_t));
  if (values.empty() || clGetDeviceInfo(device, query, values.size() * sizeof(size_t),
                                        values.data(), nullptr) != CL_SUCCESS)
    return {};
  return values;
}

bool hasWord(const std::string &list, const std::string &name) {
  std::istringstream words(list);
  for (std::string word; words >> word;)
    if (word == name)
      return true;
  return false;
}

} // namespace xetile::runtime
