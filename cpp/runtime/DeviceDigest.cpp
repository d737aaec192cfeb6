// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeviceDigest.cpp: digests of long arrays by the threads that run kernels.
// Input: memory of the host that the device reads; output: its digest. Refused: nothing.
#include "DeviceDigest.h"

#include "Errors.h"
#include "Program.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace xetile::runtime {
namespace {

/// One thread has the digest of less as soon.
constexpr size_t least = size_t(2) << 20;
constexpr size_t stripeBytes = digestLanes * sizeof(uint64_t), partBytes = size_t(64) << 10;

/// As digestPart() of HostBytes.cpp, which has the reasons. A work-item has vectors of its own: the
/// driver makes slow code of 64-bit products of several.
std::string source() {
  std::string text = "constant ulong8 keys[] = {";
  for (size_t i = 0; i < digestKeyCount; ++i) {
    const char *before = i % digestLanes ? ", " : i ? "), (ulong8)(" : "(ulong8)(";
    text += before + std::to_string(digestKeys()[i]) + "ul";
  }
  return text + ")};" + R"(
typedef ulong8 __attribute__((aligned(8))) numbers;
typedef ulong8 __attribute__((aligned(1))) stripe;
#define ADD(n) { \
    ulong8 data = at[n], keyed = data ^ keys[n]; \
    sum += (keyed & 0xffffffff) * (keyed >> 32); \
    sum += data.s10325476; \
  }
__attribute__((reqd_work_group_size(1, 1, 1)))
kernel void digest(global const stripe *array, ulong stripes, ulong part, global numbers *out,
                   uint backwards) {
  ulong which = backwards ? get_num_groups(0) - 1 - get_group_id(0) : get_group_id(0);
  ulong begin = which * part, count = min(part, stripes - begin);
  global const stripe *at = array + begin;
  ulong8 sum = 0;
  for (; count >= 16; count -= 16, at += 16) {
    #pragma unroll
    for (int i = 0; i < 16; ++i) ADD(i)
    sum = (sum ^ sum >> 47) * 0x9e3779b97f4a7c15ul;
  }
  for (ulong i = 0; i < count; ++i) ADD(i)
  out[which] = sum;
}
)";
}

struct DigestKernel {
  std::mutex mutex;
  std::map<Device *, cl_kernel> kernels;
};

DigestKernel &shared() {
  static auto *state = new DigestKernel;
  return *state;
}

cl_kernel build(Device &device) {
  cl_int status = CL_SUCCESS;
  cl_program program = buildFromSource(device, source());
  cl_kernel kernel = clCreateKernel(program, "digest", &status);
  clReleaseProgram(program);
  check(status, "creating the kernel of digests");
  return kernel;
}

Digest digestOnDevice(Device &device, cl_command_queue queue, const void *bytes, size_t size,
                      Order next) {
  cl_ulong stripes = size / stripeBytes, part = partBytes / stripeBytes;
  size_t parts = (size + partBytes - 1) / partBytes, one = 1;
  Digest digest{std::vector<uint64_t>(parts * digestLanes), partBytes};
  std::lock_guard<std::mutex> lock(shared().mutex);
  cl_kernel &kernel = shared().kernels[&device];
  if (!kernel)
    kernel = build(device);
  auto set = [&](cl_uint argument, cl_int status) {
    check(status, "setting argument " + std::to_string(argument) + " of a digest");
  };
  set(0, clSetKernelArgSVMPointer(kernel, 0, bytes));
  set(1, clSetKernelArg(kernel, 1, sizeof stripes, &stripes));
  set(2, clSetKernelArg(kernel, 2, sizeof part, &part));
  set(3, clSetKernelArgSVMPointer(kernel, 3, digest.numbers.data()));
  cl_uint backwards = next == Order::Backwards;
  set(4, clSetKernelArg(kernel, 4, sizeof backwards, &backwards));
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &parts, &one, 0, nullptr, nullptr),
        "launching the digest of an array");
  check(clFinish(queue), "waiting for the digest of an array");
  return digest;
}

} // namespace

Digest digestBy(Device &device, cl_command_queue queue, const void *bytes, size_t size,
                Order next) {
  if (size < least || size % stripeBytes || !device.info().readsHostMemory())
    return digestOf(bytes, size);
  return digestOnDevice(device, queue, bytes, size, next);
}

} // namespace xetile::runtime
