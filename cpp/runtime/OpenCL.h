// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenCL.h: the OpenCL headers with the versions this runtime uses, and checked calls.
// Input: status codes; output: nothing, or an Error that names the call and the code.
// Refused: any status other than CL_SUCCESS.
#ifndef XETILE_RUNTIME_OPENCL_H
#define XETILE_RUNTIME_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <string>
#include <vector>

namespace xetile::runtime {

/// The spelling in the OpenCL headers, e.g. "CL_INVALID_WORK_GROUP_SIZE (-54)".
std::string statusName(cl_int status);

/// Throws an Error "`what` failed: <status>. <advice>" unless `status` is CL_SUCCESS.
void check(cl_int status, const std::string &what, const std::string &advice = {});

std::string deviceText(cl_device_id device, cl_device_info query);
std::string platformText(cl_platform_id platform, cl_platform_info query);

/// Zero where the device does not know the query.
template <typename T> T deviceValue(cl_device_id device, cl_device_info query) {
  T value{};
  if (clGetDeviceInfo(device, query, sizeof value, &value, nullptr) != CL_SUCCESS)
    return T{};
  return value;
}

std::vector<size_t> deviceSizes(cl_device_id device, cl_device_info query);

/// True if `name` is a whole word of a space-separated list.
bool hasWord(const std::string &list, const std::string &name);

} // namespace xetile::runtime
#endif
